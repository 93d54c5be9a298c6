import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { FAULTS } from '../../sandbox/faults.js';
import { MARKER_KEYS } from '../../sandbox/markers.js';
import { DEFAULT_SETTINGS } from '../../sandbox/options.js';
import { call, create, finalItem, type Item, start, until } from './sandbox.fixture.js';

const marked = (words: string) => ({ description: `payroll [sandbox ${words}]` });

test.each([
  ['500', 500, 1],
  ['502-after', 502, 1],
  ['503-before', 503, 0],
  ['504', 504, 1],
  ['400', 400, 0],
  ['400-after', 400, 1],
  ['401', 401, 0],
  ['403', 403, 0],
  ['404', 404, 0],
  ['409', 409, 0],
  ['422', 422, 0],
  ['429', 429, 0],
  ['301', 301, 0],
  ['302', 302, 0],
  ['307', 307, 0],
  ['308', 308, 0],
])('create=%s answers %d having executed %d times; the re-send passes', async (fault, status, executed) => {
  const sandbox = await start({ settings: { duplicateMode: 'b' } });
  expect((await create(sandbox, 'withdraw', 'f', marked(`create=${fault}`))).status).toBe(status);
  expect(sandbox.stats().executedByOrderId.f ?? 0).toBe(executed);
  expect((await create(sandbox, 'withdraw', 'f', marked(`create=${fault}`))).status).toBe(200);
  expect(sandbox.stats()).toMatchObject({ executedByOrderId: { f: 1 }, createsByOrderId: { f: 2 } });
});

test('times=2 makes the first two creates fail', async () => {
  const sandbox = await start();
  const send = async () => (await create(sandbox, 'withdraw', 't', marked('create=500-before times=2'))).status;
  expect([await send(), await send(), await send()]).toEqual([500, 500, 200]);
});

test.each([
  ['reset', 1],
  ['reset-before', 0],
])('create=%s breaks the connection having executed %d times', async (fault, executed) => {
  const sandbox = await start();
  await expect(create(sandbox, 'withdraw', 'r', marked(`create=${fault}`))).rejects.toThrow('fetch failed');
  expect(sandbox.stats().executedByOrderId.r ?? 0).toBe(executed);
  expect(sandbox.requests().at(-1)).toMatchObject({ path: '/v2/order/withdraw', orderId: 'r', status: 0 });
});

test('create=no-answer executes and stays silent', async () => {
  const sandbox = await start();
  const answered = await Promise.race([
    create(sandbox, 'withdraw', 'n', marked('create=no-answer')).then(
      () => true,
      () => true,
    ),
    until(
      () => sandbox.orders(),
      (orders) => orders.length === 1,
    ).then(() => false),
  ]);
  expect(answered).toBe(false);
});

test('create=503-later executes only after later_ms', async () => {
  const sandbox = await start();
  expect((await create(sandbox, 'withdraw', 'l', marked('create=503-later later_ms=150'))).status).toBe(503);
  expect(sandbox.orders()).toEqual([]);
  expect((await finalItem(sandbox, 'l')).status).toBe('completed');
  expect(sandbox.stats().executedByOrderId).toEqual({ l: 1 });
});

test('broken 200 answers have executed', async () => {
  const sandbox = await start();
  const send = (id: string, fault: string) => create(sandbox, 'withdraw', id, marked(`create=${fault}`));
  await expect(send('truncated', 'truncated')).rejects.toThrow(SyntaxError);
  await expect(send('html', 'html')).rejects.toThrow(SyntaxError);
  expect((await send('error', 'status-error')).body).toEqual({ status: 'error' });
  expect((await send('crossed', 'crossed')).body.data.user_order_id).toBe('crossed-order');
  expect((await send('less', 'missing-field field=status')).body.data).not.toHaveProperty('status');
  expect((await send('less2', 'missing-field')).body.data).not.toHaveProperty('order_uuid');
  expect((await send('more', 'extra-fields')).body.data).toHaveProperty('risk_score');
  expect((await send('slow', 'slow slow_ms=50')).status).toBe(200);
  expect(Object.values(sandbox.stats().executedByOrderId)).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
});

test.each([
  ['429 retry_after=7', '7'],
  ['429-garbage', 'soon'],
  ['429-huge', '864000'],
])('create=%s sends Retry-After %s', async (words, expected) => {
  const sandbox = await start();
  expect((await create(sandbox, 'withdraw', 'r', marked(`create=${words}`))).headers.get('retry-after')).toBe(expected);
});

test('create=429-date sends a date that is still to come', async () => {
  const sandbox = await start();
  const { headers } = await create(sandbox, 'withdraw', 'r', marked('create=429-date'));
  expect(Date.parse(headers.get('retry-after') ?? '')).toBeGreaterThan(Date.now() - 1000);
});

test('who follows a redirect is counted', async () => {
  const sandbox = await start();
  const { headers } = await create(sandbox, 'withdraw', 'r', marked('create=307'));
  expect(sandbox.stats().redirectHits).toBe(0);
  await fetch(new URL(headers.get('location') ?? '', sandbox.url), { method: 'POST', body: '{}' });
  expect(sandbox.stats().redirectHits).toBe(1);
});

