import { createServer, type Socket } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { expect, onTestFinished, test } from 'vitest';
import { createSignalOrder, createSignalReceived } from '../../src/receiver/signals.js';
import { within } from '../workflows/within.fixture.js';
import { ADDRESS, ORDER, post, runReceiver } from './receiver.fixture.js';

function clientOf(port: number): Client {
  // Not closed: an abandoned call wakes up once more to retry, and on a closed channel that is an uncaught exception.
  return new Client({ connection: Connection.lazy({ address: `127.0.0.1:${port}` }) });
}

/** A port on which something accepts connections and never answers. */
async function silentPort(): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** A port on which nothing listens. */
async function deadPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const DOWN: [string, () => Promise<number>][] = [
  ['refuses connections', deadPort],
  ['accepts connections and never answers', silentPort],
];

test.each(DOWN)(
  'a Temporal that %s means 503 within 2 s for receipts on permanent addresses, too',
  async (_what, port) => {
    const receiver = await runReceiver(undefined, undefined, createSignalReceived(clientOf(await port())));
    const answers = await within(2_000, Promise.all([1, 2, 3].map(() => post(receiver.urlOf(ADDRESS)))));
    expect(answers?.map((answer) => answer.status)).toEqual([503, 503, 503]);
    expect(receiver.receipts).toHaveLength(3);
  },
);

test.each(DOWN)('a Temporal that %s means 503 within 2 s', async (_what, port) => {
  const receiver = await runReceiver(createSignalOrder(clientOf(await port())));
  const answers = await within(2_000, Promise.all([1, 2, 3].map(() => post(receiver.urlOf(ORDER)))));
  expect(answers?.map((answer) => answer.status)).toEqual([503, 503, 503]);
  expect(answers?.[0]?.headers.get('retry-after')).toBe('5');
  expect(receiver.signals).toHaveLength(3);
  expect(receiver.log).toMatchObject([1, 2, 3].map(() => ({ orderId: 'invoice-1', result: 'unavailable' })));
});
