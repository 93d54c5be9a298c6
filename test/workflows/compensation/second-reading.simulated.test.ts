import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GatedLab, HOUR_MS, MINUTE_MS, openGatedLab, SECOND_MS } from '../../support/gated-lab.js';
import { orderInput } from '../../support/inputs.js';
import { listAnswer } from '../../support/service-gate.js';

let lab: GatedLab;
beforeAll(async () => {
  lab = await openGatedLab();
});
afterAll(() => lab?.close());

/** A payout of which 40 % stay unpaid, to be finished by a follow-up. */
const partial = (orderId: string) =>
  orderInput('withdraw', orderId, { marker: 'outcome=completed_partially fraction=0.4', compensation: 'finish' });

describe('a payout that is finished by a follow-up', () => {
  test('is read twice, ORDER_CONFIRM_DELAY (10 min) apart, before the follow-up is sent', async () => {
    const orderId = 'finished';
    const handle = await lab.orders.start('withdraw', partial(orderId));
    const result = await lab.result(handle, HOUR_MS);
    expect(result).toMatchObject({
      outcome: 'completed_partially',
      compensation: { policy: 'finish', status: 'done', order_id: `${orderId}.r1`, outcome: 'completed' },
    });
    const [first = 0, second = 0, ...more] = (await lab.history(orderId)).scheduled('readOutcome');
    expect(more).toEqual([]);
    expect(second - first).toBeGreaterThanOrEqual(10 * MINUTE_MS);
    expect(second - first).toBeLessThan(10 * MINUTE_MS + 10 * SECOND_MS);
    const creates = lab.gate.about(`${orderId}.r1`, 'create').map(({ atMs }) => atMs);
    expect(creates).toHaveLength(1);
    expect(creates[0]).toBeGreaterThan(second);
  });

  test('is left to a person when the second reading differs from the first', async () => {
    const orderId = 'changed-between';
    let statusReadings = 0;
    lab.gate.rule = ({ path, orderId: asked }) => {
      if (asked !== orderId || !path.endsWith('/order/status')) return undefined;
      statusReadings += 1;
      return undefined;
    };
    const handle = await lab.orders.start('withdraw', partial(orderId));
    await lab.skipUntil(() => statusReadings >= 2, 5 * SECOND_MS, 5 * MINUTE_MS);
    const [shown] = lab.sandbox.orders().filter(({ order }) => order.user_order_id === orderId);
    // A late correction: the service shows one more cent as paid.
    const body = JSON.stringify({ status: 'success', data: { ...shown?.order, amount_to: '7.51' } });
    lab.gate.rule = ({ path, orderId: asked }) =>
      asked === orderId && path.endsWith('/order/status') ? { status: 200, body } : undefined;
    await lab.skipUntil(async () => (await lab.state(orderId)).phase === 'parked', MINUTE_MS, HOUR_MS);
    const { attention, revision } = await lab.state(orderId);
    expect(attention?.reason).toContain('differ');
    expect(attention?.allowed).toEqual(['accept']);
    expect(lab.gate.about(`${orderId}.r1`, 'create')).toEqual([]);
    await handle.decide({ action: 'accept', by: 'operator', reason: 'paid by hand', revision });
    expect(await lab.result(handle, MINUTE_MS)).toMatchObject({ compensation: { status: 'none' } });
  });
});

test('is read once more when limits and balance could not be asked for hours after the second reading', async () => {
  const orderId = 'checked-late';
  let silent = true;
  lab.gate.rule = ({ path }) => (silent && path.endsWith('/balances') ? { status: 503 } : undefined);
  const handle = await lab.orders.start('withdraw', partial(orderId));
  const readings = async () => (await lab.history(orderId)).scheduled('readOutcome').length;
  await lab.skipUntil(async () => (await readings()) === 2, MINUTE_MS, HOUR_MS);
  await lab.skip(3 * HOUR_MS);
  expect((await lab.state(orderId)).attention?.reason).toContain('no clear answer');
  silent = false;
  expect(await lab.result(handle, HOUR_MS)).toMatchObject({ compensation: { status: 'done' } });
  expect(await readings()).toBe(3);
  expect(lab.gate.about(`${orderId}.r1`, 'create')).toHaveLength(1);
});

test('what a person decided is not carried out when the second reading raises a doubt about the same figures', async () => {
  const orderId = 'doubtful-in-the-end';
  const parked = async () => (await lab.state(orderId)).phase === 'parked';
  const input = { marker: 'outcome=error', compensation: 'finish' as const };
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, input));
  await lab.skipUntil(parked, MINUTE_MS, HOUR_MS);
  const { revision } = await lab.state(orderId);
  await handle.decide({ action: 'finish', by: 'operator', reason: 'it was not executed', revision });
  await lab.skip(5 * SECOND_MS);
  const [shown] = lab.sandbox.orders().filter(({ order }) => order.user_order_id === orderId);
  // The payout was sent after all: a hash appears, with every amount as before.
  const now = { ...shown?.order, blockchain_withdrawal_hash: '0xabc' };
  lab.gate.rule = ({ path, orderId: asked, body }) => {
    if (asked !== orderId) return undefined;
    if (!path.endsWith('/order/status')) return listAnswer(body, [{ ...now, balance_changes: [] }]);
    return { status: 200, body: JSON.stringify({ status: 'success', data: now }) };
  };
  await lab.skipUntil(parked, MINUTE_MS, HOUR_MS);
  const { attention } = await lab.state(orderId);
  expect(attention?.reason).toContain('something was paid, but no balance change shows it');
  expect(attention?.allowed).toEqual(['accept']);
  expect(lab.gate.about(`${orderId}.r1`, 'create')).toEqual([]);
});

describe('a person is asked while the service is silent', () => {
  const asked = async (orderId: string) => {
    const handle = await lab.orders.start('withdraw', { ...partial(orderId), compensation: 'ask' });
    await lab.skipUntil(async () => (await lab.state(orderId)).phase === 'parked', MINUTE_MS, HOUR_MS);
    lab.gate.rule = ({ orderId: about }) => (about === orderId ? { status: 503 } : undefined);
    return handle;
  };

  test('accept ends the order within minutes, with its rest unknown', async () => {
    const handle = await asked('accepted-in-silence');
    const { revision } = await lab.state(handle.orderId);
    await handle.decide({ action: 'accept', by: 'operator', reason: 'as agreed', revision });
    const { remainder, remainderUnknown } = await lab.result(handle, 5 * MINUTE_MS);
    expect({ remainder, remainderUnknown }).toEqual({ remainderUnknown: expect.stringContaining('did not show') });
    expect((await lab.state(handle.orderId)).attention).toBeUndefined();
  });

  test('a callback is looked into ever more slowly, and the question stays', async () => {
    const { orderId } = await asked('called-in-silence');
    const { revision } = await lab.state(orderId);
    const readings = async () => (await lab.history(orderId)).scheduled('readOutcome').length;
    const before = await readings();
    await lab.callback(orderId);
    await lab.skip(3 * HOUR_MS);
    expect((await readings()) - before).toBeLessThan(20);
    expect(await lab.state(orderId)).toMatchObject({ phase: 'parked', revision });
    lab.gate.rule = () => undefined;
    await lab.skip(2 * HOUR_MS);
    const answered = await readings();
    await lab.skip(3 * HOUR_MS);
    expect(await readings()).toBe(answered);
    expect(await lab.state(orderId)).toMatchObject({ phase: 'parked', revision });
  });
});

test('every history replays', async () => {
  expect(await lab.replayAll()).toBe(8);
});
