import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import type { CreateRequests } from '../../../src/contract/order/request.js';
import type { OrderType } from '../../../src/contract/order/types.js';
import { HOUR_MS, MINUTE_MS, SECOND_MS, useGatedLab } from '../../support/gated-lab.js';
import { orderInput } from '../../support/inputs.js';
import { listOf, operationOf } from '../../support/service-gate.js';

/* Absence that nothing verifies, with the default windows. The ledger of the service says how often an order was executed. */

// Nobody else creates orders, but for the tests themselves.
const lab = useGatedLab({}, { quiet: true });

const executed = (orderId: string) => lab.sandbox.stats().executedByOrderId[orderId] ?? 0;
const creates = (orderId: string) => lab.gate.about(orderId, 'create').length;
const phase = async (orderId: string) => (await lab.state(orderId)).phase;
const reason = async (orderId: string) => (await lab.state(orderId)).attention?.reason;

const start = (orderId: string, marker = '', type: OrderType = 'withdraw') =>
  lab.orders.start(type, orderInput(type, orderId, { marker }));

/** An order that the service accepts, and that ends. */
async function accept(orderId: string): Promise<void> {
  const handle = await start(orderId);
  await lab.result(handle, HOUR_MS);
}

/** From now on look-ups show only what the service has now: a replica that stands still. */
function freeze(): void {
  const known = new Set(lab.sandbox.orders().map(({ order }) => order.order_uuid));
  lab.gate.rule = ({ path, orderId, body }) => {
    const operation = operationOf(path);
    const shown = lab.sandbox.orders().filter(({ order }) => known.has(order.order_uuid));
    if (operation === 'list') return listOf(body, shown);
    const isKnown = shown.some(({ order }) => order.user_order_id === orderId || body.includes(order.order_uuid));
    return operation === 'status' && !isKnown ? { status: 400, body: '{}' } : undefined;
  };
}

const thaw = (): void => {
  lab.gate.rule = () => undefined;
};

const untilParked = (orderId: string, withinMs = HOUR_MS) =>
  lab.skipUntil(async () => (await phase(orderId)) === 'parked', MINUTE_MS, withinMs);

describe('an executed create that was answered with 500, while look-ups stand still for longer than the window', () => {
  test.each(['withdraw', 'exchange'] as const)(
    'is not sent again, and ends by itself once they go on: %s',
    async (type) => {
      const orderId = `Frozen-${type}.1`;
      await accept(`Before-${type}.1-long-enough`);
      freeze();
      const handle = await start(orderId, 'create=500-after', type);
      await lab.skip(MINUTE_MS);
      // Accepted since, and not shown.
      await start(`Since-${type}.1-long-enough`);
      await untilParked(orderId);
      expect(await reason(orderId)).toContain('shows no order that it accepted later');
      await lab.skip(30 * MINUTE_MS);
      expect([creates(orderId), executed(orderId)]).toEqual([1, 1]);
      thaw();
      expect(await lab.result(handle, HOUR_MS)).toMatchObject({ outcome: 'completed', adopted: true });
      expect([creates(orderId), executed(orderId)]).toEqual([1, 1]);
    },
  );

  test('is not sent again where nobody else creates orders: a person is asked', async () => {
    const orderId = 'Frozen-alone.1';
    freeze();
    const handle = await start(orderId, 'create=500-after');
    await untilParked(orderId);
    expect(await reason(orderId)).toContain('no order that it accepted later');
    expect((await lab.state(orderId)).attention?.allowed).toEqual(['resend', 'close-absent', 'adopt']);
    thaw();
    await lab.callback(orderId);
    expect(await lab.result(handle, HOUR_MS)).toMatchObject({ outcome: 'completed', adopted: true });
    expect([creates(orderId), executed(orderId)]).toEqual([1, 1]);
  });

  test('is not sent again after its own callback, which a person is told', async () => {
    const orderId = 'Frozen-called.1';
    freeze();
    await start(orderId, 'create=500-after');
    await lab.skip(7 * SECOND_MS);
    await lab.callback(orderId);
    await untilParked(orderId);
    expect(await reason(orderId)).toContain('a callback came for it');
    const { revision } = await lab.state(orderId);
    await lab.orders.order(orderId).decide({ action: 'close-absent', by: 'ann', reason: 'seems absent', revision });
    const end = lab.result(lab.orders.order(orderId), HOUR_MS);
    await expect(end).rejects.toMatchObject({ name: 'UnresolvedError', closed: true });
    expect([creates(orderId), executed(orderId)]).toEqual([1, 1]);
    thaw();
  });
});

