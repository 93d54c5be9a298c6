import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startProgress } from '../../src/starter/progress.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

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

it('on a terminal there is a spinner with the newest line', async () => {
  const { stream, lines } = recorder();
  const cursor = { cursorTo: () => true, clearLine: () => true, moveCursor: () => true };
  const progress = startProgress(Object.assign(stream, { isTTY: true, ...cursor }));
  progress.show('creating');
  progress.show('following');
  await vi.advanceTimersByTimeAsync(1_000);
  progress.stop();
  expect(lines.join('')).toContain('following');
});
