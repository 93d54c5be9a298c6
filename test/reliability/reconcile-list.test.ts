import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { serviceOf } from '../../scripts/service-of.js';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { decimal, toAmount } from '../../src/contract/money.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';

/** More than a page, but less than one in any second and the next: the windows must be halved down to seconds. */
const ELSEWHERE = { batches: 3, perBatch: 380 };
const AT_ONCE = 'after_ms=20';
/** Every full page is a thousand items, and gaps are looked at twice. */
const timeout = 180_000;

let payouts: OrderHandle[];
let malformed: OrderHandle;
let removed: OrderHandle;

/** Money that comes in on an address that another program made. */
async function receiveElsewhere(): Promise<void> {
  const service = await serviceOf(lab.sandbox);
  const { uuid } = await service.createDepositAddress({ currency: 'usdt', network: 'tron' });
  for (let batch = 0; batch < ELSEWHERE.batches; batch += 1) {
    for (let n = 0; n < ELSEWHERE.perBatch; n += 1) lab.sandbox.receiveDeposit({ addressUuid: uuid, amount: '10' });
    await sleep(2_100);
  }
}

const pay = (label: string, marker = AT_ONCE) => {
  const orderId = newOrderId(label);
  return lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker }));
};

const lab = useLab();
beforeAll(async () => {
  const first = await pay('first');
  await first.result();
  removed = await pay('removed');
  await removed.result();
  const open = orderInput('deposit', newOrderId('malformed'), {
    marker: 'pay_ms=900000 list=malformed list_times=all',
  });
  [malformed, ...payouts] = await Promise.all([
    lab.orders.start('deposit', open),
    ...Array.from({ length: 5 }, () => pay('paid')),
    receiveElsewhere(),
  ]).then((started) => started.filter((handle) => handle !== undefined) as [OrderHandle, ...OrderHandle[]]);
  payouts.push(first);
  await Promise.all(payouts.map((handle) => handle.result()));
  await malformed.created();
  const underWay = () => lab.sandbox.orders().filter(({ order }) => order.finalized_at === null).length;
  await vi.waitUntil(() => underWay() === 1, { timeout: 30_000 });
  const { order } = await removed.result();
  lab.sandbox.removeOrder(order.order_uuid);
}, timeout);

describe.each([14, -12])('with a date filter %i h off, a random order and newcomers while it is read', (hours) => {
  test('everything is found, the malformed item by its place, the removed order by its amount', {
    timeout,
  }, async () => {
    lab.sandbox.set({ listOrder: 'random', newOrdersWhilePaging: 2, dateFilterShiftHours: hours });
    const there = lab.sandbox.orders().length - 2;
    const result = await lab.orders.reconcile();

    expect(result.seen).toBeGreaterThanOrEqual(there);
    expect(result.windows).toBeGreaterThan(3);
    // Currencies that nothing is paid in have no earlier run at first.
    expect(result.notes.filter((note) => !note.startsWith('no change and no earlier run'))).toEqual([]);
    expect(result.classes).toMatchObject({ equal: payouts.length, open: 1, missingAtService: 1, duplicate: 0 });
    expect(result.classes.foreign).toBe(result.seen - payouts.length);

    expect(result.malformed[0]).toMatchObject({ place: expect.stringMatching(/^window .+, item \d+ of \d+$/) });
    expect(result.disagreements.find((row) => row.class === 'missingAtService')).toMatchObject({
      order_id: removed.orderId,
    });

    const [taken] = lab.sandbox.orders().filter(({ order }) => order.user_order_id === removed.orderId);
    const [first] = taken?.balance_changes ?? [];
    const last = taken?.balance_changes.at(-1);
    const amount = toAmount(decimal(last?.amount_after ?? '').minus(decimal(first?.amount_before ?? '')));
    expect(result.gaps).toEqual([expect.objectContaining({ currency: 'usd', amount })]);
    const elsewhere = lab.sandbox.orders().flatMap(({ balance_changes: changes }) => changes);
    const changes = elsewhere.filter(({ currency }) => currency === 'usdt').length;
    expect(result.chains).toContainEqual(expect.objectContaining({ currency: 'usdt', changes, gaps: 0 }));
  });
});
