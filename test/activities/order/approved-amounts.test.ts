import { describe, expect, test } from 'vitest';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import type { OrderType } from '../../../src/contract/order/types.js';
import { orderInput } from '../../support/inputs.js';
import { attemptOf, openActivities } from '../activity-lab.fixture.js';

const PAYS_TRX = { currency_from: 'usd', currency_to: 'trx', network_to: 'tron', amount: undefined };
const TRX_PAIR = 'exchange_withdraw usd-trx_tron';
/** The sandbox gives 8.79 trx for one usd. A quarter of that makes the order cost four times as much. */
const QUARTER = '2.1975';

const inputOf = (type: OrderType, changes: object = {}, orderId = `${type}-1`): OrderInput => {
  const input = orderInput(type, orderId);
  return { ...input, order: { ...input.order, ...changes } } as OrderInput;
};

/** Orders of every type, each above a cap on a side. `side`: the currency whose amount an approval names. */
const ABOVE: [type: OrderType, changes: object, caps: Record<string, string>, side: string][] = [
  ['deposit', { amount: '250' }, { usdt: '100' }, 'usdt'],
  ['withdraw', { amount: '150' }, { usd: '100' }, 'usd'],
  ['deposit_exchange', {}, { usd: '100' }, 'usd'],
  ['deposit_exchange', {}, { btc: '0.0001' }, 'btc'],
  ['exchange', {}, { usd: '100' }, 'usd'],
  ['exchange', {}, { btc: '0.0001' }, 'btc'],
  ['exchange', {}, { usd: '100', btc: '0.0001' }, 'btc'],
  ['exchange_withdraw', {}, { usdt: '50' }, 'usdt'],
  ['exchange_withdraw', { ...PAYS_TRX, amount_to: '5750' }, { usd: '100' }, 'usd'],
  ['exchange_withdraw', { ...PAYS_TRX, amount_to: '5750' }, { usd: '100', trx: '50' }, 'usd'],
  ['deposit_exchange_withdraw', { amount: undefined, amount_to: '95' }, { usd: '50' }, 'usd'],
  ['deposit_exchange_withdraw', { amount: undefined, amount_to: '95' }, { usdt: '50' }, 'usdt'],
];

