import { describe, expect, it } from 'vitest';
import { addressListSchema } from '../../src/payment-service/queries.js';
import { validateBatchInput, validateScheduledBatchInput } from '../../src/validation/batch-input.js';
import { errorsOf } from '../validation/refusals.fixture.js';
import { CARD, inputWith, OTHER_CARD } from './inputs.fixture.js';

const batchErrors = (batchId: string) => {
  const rows = [{ order_id: 'p-1', currency: 'usd', network: 'card', amount: '12.50', wallet: CARD }];
  const checked = validateBatchInput({ batchId, rows, startedBy: 'ann' });
  return 'errors' in checked ? checked.errors : [];
};

const orderErrors = (batchId: string) => errorsOf('deposit', inputWith('deposit', {}, { batchId }));

const planErrors = (plan: string) => {
  const checked = validateScheduledBatchInput({ plan, filePattern: '{period}.csv', batch: { startedBy: 'ann' } });
  return 'errors' in checked ? checked.errors : [];
};

const AMEX = '378282246310005';
/** The check digit is wrong. */
const NO_CARD = '4111111111111112';

const HOLD_CARDS = [
  CARD,
  AMEX,
  `payroll.${CARD}`,
  `${OTHER_CARD}-2`,
  '4111-1111-1111-1111',
  'a.3782-822463-10005',
  `2026-11-27_${CARD}`,
];

const HARMLESS = [
  'payroll.2026-11-27',
  'payroll.20261127',
  'payroll-20261127103004',
  'payroll.2026-11-27T10-00',
  '2026-11-27-10-00-00',
  // Milliseconds since 1970. Like the times above it has a fitting check digit.
  '1764237600002',
  // Of the service's and of other programs' making.
  '0d6ae69e-0000-4000-8000-000000000001',
  // A default id: the beginning of a hash.
  '4a11111111111111',
  NO_CARD,
];

describe('a card number', () => {
  it.each(HOLD_CARDS)('in a batch id is refused and not repeated: %s', (batchId) => {
    for (const errors of [batchErrors(batchId), orderErrors(batchId)]) {
      expect(errors).toEqual([
        { field: 'batchId', reason: expect.stringMatching(/^must not hold a card number or IBAN/) },
      ]);
    }
  });

  it('in the name of a plan, which is part of batch ids, is refused', () => {
    expect(planErrors(CARD)).toEqual([
      { field: 'plan', reason: expect.stringMatching(/^must not hold a card number or IBAN/) },
    ]);
  });

  it.each(HARMLESS)('is not what a batch id such as %s is taken for', (batchId) => {
    expect([...batchErrors(batchId), ...orderErrors(batchId)]).toEqual([]);
  });
});

describe('a currency', () => {
  const fieldsOf = (currency: string) =>
    errorsOf('exchange', inputWith('exchange', { currency_from: currency, currency_to: currency })).map(
      ({ field }) => field,
    );

  it.each([CARD, '411111', 'x411111', '411111x'])('with a long run of digits is refused: %s', (currency) => {
    expect(fieldsOf(currency)).toEqual(expect.arrayContaining(['order.currency_from', 'order.currency_to']));
    expect(addressListSchema.safeParse({ currency }).success).toBe(false);
  });

  it.each(['usd', '1inch', '1000sats', 'usdt20', 'shib11111'])('%s is none of that', (currency) => {
    expect(fieldsOf(currency)).toEqual(['order.currency_to']);
    expect(addressListSchema.safeParse({ currency }).success).toBe(true);
  });
});
