import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startProgress, whileWaiting } from '../../src/starter/progress.js';

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

it('an answer that takes longer than 3 s is said to be waited for, and one that comes ends that', async () => {
  const { stream, lines } = recorder();
  const answerAfter = (ms: number) => new Promise<string>((resolve) => setTimeout(resolve, ms, 'answer'));
  const soon = whileWaiting(stream, 'waiting for a worker', answerAfter(2_000));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await soon).toBe('answer');
  expect(lines).toEqual([]);
  const late = whileWaiting(stream, 'waiting for a worker', answerAfter(14_000));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await late).toBe('answer');
  expect(lines).toEqual(['0 s: waiting for a worker', '10 s: waiting for a worker']);
});

it('an answer that fails late ends the waiting, too', async () => {
  const { stream, lines } = recorder();
  const failing = new Promise((_, reject) => setTimeout(reject, 5_000, new Error('no worker')));
  const waiting = expect(whileWaiting(stream, 'waiting for a worker', failing)).rejects.toThrow('no worker');
  await vi.advanceTimersByTimeAsync(60_000);
  await waiting;
  expect(lines).toEqual(['0 s: waiting for a worker']);
});
