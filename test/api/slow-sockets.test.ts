import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { PaymentOrders } from '../../src/client.js';
import { apiKey, runApi } from './api.fixture.js';

const SLOW_SOCKETS = 1_000;
const MAX_MS = 2_000;

const api = await runApi({} as PaymentOrders, { keys: [apiKey('genuine')] });

/** A sender that begins a request and never ends it. */
async function slowSocket(): Promise<Socket> {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(
    'POST /v1/orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n',
  );
  return socket;
}

test('1,000 slow sockets do not keep a genuine caller from an answer', async () => {
  const sockets: Socket[] = [];
  for (let n = 0; n < SLOW_SOCKETS; n += 1) sockets.push(await slowSocket());
  const times: number[] = [];
  for (let n = 0; n < 50; n += 1) {
    sockets.push(await slowSocket());
    const since = performance.now();
    expect((await api.call('GET', '/v1/orders?limit=0', undefined, 'genuine')).status).toBe(422);
    times.push(performance.now() - since);
  }
  process.stdout.write(`slowest of 50 answers: ${Math.round(Math.max(...times))} ms\n`);
  expect(Math.max(...times)).toBeLessThan(MAX_MS);
  for (const socket of sockets) socket.destroy();
});
