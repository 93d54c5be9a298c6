import { expect, test } from 'vitest';
import { readMarker } from '../../sandbox/markers.js';
import { create, finalItem, start } from './sandbox.fixture.js';

const marked = (words: string) => ({ description: `[sandbox ${words}]` });

test('a description without a marker has none', () => {
  expect(readMarker('payroll of May [urgent]')).toEqual({});
  expect(readMarker(null)).toEqual({});
  expect(readMarker('x [sandbox outcome=error after_ms=5] y')).toEqual({ outcome: 'error', after_ms: '5' });
});

test.each([
  ['unexchanged', true, false],
  ['unpaid', false, true],
  ['both', true, true],
])('left=%s on an order with exchange and payout', async (left, unexchanged, unpaid) => {
  const sandbox = await start();
  await create(sandbox, 'exchange_withdraw', 'p', marked(`outcome=completed_partially left=${left} fraction=0.25`));
  await finalItem(sandbox, 'p');
  const truth = sandbox.orders()[0]?.truth;
  expect([truth?.unexchanged !== '0', truth?.unpaid !== '0']).toEqual([unexchanged, unpaid]);
});

test('an error is clean unless a stage is named', async () => {
  const sandbox = await start();
  await create(sandbox, 'exchange_withdraw', 'clean', marked('outcome=error'));
  await create(sandbox, 'exchange_withdraw', 'late', marked('outcome=error stage=after-exchange'));
  const clean = await finalItem(sandbox, 'clean');
  expect(clean).toMatchObject({ status: 'error', balance_changes: [], amount_to: null, amount_to_fee: '0' });
  expect(clean.error_code).not.toBe(0);
  const late = await finalItem(sandbox, 'late');
  expect(late.balance_changes).toHaveLength(2);
  expect(late).toMatchObject({ status: 'error', amount_to: null, blockchain_withdrawal_hash: null });
});

test('a deposit nobody pays is canceled out of new', async () => {
  const sandbox = await start();
  await create(sandbox, 'deposit', 'c', marked('outcome=canceled'));
  expect(await finalItem(sandbox, 'c')).toMatchObject({ status: 'canceled', amount_from: null, balance_changes: [] });
});

test('a deposit can be paid short or over, a strict order at another rate', async () => {
  const sandbox = await start();
  await create(sandbox, 'deposit', 'short', marked('paid=0.9'));
  await create(sandbox, 'deposit', 'over', marked('paid=1.25'));
  const strict = { amount: undefined, amount_to: 0.1 };
  await create(sandbox, 'exchange_withdraw', 'moved', { ...strict, ...marked('rate=0.98') });
  expect(await finalItem(sandbox, 'short')).toMatchObject({ amount_from: '90', expected_amount_from: '100' });
  expect(await finalItem(sandbox, 'over')).toMatchObject({ amount_from: '125', status: 'completed' });
  const moved = await finalItem(sandbox, 'moved');
  expect(Number(moved.amount_to)).toBeCloseTo(0.098, 6);
  expect(moved.exchange_rate_actual).not.toBe(moved.exchange_rate_initial);
});
