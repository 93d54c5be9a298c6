import { expect, test } from 'vitest';
import type { CreateRequests } from '../../../src/contract/order/request.js';
import type { Order } from '../../../src/contract/service-objects.js';
import { failedChecks } from '../../../src/workflows/compensation/checks.js';
import { figures } from '../../../src/workflows/compensation/figures.js';
import { orderFor } from '../../contract/inputs.fixture.js';

const request: CreateRequests['exchange'] = { order_id: 'o', currency_from: 'usd', currency_to: 'eur', amount: '100' };

const checksOf = (precisions: Partial<Order>): string[] => {
  const order = orderFor('exchange', request, {
    status: 'completed_partially',
    amount_from: '40',
    amount_to: '20',
    expected_amount_to: '50',
    exchange_rate_initial: '0.5',
    exchange_rate_actual: '0.5',
    ...precisions,
  });
  const changes = [
    { currency: 'usd', amount_before: '100', amount_change: '-40', amount_after: '60', created_at: '' },
    { currency: 'eur', amount_before: '0', amount_change: '20', amount_after: '20', created_at: '' },
  ];
  const partial = { type: 'exchange' as const, request, order, changes };
  return failedChecks(partial, figures(partial));
};

test('a precision that says how many decimal places there are passes', () => {
  expect(checksOf({ currency_from_precision: 0, currency_to_precision: 18 })).toEqual([]);
});

test.each([-1, 31, Number.MAX_SAFE_INTEGER])('a precision of %d is a reason to ask a person, not a crash', (places) => {
  expect(checksOf({ currency_to_precision: places })).toContain(
    `currency_to_precision ${places} is no number of decimal places`,
  );
  expect(checksOf({ currency_from_precision: places })).toContain(
    `currency_from_precision ${places} is no number of decimal places`,
  );
});
