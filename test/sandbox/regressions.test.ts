import { expect, test } from 'vitest';
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
