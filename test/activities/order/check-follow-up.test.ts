import { describe, expect, test } from 'vitest';
import type { CheckFollowUpInput } from '../../../src/contract/order/activities.js';
import { orderInput } from '../../support/inputs.js';
import { failureOf, isAskedAgain, openActivities, operations, UNCLEAR_FAULTS } from '../activity-lab.fixture.js';

const checkOf = (changes: object = {}): CheckFollowUpInput => ({
  type: 'withdraw',
  account: 'default',
  request: { ...orderInput('withdraw', 'w-1.r1').order, ...changes },
  order: { type: 'exchange_withdraw', request: orderInput('exchange_withdraw', 'w-1').order },
});

const orderPayers = { from: null, to: 'merchant' };

test('a follow-up within limits, precision and balance is fine, and nothing is sent', async () => {
  const { sandbox, run } = await openActivities();
  expect(await run('checkFollowUp', checkOf())).toMatchObject({
    kind: 'ok',
    payers: { from: null, to: 'merchant' },
    orderPayers,
  });
  expect(operations(sandbox)).toEqual(['balances']);
});

test('the payers of the order before it are those that rates name now', async () => {
  const { sandbox, run } = await openActivities();
  await run('checkFollowUp', checkOf());
  sandbox.set({ pairs: { 'exchange_withdraw usd-usdt_tron': { payerTo: 'client' } } });
  expect(await run('checkFollowUp', checkOf())).toMatchObject({ orderPayers: { from: null, to: 'client' } });
  sandbox.set({ pairs: { 'exchange_withdraw usd-usdt_tron': null } });
  expect(await run('checkFollowUp', checkOf())).not.toHaveProperty('orderPayers');
});

test.for([
  ['a card number with a typing error', { wallet: '4111111111111112' }, 'order.wallet'],
  ['details that do not fit the network', { network: 'sepa', wallet_details: { bank_code: '1' } }, 'wallet_details'],
  [
    'cards that do not add up',
    { network: 'multiple_cards', wallet_details: [{ amount: '1', wallet: '5555555555554444' }] },
    'add up',
  ],
  ['an order id that is no follow-up', { order_id: 'w-1' }, 'order.order_id'],
] as const)('%s is refused before the service is asked', async ([, changes, reason]) => {
  const { sandbox, run } = await openActivities();
  const check = await run('checkFollowUp', checkOf(changes));
  expect(check).toMatchObject({ kind: 'refused', reason: expect.stringContaining(reason) });
  expect(JSON.stringify(check)).not.toContain('4111111111111112');
  expect(sandbox.requests()).toEqual([]);
});

test('an amount below the minimum is told apart: waiting does not help', async () => {
  const { run } = await openActivities();
  const check = await run('checkFollowUp', checkOf({ amount: '0.99' }));
  expect(check).toMatchObject({ kind: 'belowMinimum', reason: expect.stringContaining('0.99') });
});

test.for([
  ['a pair that is not offered', { network: 'hawala' }, 'usd_hawala'],
  ['an amount above the maximum', { amount: '100001' }, 'max_amount_from'],
  ['too many decimals', { amount: '1.505' }, 'decimals'],
] as const)('%s is refused', async ([, changes, reason]) => {
  const { run } = await openActivities();
  const check = await run('checkFollowUp', checkOf(changes));
  expect(check).toMatchObject({ kind: 'refused', reason: expect.stringContaining(reason) });
});

// A payout of 12.50 usd to a card costs at most 0.5 + max(1.5 %, 1) = 1.50.
test.for([
  ['14.00', 'ok'],
  ['13.99', 'refused'],
  ['12.50', 'refused'],
  ['0', 'refused'],
  ['-3', 'refused'],
] as const)('with a balance of %s, a payout of 12.50 that may cost 1.50 more is %s', async ([usd, kind]) => {
  const { run } = await openActivities({ balances: { usd } });
  expect(await run('checkFollowUp', checkOf())).toMatchObject({ kind });
});

test('the reason of a short balance shows both amounts', async () => {
  const { run } = await openActivities({ balances: { usd: '5' } });
  const check = await run('checkFollowUp', checkOf());
  expect(check).toMatchObject({ reason: expect.stringMatching(/5 usd .*14 /) });
});

test('every check asks for rates anew', async () => {
  const { sandbox, run } = await openActivities();
  await run('checkFollowUp', checkOf());
  await run('checkFollowUp', checkOf());
  expect(sandbox.requests().filter(({ path }) => path === '/v2/rates')).toHaveLength(2);
});

describe.each(['rates', 'balances'] as const)('failing %s', (place) => {
  test.for(UNCLEAR_FAULTS)('%s: is repeated', async (fault) => {
    const { run } = await openActivities({ faults: { [`${place}.${fault}`]: 1 } });
    expect(isAskedAgain(await failureOf(run('checkFollowUp', checkOf())))).toBe(true);
  });
});
