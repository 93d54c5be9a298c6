import { beforeAll, describe, expect, test } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import type { OrderType } from '../../../src/contract/order/types.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, useGatedLab } from '../../support/gated-lab.js';
import { orderInput } from '../../support/inputs.js';

/** Every create is answered with 500 and not executed: uncertain, and in truth absent. */
const NEVER_EXECUTED = 'create=500-before times=all';

const lab = useGatedLab();

const parked = (orderId: string) => async () => (await lab.state(orderId)).phase === 'parked';
const createsOf = (orderId: string) => lab.gate.about(orderId, 'create').map(({ atMs }) => atMs);

/** Times of the absence readings (list and status in one round) between two moments. */
function absenceReadings(orderId: string, fromMs: number, toMs: number): number[] {
  const within = ({ atMs }: { atMs: number }) => atMs > fromMs && atMs < toMs;
  const lists = lab.gate.about(orderId, 'list').filter(within);
  const statuses = lab.gate.about(orderId, 'status').filter(within);
  return statuses.map(({ atMs }) => {
    const listedAtMs = lists.findLast((list) => list.atMs <= atMs)?.atMs ?? 0;
    expect(atMs - listedAtMs).toBeLessThan(SECOND_MS);
    return atMs;
  });
}

interface Case {
  type: OrderType;
  windowMs: number;
  creates: number;
  resend?: 'never';
}

describe.each<Case>([
  { type: 'withdraw', windowMs: 10 * MINUTE_MS, creates: 2 },
  { type: 'exchange', windowMs: 10 * MINUTE_MS, creates: 2 },
  { type: 'exchange_withdraw', windowMs: 10 * MINUTE_MS, creates: 2 },
  { type: 'deposit', windowMs: 15 * SECOND_MS, creates: 3 },
  { type: 'deposit_exchange', windowMs: 15 * SECOND_MS, creates: 3 },
  { type: 'deposit_exchange_withdraw', windowMs: 15 * SECOND_MS, creates: 3 },
  { type: 'withdraw', windowMs: 10 * MINUTE_MS, creates: 1, resend: 'never' },
])('an uncertain $type that is absent, resend $resend', ({ type, windowMs, creates, resend }) => {
  const orderId = `absent-${type}-${resend ?? 'once'}`;
  let parkedAtMs: number;

  beforeAll(async () => {
    await lab.orders.start(type, orderInput(type, orderId, { marker: NEVER_EXECUTED, ...(resend && { resend }) }));
    await lab.skipUntil(parked(orderId), windowMs / 10, 4 * windowMs + MINUTE_MS);
    parkedAtMs = Date.now();
  });

  test(`is sent ${creates} times and then parked`, async () => {
    expect(createsOf(orderId)).toHaveLength(creates);
    const { attention } = await lab.state(orderId);
    expect(attention?.allowed).toEqual(['resend', 'close-absent', 'adopt']);
    expect(lab.sandbox.stats().executedByOrderId[orderId]).toBeUndefined();
  });

  test(`is read as absent at least 3 times over ${windowMs / 1_000} s before each re-send and the park`, () => {
    const sends = createsOf(orderId);
    for (const [n, sentAtMs] of sends.entries()) {
      const readings = absenceReadings(orderId, sentAtMs, sends[n + 1] ?? parkedAtMs);
      expect(readings.length).toBeGreaterThanOrEqual(3);
      const spanMs = (readings.at(-1) ?? 0) - (readings[0] ?? 0);
      expect(spanMs).toBeGreaterThanOrEqual(windowMs - SECOND_MS / 10);
      expect(spanMs).toBeLessThan(windowMs + 10 * SECOND_MS);
    }
  });
});

describe('a parked order', () => {
  const decide = async (handle: OrderHandle, action: 'resend' | 'close-absent') => {
    const { revision } = await handle.state();
    return handle.decide({ action, by: 'operator', reason: 'asked the service', revision });
  };

  test('waits 30 days without a request or an event, and then takes a decision to send again', async () => {
    const orderId = 'parked-resend';
    // The third create passes.
    const marker = 'create=500-before times=2';
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker }));
    await lab.skipUntil(parked(orderId), 2 * MINUTE_MS, HOUR_MS);
    const requests = lab.gate.about(orderId).length;
    const { events } = await lab.history(orderId);

    await lab.skip(30 * DAY_MS);
    expect(await lab.state(orderId)).toMatchObject({ phase: 'parked' });
    expect(lab.gate.about(orderId)).toHaveLength(requests);
    expect((await lab.history(orderId)).events).toBe(events);

    await decide(handle, 'resend');
    const result = await lab.result(handle, HOUR_MS);
    expect(result).toMatchObject({ outcome: 'completed', decisions: [{ action: 'resend', by: 'operator' }] });
    expect(createsOf(orderId)).toHaveLength(3);
    expect(lab.sandbox.stats().executedByOrderId[orderId]).toBe(1);
  });

  test('is closed as absent only after absence was proven once more over the whole window', async () => {
    const orderId = 'absent-withdraw-never';
    const handle = lab.orders.order(orderId);
    const decidedAtMs = Date.now();
    await decide(handle, 'close-absent');
    await expect(lab.result(handle, HOUR_MS)).rejects.toMatchObject({ type: 'OrderAbsent' });
    const readings = absenceReadings(orderId, decidedAtMs, Number.POSITIVE_INFINITY);
    expect(readings.length).toBeGreaterThanOrEqual(3);
    expect((readings.at(-1) ?? 0) - decidedAtMs).toBeGreaterThanOrEqual(10 * MINUTE_MS);
    expect(createsOf(orderId)).toHaveLength(1);
  });
});

test('an order that appears within the window is adopted and not sent again', async () => {
  const orderId = 'appears-late';
  const marker = 'create=500-after';
  const startedAtMs = Date.now();
  // Executed at once, but shown by neither list nor status for 4 minutes.
  lab.gate.rule = ({ path, orderId: asked, atMs }) => {
    if (asked !== orderId || atMs > startedAtMs + 4 * MINUTE_MS) return undefined;
    if (path.endsWith('/order/list')) return { status: 200, body: '{"status":"success","data":[]}' };
    return path.endsWith('/order/status') ? { status: 400 } : undefined;
  };
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker }));
  expect(await lab.result(handle, HOUR_MS)).toMatchObject({ outcome: 'completed', adopted: true });
  const [sentAtMs = 0, ...resends] = createsOf(orderId);
  expect(resends).toEqual([]);
  expect(absenceReadings(orderId, sentAtMs, startedAtMs + 4 * MINUTE_MS).length).toBeGreaterThanOrEqual(3);
});

test('every history replays', async () => {
  expect(await lab.replayAll()).toBe(9);
});