describe('an approval', () => {
  test.for(ABOVE)(
    '%s %j, caps %j: names the amount in %s, and covers no larger one',
    async ([type, changes, caps, side]) => {
      const { sandbox, run } = await openActivities({}, { caps: new Map(Object.entries(caps)) });
      const attempt = (approved?: object) =>
        run('createOrder', { ...attemptOf(type, inputOf(type, changes)), ...(approved && { approved }) } as never);
      const asked = await attempt();
      expect(asked).toMatchObject({ kind: 'overCap', currency: side, amount: expect.stringMatching(/^[\d.]+$/) });
      if (asked.kind !== 'overCap' || asked.amount === undefined) throw new Error('no amount is named');
      const isEstimate = !asked.reason.startsWith(`${asked.amount} `);
      if (isEstimate) {
        const less = { amount: String(Number(asked.amount) * 0.99), currency: side };
        expect(await attempt(less)).toMatchObject({ kind: 'overCap', amount: asked.amount, currency: side });
        expect(await attempt({ amount: '1000000', currency: 'eur' })).toMatchObject({ kind: 'overCap' });
      }
      expect(sandbox.orders()).toEqual([]);
      const sent = await attempt({ amount: asked.amount, currency: side });
      expect(sent).toMatchObject({ kind: 'accepted' });
      expect(sent).not.toHaveProperty('aboveCap');
    },
  );

  test('shown as "up to 686.04" does not let an order cost four times as much', async () => {
    const { sandbox, run } = await openActivities({}, { caps: new Map([['usd', '100']]) });
    const attempt = attemptOf('exchange_withdraw', inputOf('exchange_withdraw', { ...PAYS_TRX, amount_to: '5750' }));
    const asked = await run('createOrder', attempt);
    if (asked.kind !== 'overCap' || asked.amount === undefined) throw new Error('not asked');
    expect(Number(asked.amount)).toBeGreaterThan(650);
    expect(Number(asked.amount)).toBeLessThan(700);
    sandbox.set({ pairs: { [TRX_PAIR]: { rate: QUARTER } } });
    const approved = { amount: asked.amount, currency: 'usd' };
    const again = await run('createOrder', { ...attempt, approved });
    expect(again).toMatchObject({
      kind: 'overCap',
      reason: expect.stringContaining(`${asked.amount} usd is approved`),
    });
    expect(Number(again.kind === 'overCap' && again.amount)).toBeGreaterThan(2_600);
    expect(sandbox.orders()).toEqual([]);
  });

  test('of what could not be estimated names no amount, and covers no estimate', async () => {
    const { sandbox, run } = await openActivities({ faults: { 'rates.500': 1 } }, { caps: new Map([['usd', '100']]) });
    const attempt = attemptOf('exchange_withdraw', inputOf('exchange_withdraw', { ...PAYS_TRX, amount_to: '5750' }));
    const asked = await run('createOrder', attempt);
    expect(asked).toMatchObject({ kind: 'overCap', currency: 'usd', reason: expect.stringContaining('cannot be') });
    expect(asked).not.toHaveProperty('amount');
    const guessed = { ...attempt, approved: { amount: '5000', currency: 'usd' } };
    expect(await run('createOrder', guessed)).toMatchObject({ kind: 'overCap' });
    sandbox.set({ faults: {} });
    const unknown = { ...attempt, approved: { currency: 'usd' } };
    expect(await run('createOrder', unknown)).toMatchObject({ kind: 'overCap', amount: expect.any(String) });
    sandbox.set({ faults: { 'rates.500': 1 } });
    const blind = await openActivities({ faults: { 'rates.500': 1 } }, { caps: new Map([['usd', '100']]) });
    expect(await blind.run('createOrder', unknown)).toMatchObject({
      kind: 'accepted',
      aboveCap: expect.stringContaining('above the cap of 100 usd'),
    });
  });
});

test('cards that add up to more than the amount brings count as what the order pays', async () => {
  const { sandbox, run } = await openActivities({}, { caps: new Map([['usd', '5000']]) });
  const wallets = ['4111111111111111', '5555555555554444'];
  const toCards = { currency_from: 'eur', currency_to: 'usd', network_to: 'multiple_cards', wallet: 'several' };
  const paying = (amount: string) => ({
    ...toCards,
    amount: '90',
    wallet_details: wallets.map((wallet) => ({ amount, wallet })),
  });
  const attempt = attemptOf('exchange_withdraw', inputOf('exchange_withdraw', paying('9000.5')));
  const reason = expect.stringContaining('up to 18001 usd, as its cards add up, is above the cap of 5000 usd');
  const asked = { kind: 'overCap', amount: '18001', currency: 'usd', reason };
  expect(await run('createOrder', attempt)).toMatchObject(asked);
  const less = { ...attempt, approved: { amount: '18000', currency: 'usd' } };
  expect(await run('createOrder', less)).toMatchObject({ kind: 'overCap', amount: '18001' });
  expect(sandbox.orders()).toEqual([]);
  const small = attemptOf('exchange_withdraw', inputOf('exchange_withdraw', paying('45'), 'small'));
  expect(await run('createOrder', small)).toMatchObject({ kind: 'accepted' });
});

