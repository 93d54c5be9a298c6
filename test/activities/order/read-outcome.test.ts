import { describe, expect, test } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import {
  activitiesFor,
  attemptOf,
  CALLBACK,
  ELSEWHERE,
  failureOf,
  isAskedAgain,
  openActivities,
  operations,
  outcomeOf,
  PACE,
  UNCLEAR_FAULTS,
} from '../activity-lab.fixture.js';
import { sendByHand } from './by-hand.fixture.js';

/** A lab with one payout of which 40 % were not paid, and the input that reads it. */
async function withPartialOrder(marker = '') {
  const lab = await openActivities();
  const whole = `outcome=completed_partially fraction=0.4 after_ms=0 ${marker}`.trim();
  await lab.run('createOrder', attemptOf('withdraw', orderInput('withdraw', 'w-1', { marker: whole })));
  const shown = () => lab.sandbox.orders()[0];
  await expect.poll(() => shown()?.order.status).toBe('completed_partially');
  const input = { account: 'default', orderId: 'w-1', orderUuid: shown()?.order.order_uuid ?? '' };
  return { ...lab, input, shown };
}

test('reads status and list item, with the balance changes of the list', async () => {
  const { sandbox, run, input, shown } = await withPartialOrder();
  const reading = await outcomeOf(run, input);
  expect(reading).toMatchObject({
    order: { status: 'completed_partially', order_uuid: input.orderUuid },
    disagreements: [],
  });
  expect(reading.changes).toHaveLength(shown()?.balance_changes.length ?? 0);
  expect(reading.changes[0]).toMatchObject({
    currency: 'usd',
    amount_change: shown()?.balance_changes[0]?.amount_change,
  });
  expect(operations(sandbox).slice(-3)).toEqual(['status', 'list', 'list']);
});

test('names the status when the two views differ in it', async () => {
  const { run, input } = await withPartialOrder('list=unknown-status list_times=all');
  const { disagreements, order } = await outcomeOf(run, input);
  expect(order.status).toBe('completed_partially');
  expect(disagreements).toEqual([expect.stringContaining('status')]);
});

test.for(['status=unseen', 'list=unseen', 'status=crossed status_times=all', 'list=crossed list_times=all'])(
  '%s: is no reading',
  async (marker) => {
    const { run, input } = await withPartialOrder(marker);
    const failure = await failureOf(run('readOutcome', input));
    expect(failure).toMatchObject({ type: /status=crossed/.test(marker) ? 'MalformedResponseError' : 'NoReading' });
    expect(isAskedAgain(failure)).toBe(true);
  },
);

describe.each(['status', 'list'] as const)('a failing %s operation', (place) => {
  test.for(UNCLEAR_FAULTS)('%s: is repeated', async (fault) => {
    const { sandbox, run, input } = await withPartialOrder();
    sandbox.set({ faults: { [`${place}.${fault}`]: 1 } });
    expect(isAskedAgain(await failureOf(run('readOutcome', input)))).toBe(true);
  });
});

test.each([
  ['just now', 0, true],
  ['a settle window ago', PACE.settleWindowMs.atOnce, undefined],
] as const)('Temporal was restored %s: says whether absent follow-ups may exist', async (_, agoMs, isTooSoon) => {
  const { sandbox, input } = await withPartialOrder();
  const restoredAtMs = Date.now() - agoMs;
  const run = await activitiesFor({ baseUrl: sandbox.url, ...sandbox }, { restoredAtMs });
  const followUps = { of: input.orderId, known: [] };
  const scheduledMs = Date.now();
  const reading = await outcomeOf(run, { ...input, followUps }, { scheduledMs });
  expect(reading.isTooSoon).toBe(isTooSoon);
});

test('another endpoint than the order was sent to is not asked', async () => {
  const { sandbox, run, input } = await withPartialOrder();
  const before = sandbox.requests().length;
  expect(await run('readOutcome', { ...input, sentTo: ELSEWHERE })).toEqual({ elsewhere: true });
  expect(sandbox.requests()).toHaveLength(before);
});

