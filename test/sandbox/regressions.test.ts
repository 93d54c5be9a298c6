import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startReceiver } from './receiver.fixture.js';
import { call, create, finalItem, type Item, start, until } from './sandbox.fixture.js';

const marked = (words: string) => ({ description: `[sandbox ${words}]` });

test.each([
  ['completed', 'processing', null],
  ['completed', 'error', 1001],
  ['error', 'completed', 0],
  ['canceled', 'completed_partially', 0],
] as const)(
  'an order that was %s is %s afterwards, in status and list; no money moves',
  async (outcome, then, code) => {
    const sandbox = await start();
    await create(sandbox, 'exchange', 'r', marked(`outcome=${outcome} then=${then} then_ms=400`));
    const before = await finalItem(sandbox, 'r');
    expect(before.status).toBe(outcome);
    // Booked in between: a second booking of the first order would undo it.
    await create(sandbox, 'exchange', 'between');
    await finalItem(sandbox, 'between');
    const ledger = sandbox.ledger();
    const status = async () => (await call(sandbox, 'order/status', { order_id: 'r' })).body.data;
    const after = await until(status, (order) => order.status !== outcome);
    expect(after.status).toBe(then);
    expect(after.finalized_at === null).toBe(then === 'processing');
    if (code !== null) expect(after.error_code).toBe(code);
    const [item] = (await call<Item[]>(sandbox, 'order/list', { order_ids: ['r'] })).body.data;
    expect(item).toMatchObject({ status: then, amount_to: before.amount_to, balance_changes: before.balance_changes });
    expect(sandbox.ledger()).toEqual(ledger);
  },
);

test('a final order turns when it is told to; one that is not final does not', async () => {
  const sandbox = await start();
  await create(sandbox, 'exchange', 'told', marked('outcome=completed_partially'));
  const { order_uuid } = await finalItem(sandbox, 'told');
  expect(sandbox.turnOrder(order_uuid, 'completed').order.status).toBe('completed');
  const { data } = (await call(sandbox, 'order/status', { order_id: 'told' })).body;
  expect(data.status).toBe('completed');
  await create(sandbox, 'exchange', 'open', marked('after_ms=60000'));
  const open = sandbox.orders().find(({ order }) => order.user_order_id === 'open');
  expect(() => sandbox.turnOrder(open?.order.order_uuid ?? '', 'error')).toThrow('not final');
  expect(() => sandbox.turnOrder('none', 'error')).toThrow('no such order');
});

test('a second final status is called back like the first, a fall back to processing is not', async () => {
  const { url, received } = await startReceiver();
  const sandbox = await start();
  await create(sandbox, 'exchange', 'back', { callback_url: url, ...marked('then=processing then_ms=1') });
  await create(sandbox, 'exchange', 'other', { callback_url: url, ...marked('then=error then_ms=30') });
  await until(
    () => received.length,
    (n) => n === 3,
  );
  const statuses = received.map(({ body }) => `${body.user_order_id} ${body.status}`).sort();
  expect(statuses).toEqual(['back completed', 'other completed', 'other error']);
});

test('regressions by rate change that share of orders, the same ones in every run of a seed', async () => {
  const ids = Array.from({ length: 40 }, (_, n) => `o${n}`);
  const changed = async () => {
    const settings = { regressions: { processing: 0.3, error: 0.2 }, durationsMs: { regress: 0 } };
    const sandbox = await start({ seed: 'regress', settings });
    await Promise.all(ids.map((id) => create(sandbox, 'exchange', id)));
    await until(
      () => sandbox.orders(),
      (all) => all.every(({ balance_changes }) => balance_changes.length > 0),
    );
    // Whatever was due before a later order is final has happened by then.
    await create(sandbox, 'exchange', 'later', marked('then=completed'));
    await finalItem(sandbox, 'later');
    const statuses = sandbox.orders().map(({ order }) => `${order.user_order_id} ${order.status}`);
    return statuses.filter((line) => !line.endsWith(' completed')).sort();
  };
  const [first, again] = [await changed(), await changed()];
  expect(again).toEqual(first);
  expect(first.length).toBeGreaterThan(10);
  expect(first.length).toBeLessThan(30);
  expect(new Set(first.map((line) => line.split(' ')[1]))).toEqual(new Set(['processing', 'error']));
});

test('an order that fell back stays so over a restart and is not executed again', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'sandbox-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const before = await start({ dataDir });
  await create(before, 'withdraw', 'w', marked('then=processing then_ms=1'));
  await until(
    () => before.orders()[0],
    (item) => item?.order.status === 'processing' && item.balance_changes.length > 0,
  );
  const ledger = before.ledger();
  await before.close();
  const after = await start({ dataDir });
  expect(after.ledger()).toEqual(ledger);
  // Everything due is done before a new order is final.
  await create(after, 'exchange', 'next');
  await finalItem(after, 'next');
  expect(after.ledger().uah).toBe(ledger.uah);
  expect(after.orders()[0]?.order.status).toBe('processing');
});
