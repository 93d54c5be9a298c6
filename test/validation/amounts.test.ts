import { describe, expect, it } from 'vitest';
import { amountProblem } from '../../src/validation/amounts.js';
import { attemptOf, failureOf, operations } from '../activities/activity-lab.fixture.js';
import { planner, ROW } from '../activities/batch/batch-lab.fixture.js';
import { CARD } from '../contract/inputs.fixture.js';

describe('an amount as people write it', () => {
  it.each<[amount: string, problem: RegExp]>([
    // A comma stands between thousands first.
    ['1,000', /separators: 1000 or 1\? write 1000 or 1\.00$/],
    ['1,005', /1005 or 1\.005\? write 1005 or 1\.005$/],
    ['1,0000', /10000 or 1\? write 10000 or 1\.00$/],
    ['1234,567', /1234567 or 1234\.567\?/],
    ['12,50', /decimal comma: write 12\.50$/],
    ['0,500', /decimal comma: write 0\.500$/],
    ...['1,250.00', '1.250,00'].map((amount): [string, RegExp] => [amount, /leave them out, write 1250\.00$/]),
    ...['1.250.000', "1'250'000", '1_250_000', '12,50,000', '1\u202f250\u202f000'].map((amount): [string, RegExp] => [
      amount,
      /separators: leave them out, write 1250000$/,
    ]),
    ['1 00', /has a blank or separators: write digits/],
    ...['-5', '5-', '−5', '(5)'].map((amount): [string, RegExp] => [amount, /must be > 0: the/]),
    ['+5', /plus sign: leave it out/],
    ...['€5', 'USD 5', '5 руб.', '1 Mio', '50 ct', '12.50 Cr', '12k'].map((amount): [string, RegExp] => [
      amount,
      /: write the whole amount in digits, in the currency that the currency field names$/,
    ]),
    // What is not a figure.
    ['5\u200b', /invisible character/],
    ['5 ', /blank before or after it/],
    ['５', /digits of another script/],
    ['1,25E-5', /exponent/],
    ['5O', /letter/],
    ["'5", /apostrophe/],
    ['007', /begins with 0: write 7$/],
    ['.5', /begins with the point: write 0\.5$/],
    ['5.', /ends with the point: write 5$/],
    ['1..5', /more than one point/],
    ['5%', /must be a decimal string/],
  ])('%j is refused as what it is', (amount, problem) => {
    expect(amountProblem(amount)).toMatch(problem);
  });

  it.each([`${CARD.slice(0, 4)},${CARD.slice(4)}`, `0${CARD}`, `${CARD}.`, `${CARD},00`, '4,111,111,111,111,111'])(
    '%s shows no card number',
    (amount) => {
      expect(amountProblem(amount)).toBeDefined();
      expect(amountProblem(amount)).not.toMatch(/\d{4}/);
    },
  );
});

it('an amount with more decimals than its currency has is refused with both readings, and nothing is sent', async () => {
  const { run, sandbox } = await planner([]);
  const order = { ...ROW, amount: '12.5000' };
  const failure = await failureOf(run('createOrder', attemptOf('withdraw', { order })));
  const reason = expect.stringMatching(/usd allows 2: 12\.5 or 125000\? write 125000 or 12\.50$/);
  expect(failure).toMatchObject({ type: 'InvalidOrder', details: [[{ field: 'order.amount', reason }]] });
  expect(operations(sandbox)).not.toContain('create');
});

describe('a currency of three decimals and more', () => {
  it('has a warning for amounts that look like thousands, with both readings', async () => {
    const tron = 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC';
    const { plan } = await planner([
      `a,usdt,tron,1.250,${tron}`,
      `b,usdt,tron,25.000,${tron}`,
      `c,usdt,tron,1.2500,${tron}`,
      `d,usdt,tron,1250,${tron}`,
      `e,usdt,tron,1.25,${tron}`,
      'f,btc,bitcoin,1.000,bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
      'g,btc,bitcoin,0.100,bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    ]);
    const { warnings } = await plan();
    expect(warnings.filter(({ reason }) => reason.includes('thousands'))).toEqual([
      {
        rows: [2],
        reason: 'an amount in usdt looks like thousands: 1.250 is read as 1.25. If it means 1250, write 1250',
      },
      {
        rows: [3],
        reason: 'an amount in usdt looks like thousands: 25.000 is read as 25. If it means 25000, write 25000',
      },
      { rows: [7], reason: 'an amount in btc looks like thousands: 1.000 is read as 1. If it means 1000, write 1000' },
    ]);
  });
});