/** Look-ups by this id show nothing. */
const hide = (orderId: string): void => {
  lab.gate.rule = ({ path, orderId: asked, body }) => {
    const operation = operationOf(path);
    const others = lab.sandbox.orders().filter(({ order }) => order.user_order_id !== orderId);
    if (operation === 'list') return listOf(body, others);
    return operation === 'status' && asked === orderId ? { status: 400, body: '{}' } : undefined;
  };
};

describe('a service that keeps ids in another form', () => {
  test.each([
    ['in lower case', 'Mixed-Case', 'other-in-lower-case'],
    ['cut', 'an-id-that-is-longer-than-all-of-those-that-were-accepted-later', 'short-id'],
    ['without its points', 'pay.roll-1', 'payroll-without-a-point'],
  ])('%s: an executed create is not sent again, whatever else is shown', async (_, orderId, other) => {
    hide(orderId);
    await start(orderId, 'create=500-after');
    await lab.skip(MINUTE_MS);
    await start(other);
    await untilParked(orderId);
    expect(await reason(orderId)).toContain('no order that it accepted later');
    await lab.skip(30 * MINUTE_MS);
    expect([creates(orderId), executed(orderId)]).toEqual([1, 1]);
    thaw();
    await lab.callback(orderId);
    expect(await lab.result(lab.orders.order(orderId), HOUR_MS)).toMatchObject({ outcome: 'completed' });
  });
});

describe('a service that keeps numbers as floating-point numbers', () => {
  const named = async (body: string) => {
    const { callback_url: _, ...request } = { ...JSON.parse(body), amount: String(JSON.parse(body).amount) };
    const order = await (await serviceOf(lab.sandbox)).createOrder('withdraw', request);
    const data = { ...order, user_order_id: String(Number(order.user_order_id)) };
    return { status: 200, body: JSON.stringify({ status: 'success', data }) };
  };

  test.each([
    ['names our order under another number', '20261128001905123', '20261128001955200', false],
    ['answers 500', '20261128001905127', '20261128001955300', true],
  ])('and %s: an executed create is not sent again, nor ends as absent', async (_, orderId, keptId, isUnclear) => {
    expect([String(Number(orderId)) === orderId, String(Number(keptId)) === keptId]).toEqual([false, true]);
    hide(orderId);
    const hiding = lab.gate.rule;
    lab.gate.rule = (request) =>
      operationOf(request.path) === 'create' && request.orderId === orderId && !isUnclear
        ? named(request.body)
        : hiding(request);
    const handle = await start(orderId, isUnclear ? 'create=500-after' : '');
    await lab.skip(5 * MINUTE_MS);
    await start(keptId);
    await untilParked(orderId);
    await lab.skip(15 * MINUTE_MS);
    expect([creates(orderId), executed(orderId)]).toEqual([1, 1]);
    const { revision } = await lab.state(orderId);
    await handle.decide({ action: 'close-absent', by: 'ann', reason: 'seems absent', revision });
    await expect(lab.result(handle, HOUR_MS)).rejects.toMatchObject({ name: 'UnresolvedError' });
    thaw();
  });
});

