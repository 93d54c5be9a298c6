import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { PaymentOrders } from '../../src/client.js';
import type { BookLine } from '../../src/contract/books/book.js';
import { runApi } from './api.fixture.js';

/** Reads that were begun and have not ended; each ends by its call. */
const reads: (() => void)[] = [];
const read = <T>(answer: T) => new Promise<T>((resolve) => reads.push(() => resolve(answer)));
const endReads = () => {
  for (const end of reads.splice(0)) end();
};

async function* book(): AsyncGenerator<BookLine, void> {
  for (let line = 0; line < 3; line += 1) yield await read({ kind: 'missing', account: 'default', reason: 'none' });
}
const orders = { rates: () => read({}), export: book } as unknown as PaymentOrders;
const api = await runApi(orders);

/** Asks, and hangs up once the read has begun. */
async function hangUp(path: string, begun: number): Promise<void> {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  socket.on('error', () => undefined).write(`GET ${path} HTTP/1.1\r\nhost: ${new URL(api.url).host}\r\n\r\n`);
  await vi.waitFor(() => expect(reads).toHaveLength(begun));
  socket.resetAndDestroy();
  await vi.waitFor(() => expect(api.connections().open).toBe(0));
}

test.each(['/v1/rates', '/v1/books'])(
  'a caller that hangs up keeps its place until its read has ended: %s',
  async (path) => {
    await hangUp(path, 1);
    await hangUp(path, 2);
    const refused = await Promise.race([api.call('GET', path), sleep(2_000)]);
    expect(refused?.status).toBe(429);
    expect(reads).toHaveLength(2);
    endReads();
    const next = vi.waitFor(async () => {
      const answer = await api.call('GET', path);
      expect(answer.status).toBe(200);
    });
    await vi.waitFor(() => expect(reads).toHaveLength(1));
    const ends = setInterval(endReads, 20);
    await next.finally(() => clearInterval(ends));
  },
);