test.each([0, 14, -12])(
  'finds a receipt without an order id in the list of its time, zones %i h apart',
  async (hours) => {
    const settings = { receiptOrderId: 'empty', dateFilterShiftHours: hours } as const;
    const { sandbox, run } = await openActivities(settings, { callback: CALLBACK });
    const address = { currency: 'usdt', network: 'tron', currency_to: 'btc' };
    const made = await run('createAddress', { account: 'default', input: { ref: 'shop-7', address } });
    if (made.kind !== 'created') throw new Error('no address');
    const description = '[sandbox outcome=completed_partially after_ms=0]';
    const receipt = () => sandbox.receiveDeposit({ addressUuid: made.address.uuid, amount: '250', description });
    const [{ order }] = [receipt(), receipt(), receipt()];
    const shown = () => sandbox.orders().find((each) => each.order.order_uuid === order.order_uuid);
    await expect.poll(() => shown()?.order.status).toBe('completed_partially');
    const reading = await outcomeOf(run, { account: 'default', orderId: '', orderUuid: order.order_uuid });
    expect(reading).toMatchObject({ order: { order_uuid: order.order_uuid }, disagreements: [] });
    expect(reading.changes).toEqual(shown()?.balance_changes);
  },
);

describe('follow-ups beside the order', () => {
  const followUps = { of: 'w-1', known: [] };
  const withFollowUp = async (marker = '') => {
    const lab = await withPartialOrder();
    const { order } = orderInput('withdraw', 'w-1.r1', { marker });
    await sendByHand(lab.sandbox, { ...order, amount: '5' });
    return { ...lab, ask: { ...lab.input, followUps } };
  };

  test('are told, with what they show, by the reading that shows the order', async () => {
    const { run, sandbox, ask } = await withFollowUp();
    const before = operations(sandbox).length;
    const reading = await outcomeOf(run, ask);
    expect(reading.followUpBases).toEqual([expect.objectContaining({ user_order_id: 'w-1.r1' })]);
    expect(operations(sandbox).slice(before)).toEqual(['status', 'list', 'list']);
    const known = await outcomeOf(run, { ...ask, followUps: { of: 'w-1', known: ['w-1.r1'] } });
    expect(known).not.toHaveProperty('followUpBases');
  });

  test.for(['w-1', 'w-1.r1'])('another order under %s is a doubt, on whichever page it is shown', async (id) => {
    const { run, sandbox, input, ask } = await withFollowUp();
    sandbox.set({ duplicateMode: 'c' });
    const { order } = orderInput('withdraw', id);
    await sendByHand(sandbox, { ...order, amount: '5' });
    const told = expect.stringContaining(`the service shows another order ${id} (`);
    for (const listAtMost of [1_000, 1]) {
      sandbox.set({ listAtMost });
      const { disagreements, followUpBases } = await outcomeOf(run, ask);
      expect([disagreements, followUpBases?.length]).toEqual([[told], 1]);
      const alone = await outcomeOf(run, input);
      expect(alone.disagreements).toEqual(id === 'w-1' ? [told] : []);
    }
  });

  test.for([1, 2])('are all seen if the service shows %i orders on a page', async (listAtMost) => {
    const { run, sandbox, ask } = await withFollowUp();
    const { order } = orderInput('withdraw', 'w-1.r2');
    await sendByHand(sandbox, { ...order, amount: '5' });
    sandbox.set({ listAtMost });
    const { followUpBases = [] } = await outcomeOf(run, ask);
    expect(followUpBases.map(({ user_order_id }) => user_order_id)).toEqual(['w-1.r1', 'w-1.r2']);
  });

  test('a list that ignores what it was asked for is no reading', async () => {
    const { run, sandbox, ask } = await withPartialOrderAndOthers();
    sandbox.set({ faults: { 'list.ignore-filter': 1 } });
    const failure = await failureOf(run('readOutcome', ask));
    expect(failure).toMatchObject({ type: 'NoReading', message: expect.stringContaining('filter was ignored') });
    expect(isAskedAgain(failure)).toBe(true);
  });

  test('one that cannot be read is asked for again, and then told', async () => {
    const { run, ask } = await withFollowUp('list=malformed list_times=all');
    expect(await failureOf(run('readOutcome', ask, { attempt: 3 }))).toMatchObject({ type: 'NoReading' });
    expect(await run('readOutcome', ask, { attempt: 4 })).toMatchObject({ unreadFollowUps: true });
  });

  test('one that could not be read once, after an outage, is read', async () => {
    const { run, ask } = await withFollowUp('list=malformed list_times=1');
    const reading = await outcomeOf(run, ask, { attempt: 9 });
    expect(reading).toMatchObject({ followUpBases: [{ user_order_id: 'w-1.r1' }] });
    expect(reading).not.toHaveProperty('unreadFollowUps');
  });

  /** The list holds an order that nobody asked for. */
  async function withPartialOrderAndOthers() {
    const lab = await withPartialOrder();
    await lab.run('createOrder', attemptOf('withdraw', orderInput('withdraw', 'w-2')));
    return { ...lab, ask: { ...lab.input, followUps } };
  }
});