test.each(['withdraw', 'deposit'] as const)(
  'a 400 after the create was executed, with a list that is 8 s behind: told as rejected, and corrected: %s',
  async (type) => {
    const orderId = `refused-executed-${type}`;
    const startedAtMs = Date.now();
    lab.gate.rule = ({ path, orderId: asked, atMs }) => {
      if (asked !== orderId || atMs > startedAtMs + 8 * SECOND_MS) return undefined;
      if (operationOf(path) === 'list') return { status: 200, body: '{"status":"success","data":[]}' };
      return operationOf(path) === 'status' ? { status: 400, body: '{}' } : undefined;
    };
    const handle = await start(orderId, 'create=400-after', type);
    expect(await lab.result(handle, HOUR_MS)).toMatchObject({ outcome: 'completed', adopted: true });
    expect(executed(orderId)).toBe(1);
    thaw();
  },
);

test('a refusal that was told is withdrawn while a person is asked, though a callback came in its last reading', async () => {
  const orderId = 'Refused-called.1';
  const { order } = orderInput('withdraw', orderId, { marker: 'create=400-after duplicate=c' });
  hide(orderId);
  const hiding = lab.gate.rule;
  const handle = await lab.orders.start('withdraw', { order });
  let told: unknown;
  void handle.created().catch((error: unknown) => {
    told = error;
  });
  await lab.skipUntil(() => told !== undefined, SECOND_MS, MINUTE_MS);
  expect(told).toMatchObject({ type: 'OrderRejected' });
  // Another program of the merchant makes the order as well.
  const again = { ...order, description: '[sandbox duplicate=c]' } as CreateRequests['withdraw'];
  await (await serviceOf(lab.sandbox)).createOrder('withdraw', again);
  const [first] = lab.gate.about(orderId, 'status');
  const lastFromMs = (first?.atMs ?? 0) + 10 * MINUTE_MS;
  lab.gate.rule = async (request) => {
    if (operationOf(request.path) === 'status' && request.orderId === orderId && request.atMs >= lastFromMs) {
      await lab.callback(orderId);
      thaw();
    }
    return hiding(request);
  };
  await untilParked(orderId);
  const { attention, revision } = await lab.state(orderId);
  expect(attention).toMatchObject({ reason: expect.stringContaining('several orders'), allowed: ['adopt'] });
  // Callers wait for what the person says.
  const final = handle.final();
  expect(await Promise.race([final.catch((error: unknown) => error), sleep(2_000)])).toBeUndefined();
  const chosen = lab.sandbox.orders().find(({ order: one }) => one.user_order_id === orderId)?.order.order_uuid;
  await handle.decide({ action: 'adopt', order_uuid: chosen, by: 'ann', reason: 'the first one', revision });
  expect(await lab.result(handle, HOUR_MS)).toMatchObject({ outcome: 'completed' });
  expect(await final).toMatchObject({ order_uuid: chosen });
});

test('while the service accepts no create, re-sends wait: after 15 minutes all orders go on, and nobody was asked', async () => {
  const ids = ['one', 'two', 'three', 'four', 'five', 'six'].map((name) => `outage-${name}`);
  lab.gate.rule = ({ path }) => (operationOf(path) === 'create' ? { status: 503, body: '{}' } : undefined);
  const handles = await Promise.all(ids.map((id) => start(id)));
  const asked = new Set<string>();
  const watch = async () => {
    for (const id of ids) if ((await phase(id)) === 'parked') asked.add(id);
    return false;
  };
  await lab.skipUntil(watch, MINUTE_MS, 15 * MINUTE_MS).catch(() => undefined);
  thaw();
  // Traffic goes on.
  await start('outage-is-over-now');
  for (const handle of handles) {
    await lab.skipUntil(async () => (await watch()) || !(await handle.isOpen()), MINUTE_MS, HOUR_MS);
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  }
  expect([...asked]).toEqual([]);
  expect(ids.map(executed)).toEqual(ids.map(() => 1));
});

test('every list by ids asks for orders of all times', () => {
  const lists = lab.gate.requests.filter(({ path }) => operationOf(path) === 'list');
  expect(lists.length).toBeGreaterThan(20);
  const dates = lists.map(({ body }) => (JSON.parse(body) as { date_from?: string }).date_from);
  expect(new Set(dates)).toEqual(new Set(['2000-01-01 00:00:00']));
});