describe('the rates behind a cap', () => {
  test('are those of now: none of 5 orders exceeds it because rates were read before', async () => {
    const { sandbox, run } = await openActivities({}, { caps: new Map([['usd', '800']]) });
    const order = { ...PAYS_TRX, amount_to: '5750' };
    expect(await run('createOrder', attemptOf('exchange_withdraw', inputOf('exchange_withdraw', order)))).toMatchObject(
      {
        kind: 'accepted',
      },
    );
    sandbox.set({ pairs: { [TRX_PAIR]: { rate: QUARTER } } });
    const verdicts = await Promise.all(
      [2, 3, 4, 5, 6].map((n) =>
        run('createOrder', attemptOf('exchange_withdraw', inputOf('exchange_withdraw', order, `later-${n}`))),
      ),
    );
    expect(verdicts.map(({ kind }) => kind)).toEqual(Array(5).fill('overCap'));
    expect(sandbox.orders()).toHaveLength(1);
  });

  test('are read again with no order whose sides are given or without a cap', async () => {
    const { sandbox, run } = await openActivities({}, { caps: new Map([['usd', '500']]) });
    for (const type of ['withdraw', 'deposit', 'exchange', 'deposit_exchange'] as const) {
      expect(await run('createOrder', attemptOf(type, inputOf(type)))).toMatchObject({ kind: 'accepted' });
    }
    expect(sandbox.requests().filter(({ path }) => path.endsWith('/rates'))).toHaveLength(1);
  });

  test('that fail once ask no operator: nothing is sent, and it is tried again', async () => {
    const { sandbox, run } = await openActivities({}, { caps: new Map([['usd', '800']]) });
    const attempt = attemptOf('exchange_withdraw', inputOf('exchange_withdraw', { ...PAYS_TRX, amount_to: '5750' }));
    await run('createOrder', attemptOf('withdraw'));
    sandbox.set({ faults: { 'rates.500': 1 } });
    expect(await run('createOrder', attempt)).toMatchObject({
      kind: 'notSent',
      reason: expect.stringContaining('rates'),
    });
    sandbox.set({ faults: {} });
    expect(await run('createOrder', attempt)).toMatchObject({ kind: 'accepted' });
  });
});

describe('what the service answers', () => {
  const order = { ...PAYS_TRX, amount_to: '5750' };
  const attempt = attemptOf('exchange_withdraw', inputOf('exchange_withdraw', order));
  const byAmount = { currency_from: 'usd', currency_to: 'trx', network_to: 'tron', amount: '600' };

  test.for([
    [
      'the side that pays',
      { usd: '800' },
      undefined,
      order,
      QUARTER,
      /comes to 26\d\d\.\d+ usd, .* the cap of 800 usd/,
    ],
    [
      'an approved one',
      { usd: '100' },
      { amount: '800', currency: 'usd' },
      order,
      QUARTER,
      /comes to 26\d\d\.\d+ usd, .* the approved 800 usd/,
    ],
    ['the side that is paid', { trx: '6000' }, undefined, byAmount, '35.16', /comes to 2\d{4} trx, .* of 6000 trx/],
  ] as const)('above what is allowed, on %s: is reported', async ([, caps, approved, request, rate, says]) => {
    const { sandbox, run } = await openActivities({}, { caps: new Map(Object.entries(caps)) });
    const input = inputOf('exchange_withdraw', request);
    // The rate moves between the rates and the create.
    const onHeartbeat = () => void sandbox.set({ pairs: { [TRX_PAIR]: { rate } } });
    const sending = { ...attempt, input, ...(approved && { approved }) };
    const sent = await run('createOrder', sending, { onHeartbeat });
    expect(sent).toMatchObject({ kind: 'accepted', aboveCap: expect.stringMatching(says) });
    // The same where a look-up shows it first.
    const { type, account } = attempt;
    const found = await run('lookUpOrder', { type, account, request: input.order, ...(approved && { approved }) });
    expect(found).toMatchObject({ kind: 'found', aboveCap: expect.stringMatching(says) });
    expect(await run('createOrder', sending)).toMatchObject({ kind: 'adopted', aboveCap: expect.stringMatching(says) });
  });

  test.for([
    'deposit',
    'withdraw',
    'exchange',
    'exchange_withdraw',
    'deposit_exchange',
    'deposit_exchange_withdraw',
  ] as const)('%s: exactly at its cap is not above it, whatever commission the service adds', async (type) => {
    const input = inputOf(type);
    const { amount, currency, currency_from } = input.order as unknown as Record<string, string>;
    const caps = new Map([[currency ?? currency_from ?? '', amount ?? '']]);
    const { run } = await openActivities({}, { caps });
    const sent = await run('createOrder', attemptOf(type, input));
    expect(sent).toMatchObject({ kind: 'accepted' });
    expect(sent).not.toHaveProperty('aboveCap');
  });
});
