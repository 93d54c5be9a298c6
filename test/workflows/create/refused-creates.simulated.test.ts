import { describe, expect, test } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import type { CreateRequests } from '../../../src/contract/order/request.js';
import type { OrderType } from '../../../src/contract/order/types.js';
import { HOUR_MS, MINUTE_MS, SECOND_MS, useGatedLab } from '../../support/gated-lab.js';
import { orderInput } from '../../support/inputs.js';

const lab = useGatedLab();

/** An order that another program of the merchant makes. */
async function makeOrder(request: CreateRequests['withdraw']): Promise<void> {
  await (await serviceOf(lab.sandbox)).createOrder('withdraw', request);
}

const timesOf = (orderId: string, operation: 'create' | 'status' | 'list') =>
  lab.gate.about(orderId, operation).map(({ atMs }) => atMs);

describe('a create refused with 400', () => {
  const refused = async (type: OrderType, windowMs: number) => {
    const orderId = `refused-${type}`;
    const handle = await lab.orders.start(type, orderInput(type, orderId, { marker: 'create=400 times=all' }));
    let told: unknown;
    void handle.created().catch((error: unknown) => {
      told = error;
    });
    await lab.skipUntil(() => told !== undefined, SECOND_MS, MINUTE_MS);
    expect(told).toMatchObject({ type: 'OrderRejected' });
    const toldAfter = timesOf(orderId, 'status');
    expect(await handle.isOpen()).toBe(true);
    await expect(lab.result(handle, HOUR_MS)).rejects.toMatchObject({ type: 'OrderRejected' });
    expect(timesOf(orderId, 'create')).toHaveLength(1);
    const all = timesOf(orderId, 'status');
    expect((all.at(-1) ?? 0) - (all[0] ?? 0)).toBeGreaterThanOrEqual(windowMs - SECOND_MS);
    return toldAfter;
  };

  test.for(['withdraw', 'exchange', 'exchange_withdraw'] as const)(
    '%s, which moves money at once: is told after two absence readings 5 s apart, and ends after the window',
    async (type) => {
      const [first = 0, second = 0, ...more] = await refused(type, 10 * MINUTE_MS);
      expect(second - first).toBeGreaterThanOrEqual(5 * SECOND_MS);
      expect(second - first).toBeLessThan(8 * SECOND_MS);
      expect(more).toEqual([]);
    },
  );

  test.for(['deposit', 'deposit_exchange', 'deposit_exchange_withdraw'] as const)(
    '%s, which moves nothing at create: is told after one absence reading, and ends after the window',
    async (type) => {
      expect((await refused(type, 15 * SECOND_MS)).length).toBeLessThanOrEqual(2);
    },
  );

  test('says what the service said, masked', async () => {
    const orderId = 'refused-and-told';
    lab.gate.rule = ({ path, orderId: asked }) =>
      asked === orderId && path.endsWith('/order/withdraw')
        ? { status: 400, body: '{"code":1042,"message":"card 4111 1111 1111 1111 of joan@example.com is closed"}' }
        : undefined;
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId));
    const said = 'HTTP 400: 1042: card **** of **** is closed';
    await expect(lab.result(handle, HOUR_MS)).rejects.toMatchObject({
      type: 'OrderRejected',
      message: expect.stringContaining(
        `refused the create of ${orderId} (${said}), and the service shows no such order`,
      ),
    });
  });

  test('at the re-send after an uncertain create: a person is told so beside the order that has the id', async () => {
    const orderId = 'refused-again';
    let creates = 0;
    lab.gate.rule = ({ path, orderId: asked }) => {
      if (asked !== orderId || !path.endsWith('/order/withdraw')) return undefined;
      creates += 1;
      if (creates === 1) return { status: 500 };
      // Somebody else's order comes to have the id, and the service refuses ours.
      const { order } = orderInput('withdraw', orderId);
      return makeOrder({ ...order, amount: '99' }).then(() => ({ status: 400, body: '{"message":"id is used"}' }));
    };
    await lab.orders.start('withdraw', orderInput('withdraw', orderId));
    await lab.skipUntil(async () => (await lab.state(orderId)).phase === 'parked', MINUTE_MS, 2 * HOUR_MS);
    const { attention } = await lab.state(orderId);
    expect(attention?.reason).toContain('the service refused the create that was repeated (HTTP 400: id is used)');
    expect(attention?.reason).toContain('differs in amount');
  });

  test('is not believed when the order exists: it is adopted', async () => {
    const orderId = 'refused-but-made';
    const handle = await lab.orders.start(
      'withdraw',
      orderInput('withdraw', orderId, { marker: 'create=400-after times=all' }),
    );
    expect(await lab.result(handle, MINUTE_MS)).toMatchObject({ outcome: 'completed', adopted: true });
    expect(timesOf(orderId, 'create')).toHaveLength(1);
  });
});

