import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { apiKey, runApi } from './api.fixture.js';

/** Nobody answers creates, so every start waits. */
const UNDECIDED = 'create=no-answer times=all';

let lab: Lab;
let api: Awaited<ReturnType<typeof runApi>>;
beforeAll(async () => {
  lab = await openLab();
  api = await runApi(lab.orders, { keys: [apiKey('greedy'), apiKey('other')] });
});
afterAll(() => lab.close());

/** Starts an order, and waits for it for up to a minute. */
const start = (key: string) => {
  const { order } = orderInput('withdraw', newOrderId('waits'), { marker: UNDECIDED });
  return api.call('POST', '/v1/orders?wait=60', { order_type: 'withdraw', order }, key);
};

test('one caller has at most 100 requests under way, and others and probes are answered as ever', async () => {
  const waiting = Array.from({ length: 100 }, () => start('greedy'));
  const limited = await vi.waitFor(async () => {
    const answer = await api.call('GET', '/v1/accounts/default', undefined, 'greedy');
    expect(answer.status).toBe(429);
    return answer;
  }, 60_000);
  expect(limited.headers.get('retry-after')).toBe('1');
  const beganMs = performance.now();
  expect((await api.call('GET', '/v1/accounts/default', undefined, 'other')).status).toBe(200);
  expect((await api.call('GET', '/healthz')).status).toBe(200);
  expect(performance.now() - beganMs).toBeLessThan(5_000);

  // The port is 80 % full: waits end early, with what is known.
  const sockets = Array.from({ length: 750 }, () => connect(Number(new URL(api.url).port), '127.0.0.1'));
  for (const socket of sockets) socket.on('error', () => undefined).write('GET /healthz HTTP/1.1\r\n');
  const answers = await Promise.all(waiting);
  const statuses = answers.map(({ status }) => status);
  expect(statuses).toContain(202);
  // A create that nobody answers is looked up after half a minute.
  expect(statuses.filter((status) => status !== 202 && status !== 201)).toEqual([]);
  for (const socket of sockets) socket.destroy();
  await vi.waitFor(async () => {
    expect((await api.call('GET', '/v1/accounts/default', undefined, 'greedy')).status).toBe(200);
  }, 60_000);
});

test('of what is costly for workers, one caller has few under way, and another is answered', async () => {
  await lab.stopWorkers();
  const part = (key: string) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' };
    return fetch(`${api.url}/v1/batch-files/${'0'.repeat(64)}/1?parts=2`, { method: 'PUT', headers, body: '{}' });
  };
  const rates = (key: string) => api.call('GET', '/v1/rates', undefined, key);
  for (const [ask, atOnce] of [
    [rates, 2],
    [part, 1],
  ] as const) {
    const held = Array.from({ length: atOnce }, () => ask('greedy'));
    await sleep(500);
    expect((await ask('greedy')).status).toBe(429);
    held.push(ask('other'));
    await sleep(500);
    expect(await Promise.race([...held, 'none of them'])).toBe('none of them');
    await Promise.allSettled(held);
  }
  await lab.startWorkers();
});

test('two books are exported at once, whoever asks for them, and another is refused until one is out', async () => {
  const month = new Date().toISOString().slice(0, 7);
  const book = (key: string) => api.call('GET', `/v1/books?month=${month}`, undefined, key);
  await lab.stopWorkers();
  const first = [book('greedy'), book('greedy')];
  const refused = await vi.waitFor(async () => {
    const answer = await Promise.race([book('other'), sleep(200)]);
    if (answer?.status !== 429) throw new Error('not refused yet');
    return answer;
  }, 30_000);
  expect(refused.headers.get('retry-after')).toBe('10');
  expect((await api.call('GET', '/healthz')).status).toBe(200);
  await lab.startWorkers();
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
  await vi.waitFor(async () => expect((await book('other')).status).toBe(200), 60_000);
});
