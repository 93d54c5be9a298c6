import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { type GatedLab, MINUTE_MS, openGatedLab, SECOND_MS } from '../../support/gated-lab.js';
import { orderInput } from '../../support/inputs.js';
import { listOf, operationOf } from '../../support/service-gate.js';

/* Payouts that were executed and are not shown, beside orders that are shown and prove nothing. Default windows. */

/** The worker's clock is so far ahead of Temporal's in one test. */
let aheadMs = 0;
let lab: GatedLab;
beforeEach(async () => {
  aheadMs = 0;
  // Nobody else creates orders.
  lab = await openGatedLab({}, { nowMs: () => Date.now() + aheadMs, quiet: true });
  lab.sandbox.set({ duplicateMode: 'c' });
});
afterEach(() => lab.close());

const executed = (orderId: string) => lab.sandbox.stats().executedByOrderId[orderId] ?? 0;
const creates = (orderId: string) => lab.gate.about(orderId, 'create').length;

async function start(orderId: string, marker = ''): Promise<OrderHandle> {
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker }));
  await vi.waitUntil(() => creates(orderId) > 0, 20_000);
  await sleep(300);
  return handle;
}

/** Look-ups show only these orders. */
function show(isShown: (orderId: string, orderUuid: string) => boolean): void {
  lab.gate.rule = ({ path, orderId, body }) => {
    const operation = operationOf(path);
    const orders = lab.sandbox.orders().filter(({ order }) => isShown(order.user_order_id, order.order_uuid));
    if (operation === 'list') return listOf(body, orders);
    const isKnown = orders.some(({ order }) => order.user_order_id === orderId || body.includes(order.order_uuid));
    return operation === 'status' && !isKnown ? { status: 400, body: '{}' } : undefined;
  };
}

const known = () => new Set(lab.sandbox.orders().map(({ order }) => order.order_uuid));

function freeze(): void {
  const shown = known();
  show((_, uuid) => shown.has(uuid));
}

async function skipMinutes(minutes: number): Promise<void> {
  for (let passed = 0; passed < minutes; passed += 1) await lab.skip(MINUTE_MS);
}

const sentOnce = (orderId: string) => expect([creates(orderId), executed(orderId)]).toEqual([1, 1]);

describe('not sent a second time', () => {
  test('a deposit in an empty list, by a worker that knows no order: a person is asked, or a later order shows it', async () => {
    const orderId = 'Empty-list.1';
    show(() => false);
    const input = orderInput('deposit', orderId, { marker: 'create=500-after' });
    const handle = await lab.orders.start('deposit', input);
    await vi.waitUntil(() => creates(orderId) > 0, 20_000);
    await lab.skipUntil(async () => (await lab.state(orderId)).phase === 'parked', MINUTE_MS, 20 * MINUTE_MS);
    expect((await lab.state(orderId)).attention?.reason).toContain('shows no order that it accepted later');
    await skipMinutes(20);
    sentOnce(orderId);
    show(() => true);
    await start('Accepted-later-x.1');
    await lab.skipUntil(async () => (await handle.state()).order !== undefined, MINUTE_MS, 60 * MINUTE_MS);
    sentOnce(orderId);
  });

  test('beside an order that was accepted seconds after the create, in a view that stands still since', async () => {
    const orderId = 'Frozen-X.1';
    await start('Before-x.1-long-enough');
    await start(orderId, 'create=503-later later_ms=6000');
    await lab.skip(2 * SECOND_MS);
    await start('Between-x.1-long-enough');
    expect(executed(orderId)).toBe(0);
    freeze();
    await vi.waitUntil(() => executed(orderId) === 1, 20_000);
    await skipMinutes(14);
    sentOnce(orderId);
  });

  test("beside an order that was accepted before the create, by a worker's clock that is ahead", async () => {
    aheadMs = 5 * SECOND_MS;
    await start('Before-x.1-long-enough');
    freeze();
    await start('Skewed-X.1', 'create=500-after');
    await skipMinutes(14);
    sentOnce('Skewed-X.1');
  });

  test('beside an order whose id may be a form of its own', async () => {
    const id = (end: number) => `payroll-2026-11-26-department-sales-${end}`;
    await start('Before-payroll-2026-11-26-department-sales');
    await lab.skip(2 * SECOND_MS);
    await start(id(1));
    await lab.skip(11 * MINUTE_MS);
    const before = known();
    const orderId = id(10);
    show((shown, uuid) => shown !== orderId && !before.has(uuid));
    await start(orderId, 'create=500-after');
    for (let n = 0; n < 8; n += 1) {
      await start(id(30 + n));
      await lab.skip(100 * SECOND_MS);
    }
    sentOnce(orderId);
  });

  test.each(['20261126123456789012', '2026.10', '1e5', '100200300'])(
    'under an id that is a number (%s), beside orders with words as ids',
    async (orderId) => {
      show((shown) => shown !== orderId);
      await start(orderId, 'create=500-after');
      await lab.skip(5 * MINUTE_MS);
      await start('payout.words-0-long-enough-for-it');
      await skipMinutes(12);
      sentOnce(orderId);
    },
  );

  test('after a callback that comes while a permitted re-send is under way', async () => {
    const orderId = 'Frozen-permitted-1';
    show((shown) => shown !== orderId);
    await start(orderId, 'create=500-after');
    await lab.skipUntil(async () => (await lab.state(orderId)).phase === 'parked', MINUTE_MS, 60 * MINUTE_MS);
    const { revision } = await lab.state(orderId);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isHeld = false;
    const { rule } = lab.gate;
    lab.gate.rule = async (request) => {
      if (operationOf(request.path) === 'list' && request.orderId === orderId) {
        isHeld = true;
        await held;
      }
      return rule(request);
    };
    await lab.orders.order(orderId).decide({ action: 'resend', by: 'ann', reason: 'nothing there', revision });
    await vi.waitUntil(() => isHeld, 20_000);
    await lab.callback(orderId);
    await sleep(1_000);
    release();
    await sleep(3_000);
    sentOnce(orderId);
  });
});

test('a later order that was accepted well after the create lets an absent one be sent again', async () => {
  await start('Absent-X.1', 'create=500-before');
  await lab.skip(5 * MINUTE_MS);
  await start('Later-x.1-long-enough');
  await skipMinutes(7);
  expect([creates('Absent-X.1'), executed('Absent-X.1')]).toEqual([2, 1]);
});
