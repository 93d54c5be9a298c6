import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openPort } from '../../src/http-port/port.js';
import { openRaw } from '../receiver/receiver.fixture.js';

/** Time for a reader, and longest time until it is cut. */
const [WAIT_MS, CUT_MS] = [500, 4_000];
const PIECE = 'x'.repeat(1_000_000);
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n';

async function openAt(handle: RequestListener): Promise<number> {
  const { url, close } = await openPort(handle, { maxWaitMs: WAIT_MS }, { host: '127.0.0.1', port: 0 });
  onTestFinished(close);
  return Number(new URL(url).port);
}

/** Writes pieces with time between them, as a book is exported. */
const inPieces =
  (pieces: number, betweenMs: number): RequestListener =>
  async (_request, response) => {
    for (let n = 0; n < pieces; n += 1) {
      response.write(PIECE);
      await sleep(betweenMs);
    }
    response.end();
  };

const closedWithin = (closed: Promise<number>) => Promise.race([closed, sleep(CUT_MS, Number.POSITIVE_INFINITY)]);

test('an answer that takes longer than a reader may is sent whole', async () => {
  const raw = await openRaw(await openAt(inPieces(3, WAIT_MS * 2)), `${GET}\r\n`);
  await raw.closed;
  expect(raw.received().split('x')).toHaveLength(PIECE.length * 3 + 1);
});

test('a reader that stops in the middle of a long answer is cut', async () => {
  const raw = await openRaw(await openAt(inPieces(30, 10)), `${GET}\r\n`);
  raw.socket.pause();
  await sleep(WAIT_MS * 3);
  raw.socket.resume();
  expect(await closedWithin(raw.closed)).toBeLessThan(CUT_MS);
  expect(raw.received().length).toBeLessThan(PIECE.length * 30);
});

test.each(['1.0', '1.1'])(
  'HTTP/%s: a sender that never ends its request is cut after a long answer',
  async (version) => {
    const head = GET.replace('1.1', version);
    const raw = await openRaw(await openAt(inPieces(2, 50)), `${head}Content-Length: 9\r\n\r\n`);
    raw.socket.allowHalfOpen = true;
    // A write shows a sender that the other side is gone.
    const drip = setInterval(() => raw.socket.write(' '), 100);
    onTestFinished(() => clearInterval(drip));
    expect(await closedWithin(raw.closed)).toBeLessThan(CUT_MS);
  },
);