test.each([
  ['a', [400, 1]],
  ['b', [200, 1]],
  ['c', [200, 2]],
  ['d', [409, 1]],
  ['e', [500, 1]],
] as const)('duplicate mode %s answers and executes %j', async (duplicateMode, [status, executed]) => {
  const sandbox = await start({ settings: { duplicateMode } });
  const first = await create(sandbox, 'withdraw', 'd');
  const second = await create(sandbox, 'withdraw', 'd');
  expect(second.status).toBe(status);
  expect(sandbox.stats().executedByOrderId).toEqual({ d: executed });
  if (status === 200) expect(second.body.data.order_uuid === first.body.data.order_uuid).toBe(duplicateMode === 'b');
});

test.each([
  ['a', 400, { status: 'error', message: 'order not found', errors: {} }],
  ['b', 404, { status: 'error', message: 'order not found', errors: {} }],
  ['c', 200, { status: 'error' }],
  ['d', 200, { status: 'success', data: null }],
  ['e', 200, { status: 'success', data: [] }],
] as const)('unknown-order mode %s answers %d', async (unknownMode, status, body) => {
  const sandbox = await start({ settings: { unknownMode } });
  expect(await call(sandbox, 'order/status', { order_id: 'none' })).toMatchObject({ status, body });
  expect(await call(sandbox, 'order/status', { order_uuid: 'none' })).toMatchObject({ status, body });
  expect((await call(sandbox, 'order/list', { order_ids: ['none'] })).body).toEqual({ status: 'success', data: [] });
});

test('status and list fail as often as their markers say, counted from the create', async () => {
  const sandbox = await start();
  await call(sandbox, 'order/list', { order_ids: ['l'] });
  await create(sandbox, 'withdraw', 'l', marked('status=500 list=429 list_times=2'));
  const status = async () => (await call(sandbox, 'order/status', { order_id: 'l' })).status;
  const list = async () => (await call(sandbox, 'order/list', { order_ids: ['l'] })).status;
  expect([await status(), await status()]).toEqual([500, 200]);
  expect([await list(), await list(), await list()]).toEqual([429, 429, 200]);
});

test('look-ups can miss, alternate, lag, cross over and ignore the filter', async () => {
  const sandbox = await start();
  const seen = async (id: string, place = 'status') =>
    place === 'status'
      ? (await call(sandbox, 'order/status', { order_id: id })).status === 200
      : (await call<Item[]>(sandbox, 'order/list', { order_ids: [id] })).body.data.length > 0;
  await create(sandbox, 'withdraw', 'blind', marked('list=unseen'));
  expect([await seen('blind'), await seen('blind', 'list'), await seen('blind', 'list')]).toEqual([true, false, false]);
  await create(sandbox, 'withdraw', 'flip', marked('status=alternating'));
  expect([await seen('flip'), await seen('flip'), await seen('flip')]).toEqual([true, false, true]);
  await create(sandbox, 'withdraw', 'lag', marked('lag_ms=120'));
  expect([await seen('lag'), await seen('lag', 'list')]).toEqual([false, false]);
  await until(() => seen('lag'), Boolean);
  await create(sandbox, 'withdraw', 'crossed', marked('status=crossed'));
  const crossed = await call(sandbox, 'order/status', { order_id: 'crossed' });
  expect(crossed.body.data.user_order_id).toBe('crossed-order');
  await create(sandbox, 'withdraw', 'wide', marked('list=ignore-filter status=unknown-status'));
  expect((await call<Item[]>(sandbox, 'order/list', { order_ids: ['wide'] })).body.data.length).toBeGreaterThan(1);
  expect((await call(sandbox, 'order/status', { order_id: 'wide' })).body.data.status).toBe('on_hold');
});

test('faults by rate are the same for the same seed and others for another', async () => {
  const failures = async (seed: string) => {
    const sandbox = await start({ seed, settings: { faults: { 'create.500-after': 0.5 } } });
    const ids = Array.from({ length: 24 }, (_, n) => `o${n}`);
    return Promise.all(ids.map(async (id) => (await create(sandbox, 'withdraw', id)).status));
  };
  const [first, again, other] = [await failures('one'), await failures('one'), await failures('two')];
  expect(new Set(first)).toEqual(new Set([200, 500]));
  expect(again).toEqual(first);
  expect(other).not.toEqual(first);
});

test('unknown settings and faults are refused and change nothing', async () => {
  const sandbox = await start();
  for (const change of [{ faults: { 'create.nothing': 1 } }, { outcomes: { lost: 1 } }, { speed: 1 }]) {
    expect(() => sandbox.set(change as never)).toThrow(RangeError);
  }
  expect((await create(sandbox, 'withdraw', 'x')).status).toBe(200);
});

test('every fault of the catalogue has a name of its own and says what it does', () => {
  expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
  expect(FAULTS.every(({ what }) => what.length > 5)).toBe(true);
});

test('the README names every fault, marker key and setting', async () => {
  const readme = await readFile(new URL('../../sandbox/README.md', import.meta.url), 'utf8');
  const names = [...FAULTS.map(({ name }) => name), ...MARKER_KEYS, ...Object.keys(DEFAULT_SETTINGS)];
  expect(names.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
});