describe('a create answered with 429', () => {
  const RETRY_AFTER = [
    { name: 'Retry-After: 30', marker: 'create=429 retry_after=30', waitMs: 30 * SECOND_MS },
    { name: 'Retry-After of 10 days, capped', marker: 'create=429-huge', waitMs: MINUTE_MS },
    { name: 'a Retry-After that is no number', marker: 'create=429-garbage', waitMs: 5 * SECOND_MS },
  ];

  test.for(RETRY_AFTER)(
    '$name: is sent again not before that, and once absence is proven',
    async ({ marker, waitMs }) => {
      const orderId = `waits-${waitMs}`;
      const handle = await lab.orders.start(
        'withdraw',
        orderInput('withdraw', orderId, { marker: `${marker} times=2` }),
      );
      expect(await lab.result(handle, HOUR_MS)).toMatchObject({ outcome: 'completed' });
      const [first = 0, second = 0, third = 0, ...more] = timesOf(orderId, 'create');
      expect(more).toEqual([]);
      // Absence counts from then on only, over the whole window.
      for (const gap of [second - first, third - second]) {
        expect(gap).toBeGreaterThanOrEqual(waitMs + 10 * MINUTE_MS);
        // The account rests meanwhile, and look-ups come twice a minute.
        expect(gap).toBeLessThan(waitMs + 11 * MINUTE_MS + 10 * SECOND_MS);
      }
    },
  );

  test('costs no re-send: the budget is still there afterwards', async () => {
    const orderId = 'limited-then-uncertain';
    const input = orderInput('withdraw', orderId);
    let creates = 0;
    lab.gate.rule = ({ path, orderId: asked }) => {
      if (asked !== orderId || !path.endsWith('/order/withdraw')) return undefined;
      creates += 1;
      if (creates <= 3) return { status: 429, headers: { 'retry-after': '1' } };
      return creates === 4 ? { status: 502 } : undefined;
    };
    const handle = await lab.orders.start('withdraw', input);
    expect(await lab.result(handle, 2 * HOUR_MS)).toMatchObject({ outcome: 'completed' });
    expect(creates).toBe(5);
    expect(lab.sandbox.stats().executedByOrderId[orderId]).toBe(1);
  });

  test('20 times: is parked, and takes a decision to go on', async () => {
    const orderId = 'limited-for-long';
    const handle = await lab.orders.start(
      'withdraw',
      orderInput('withdraw', orderId, { marker: 'create=429 times=20 retry_after=2' }),
    );
    await lab.skipUntil(async () => (await lab.state(orderId)).phase === 'parked', MINUTE_MS, 5 * HOUR_MS);
    expect(timesOf(orderId, 'create')).toHaveLength(20);
    const { attention, revision } = await lab.state(orderId);
    expect(attention).toMatchObject({ allowed: ['resend', 'close-absent', 'adopt'] });
    await handle.decide({ action: 'resend', by: 'operator', reason: 'the limit was raised', revision });
    expect(await lab.result(handle, HOUR_MS)).toMatchObject({ outcome: 'completed' });
    expect(timesOf(orderId, 'create')).toHaveLength(21);
    expect(lab.sandbox.stats().executedByOrderId[orderId]).toBe(1);
  });
});

test('every history replays', async () => {
  expect(await lab.replayAll()).toBe(14);
});
