import { describe, expect, test } from 'vitest';
import type { SettingsChange } from '../../../sandbox/index.js';
import type { LookUpReceivedInput } from '../../../src/contract/order/followers.js';
import { orderInput } from '../../support/inputs.js';
import {
  attemptOf,
  CALLBACK,
  ELSEWHERE,
  failureOf,
  isAskedAgain,
  openActivities,
  operations,
  PACE,
  UNCLEAR_FAULTS,
} from '../activity-lab.fixture.js';

/** A permanent address `shop-7` with one receipt on it, and the look-up of that receipt. */
async function withReceipt(settings: SettingsChange = {}, { marker = '', currencyTo = '' } = {}) {
  const lab = await openActivities(settings, { callback: CALLBACK });
  const make = async (ref: string) => {
    const address = { currency: 'usdt', network: 'tron', ...(currencyTo && { currency_to: currencyTo }) };
    const made = await lab.run('createAddress', { account: 'default', input: { ref, address } } as never);
    if (made.kind !== 'created') throw new Error('no address');
    return made.address.uuid;
  };
  const addressUuid = await make('shop-7');
  const description = `[sandbox after_ms=1000000 ${marker}]`;
  const { order } = lab.sandbox.receiveDeposit({ addressUuid, amount: '250', description });
  const before = operations(lab.sandbox).length;
  const lookUp = (changes: Record<string, unknown> = {}, rest: Partial<LookUpReceivedInput> = {}) =>
    lab.run('lookUpReceived', {
      account: 'default',
      input: { ref: 'shop-7', order_uuid: order.order_uuid, ...changes },
      ...rest,
    });
  return { ...lab, make, order, lookUp, asked: () => operations(lab.sandbox).slice(before) };
}

describe('the look-up of a received order', () => {
  test('finds it by its uuid on the address of the reference, with its circumstances', async () => {
    const { lookUp, order, sentTo } = await withReceipt();
    expect(await lookUp()).toMatchObject({
      kind: 'found',
      type: 'deposit',
      order: { order_uuid: order.order_uuid, status: 'processing' },
      pace: PACE,
      sentTo,
      payers: { to: null },
    });
  });

  test.for([1, 2])('finds it on the last of many addresses if the service shows %i on a page', async (listAtMost) => {
    const { lookUp, make, sandbox } = await withReceipt();
    for (let n = 0; n < 6; n += 1) await make(`other-${n}`);
    sandbox.set({ listAtMost });
    expect(await lookUp()).toMatchObject({ kind: 'found' });
    expect(await lookUp({ ref: 'other-5' })).toMatchObject({ kind: 'foreign' });
  });

  test('knows an exchange by the address', async () => {
    const { lookUp } = await withReceipt({}, { currencyTo: 'btc' });
    expect(await lookUp()).toMatchObject({ kind: 'found', type: 'deposit_exchange' });
  });

  test('tells addresses apart that differ in their memo only', async () => {
    const { lookUp, make } = await withReceipt({ sharedAddresses: true });
    await make('shop-8');
    expect(await lookUp()).toMatchObject({ kind: 'found' });
    expect(await lookUp({ ref: 'shop-8' })).toMatchObject({ kind: 'foreign' });
  });

  test.each(['generated', 'uuid', 'empty'] as const)('finds receipts with %s order ids', async (receiptOrderId) => {
    const { lookUp } = await withReceipt({ receiptOrderId });
    expect(await lookUp()).toMatchObject({ kind: 'found' });
  });

  test('does not take the receipt on another address', async () => {
    const { lookUp, make } = await withReceipt();
    await make('shop-8');
    const reading = await lookUp({ ref: 'shop-8' });
    expect(reading).toMatchObject({ kind: 'foreign', reason: expect.stringContaining('shop-8') });
    expect(reading).not.toHaveProperty('order');
  });

  test('waits for an order that shows no deposit address yet', async () => {
    const { lookUp } = await withReceipt({}, { marker: 'status=missing-field field=deposit_address' });
    expect(await lookUp()).toMatchObject({ kind: 'unplaced' });
    expect(await lookUp()).toMatchObject({ kind: 'found' });
  });

  test('says that no address has the reference', async () => {
    const { lookUp } = await withReceipt();
    expect(await lookUp({ ref: 'nobody' })).toMatchObject({ kind: 'unplaced' });
  });

  test.each(['withdraw', 'exchange', 'deposit'] as const)('does not take a %s that somebody started', async (type) => {
    const { lookUp, run, sandbox } = await withReceipt();
    await run('createOrder', attemptOf(type, orderInput(type, 'o-1')));
    const created = sandbox.orders().find(({ order }) => order.user_order_id === 'o-1');
    expect(await lookUp({ order_uuid: created?.order.order_uuid })).toMatchObject({ kind: 'foreign' });
  });

  test('finds an order that only the list shows, where it is listed by its uuid', async () => {
    const { lookUp } = await withReceipt({ receiptOrderId: 'uuid' }, { marker: 'status_lag_ms=1000000' });
    const reading = await lookUp();
    expect(reading).toMatchObject({ kind: 'found' });
    expect(reading).not.toHaveProperty('order.balance_changes');
  });

  test.each(['a', 'b', 'c', 'd', 'e'] as const)(
    'unknown (mode %s): absent, by status and a signed list',
    async (mode) => {
      const { lookUp, asked } = await withReceipt({ unknownMode: mode });
      expect(await lookUp({ order_uuid: 'no-such-order' })).toMatchObject({ kind: 'absent' });
      expect(asked()).toEqual(['status', 'list']);
    },
  );

  test('reads the address list once for all receipts on known addresses', async () => {
    const { lookUp, sandbox } = await withReceipt();
    for (let n = 0; n < 5; n += 1) await lookUp();
    expect(sandbox.stats().requestsByPath['/v2/deposit_address/list']).toBe(3);
  });
});

describe('is no reading, and asked again', () => {
  test.each(UNCLEAR_FAULTS)('an unknown order whose list answers %s', async (fault) => {
    const { lookUp, sandbox } = await withReceipt();
    sandbox.set({ faults: { [`list.${fault}`]: 1 } });
    const failure = await failureOf(lookUp({ order_uuid: 'no-such-order' }));
    expect(isAskedAgain(failure)).toBe(true);
  });

  test.each(UNCLEAR_FAULTS)('an address list that answers %s', async (fault) => {
    const { lookUp, sandbox } = await withReceipt();
    sandbox.set({ faults: { [`address.${fault}`]: 1 } });
    expect(isAskedAgain(await failureOf(lookUp()))).toBe(true);
  });

  test('a status that shows another order', async () => {
    const { lookUp } = await withReceipt({}, { marker: 'status=crossed status_times=all' });
    expect(await failureOf(lookUp())).toMatchObject({ type: 'MalformedResponseError' });
  });

  test('another endpoint', async () => {
    const { lookUp, asked } = await withReceipt();
    expect(await failureOf(lookUp({}, { sentTo: ELSEWHERE }))).toMatchObject({ type: 'Elsewhere' });
    expect(asked()).toEqual([]);
  });
});

describe('bad input ends the follower as InvalidOrder', () => {
  test.each([{ ref: 'a b' }, { order_uuid: '../x' }, { compensation: 'revert' }, { more: 1 }])(
    '%j',
    async (changes) => {
      const { lookUp, asked } = await withReceipt();
      expect(await failureOf(lookUp(changes))).toMatchObject({ type: 'InvalidOrder', nonRetryable: true });
      expect(asked()).toEqual([]);
    },
  );
});
