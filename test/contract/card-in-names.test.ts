import { describe, expect, it } from 'vitest';
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

const planErrors = (plan: string) => {
  const checked = validateScheduledBatchInput({ plan, filePattern: '{period}.csv', batch: { startedBy: 'ann' } });
  return 'errors' in checked ? checked.errors : [];
};

/* What holds a card number is in `holds-wallet.test.ts`. */
describe('a card number', () => {
  const refused = { reason: expect.stringMatching(/^must not hold a card number or IBAN/) };

  it('in a batch id is refused and not repeated', () => {
    for (const errors of [batchErrors(`payroll.${CARD}`), orderErrors(`payroll.${CARD}`)])
      expect(errors).toEqual([{ field: 'batchId', ...refused }]);
  });

  it('in the name of a plan, which is part of batch ids, is refused', () => {
    expect(planErrors(CARD)).toEqual([{ field: 'plan', ...refused }]);
  });

  it.each(['payroll.20261127', '2026-11-27-10-00-00', '4a11111111111111'])('is not what %s is taken for', (batchId) => {
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
