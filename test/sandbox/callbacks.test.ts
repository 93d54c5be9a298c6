import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startReceiver } from './receiver.fixture.js';
import { call, create, finalItem, start, until } from './sandbox.fixture.js';

test('the callback carries the status answer once the order is final', async () => {
  const { url, received } = await startReceiver();
  const sandbox = await start();
  await create(sandbox, 'exchange', 'cb', { callback_url: `${url}/hook`, client_info: { client_id: 'c7' } });
  await until(
    () => received.length,
    (n) => n === 1,
  );
  const { body } = await call(sandbox, 'order/status', { order_id: 'cb' });
  expect(received[0]).toMatchObject({ path: '/hook', body: body.data });
  expect(received[0]?.body).toMatchObject({ status: 'completed', client_info: { client_id: 'c7' } });
  await until(
    () => sandbox.stats().callbacksAcked,
    (n) => n === 1,
  );
});

test('delivery is retried until 200 or 201, each delay twice the one before', async () => {
  const { url, received } = await startReceiver([500, 404, 204, 201]);
  const sandbox = await start({ timeScale: 0.1, settings: { callbacks: { initialRetryMs: 400 } } });
  await create(sandbox, 'exchange', 'retry', { callback_url: url });
  await until(
    () => sandbox.stats().callbacksAcked,
    (n) => n === 1,
  );
  await sleep(400);
  const gaps = received.slice(1).map(({ atMs }, n) => atMs - (received[n]?.atMs ?? 0));
  expect(received).toHaveLength(4);
  for (const [n, gap] of gaps.entries()) expect(gap).toBeGreaterThanOrEqual(40 * 2 ** n - 5);
});

test('after 20 retries the service gives up', async () => {
  const { url, received } = await startReceiver(Array.from({ length: 30 }, () => 500));
  const sandbox = await start({ settings: { callbacks: { initialRetryMs: 0 } } });
  await create(sandbox, 'exchange', 'never', { callback_url: url });
  await until(
    () => received.length,
    (n) => n === 21,
  );
  await sleep(100);
  expect(sandbox.stats()).toMatchObject({ callbacksSent: 21, callbacksAcked: 0 });
});

test('callbacks can be dropped, lost, copied, reordered or switched off', async () => {
  const { url, received } = await startReceiver();
  const sandbox = await start();
  const ended = async (id: string, words: string) => {
    received.length = 0;
    await create(sandbox, 'exchange', id, { callback_url: url, description: `[sandbox ${words}]` });
    await finalItem(sandbox, id);
    await sleep(80);
    return received.map(({ body }) => body.status);
  };
  expect(await ended('drop', 'callback=drop')).toEqual([]);
  expect(await ended('copies', 'callback_copies=3')).toEqual(['completed', 'completed', 'completed']);
  sandbox.set({ callbacks: { reorder: true } });
  expect(await ended('reorder', 'after_ms=10')).toEqual(['completed', 'processing']);
  sandbox.set({ callbacks: { reorder: false, lostRate: 1 } });
  expect(await ended('lost', 'after_ms=10')).toEqual([]);
  sandbox.set({ callbacks: { lostRate: 0, enabled: false } });
  expect(await ended('off', 'after_ms=10')).toEqual([]);
});

test('a slow answer lets the callback come first', async () => {
  const { url, received } = await startReceiver();
  const sandbox = await start();
  const description = '[sandbox create=slow slow_ms=300 after_ms=10]';
  await create(sandbox, 'exchange', 'early', { callback_url: url, description });
  expect(received).toHaveLength(1);
});

test('nothing is ever sent beyond this machine', async () => {
  const sandbox = await start();
  for (const [n, url] of ['http://192.0.2.1/x', 'https://127.0.0.1/x', 'http://localhost.example/x', 'x'].entries()) {
    await create(sandbox, 'exchange', `far${n}`, { callback_url: url });
    await finalItem(sandbox, `far${n}`);
  }
  expect(sandbox.stats().callbacksSent).toBe(0);
});
