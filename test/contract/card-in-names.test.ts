import { expect, it } from 'vitest';
import { addressListSchema } from '../../src/payment-service/queries.js';
import { validateBatchInput, validateScheduledBatchInput } from '../../src/validation/batch-input.js';
import { errorsOf } from '../validation/refusals.fixture.js';
import { CARD, inputWith } from './inputs.fixture.js';

const batchErrors = (batchId: string) => {
  const rows = [{ order_id: 'p-1', currency: 'usd', network: 'card', amount: '12.50', wallet: CARD }];
  const checked = validateBatchInput({ batchId, rows, startedBy: 'ann' });
  return 'errors' in checked ? checked.errors : [];
};
const orderErrors = (batchId: string) => errorsOf('deposit', inputWith('deposit', {}, { batchId }));
const refused = { reason: expect.stringMatching(/^must not hold a card number or IBAN/) };

/* What holds a card number is in `holds-wallet.test.ts`. */
it('a card number in the id of a batch or the name of a plan is refused and not repeated', () => {
  for (const errors of [batchErrors(`payroll.${CARD}`), orderErrors(`payroll.${CARD}`)])
    expect(errors).toEqual([{ field: 'batchId', ...refused }]);
  const plan = { plan: CARD, filePattern: '{period}.csv', batch: { startedBy: 'ann' } };
  expect(validateScheduledBatchInput(plan)).toEqual({ errors: [{ field: 'plan', ...refused }] });
});

it.each(['payroll.20261127', '4a11111111111111'])('%s is no card number', (batchId) => {
  expect([...batchErrors(batchId), ...orderErrors(batchId)]).toEqual([]);
});

it.each([
  [CARD, false],
  ['x411111', false],
  ['1000sats', true],
  ['usdt20', true],
])('%s is a currency: %s, since a long run of digits may be a wallet', (currency, isOne) => {
  const order = inputWith('exchange', { currency_from: currency, currency_to: currency });
  const fields = errorsOf('exchange', order).map(({ field }) => field);
  expect(fields.includes('order.currency_from')).toBe(!isOne);
  expect(addressListSchema.safeParse({ currency }).success).toBe(isOne);
});
