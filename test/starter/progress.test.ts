import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startProgress, whileShowing } from '../../src/starter/progress.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const TERMINAL = { isTTY: true, cursorTo: () => true, clearLine: () => true, moveCursor: () => true };

function recorder(): { stream: Writable; lines: string[] } {
  const lines: string[] = [];
  const stream = new Writable({ write: (chunk, _encoding, done) => done(void lines.push(String(chunk).trim())) });
  return { stream, lines };
}

it('off a terminal there is a line per change, and at least one every 10 s', async () => {
  const { stream, lines } = recorder();
  const progress = startProgress(stream);
  progress.show('creating');
  progress.show('creating');
  await vi.advanceTimersByTimeAsync(4_000);
  progress.show('following');
  await vi.advanceTimersByTimeAsync(21_000);
  progress.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(lines).toEqual(['0 s: creating', '4 s: following', '14 s: following', '24 s: following']);
});

it('off a terminal, lines with one key are shown now and then, the latest each time', async () => {
  const { stream, lines } = recorder();
  const progress = startProgress(stream);
  for (let rows = 0; rows < 25; rows += 1) {
    progress.show(`${rows} rows`, 'sending');
    await vi.advanceTimersByTimeAsync(1_000);
  }
  progress.show('25 rows', 'following');
  progress.stop();
  expect(lines).toEqual(['0 s: 0 rows', '10 s: 9 rows', '20 s: 19 rows', '25 s: 25 rows']);
});

it('on a terminal there is a spinner with the newest line', async () => {
  const { stream, lines } = recorder();
  const progress = startProgress(Object.assign(stream, TERMINAL));
  progress.show('creating', 'key');
  progress.show('following', 'key');
  await vi.advanceTimersByTimeAsync(1_000);
  progress.stop();
  expect(lines.join('')).toContain('following');
});

it('a step that fails ends its progress, too', async () => {
  const { stream, lines } = recorder();
  const failing = () => new Promise((_, reject) => setTimeout(reject, 5_000, new Error('no worker')));
  const waiting = expect(whileShowing(stream, 'waiting for a worker', failing)).rejects.toThrow('no worker');
  await vi.advanceTimersByTimeAsync(60_000);
  await waiting;
  expect(lines).toEqual(['0 s: waiting for a worker']);
});
