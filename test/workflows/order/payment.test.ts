import { expect, test } from 'vitest';
import { paymentOf } from '../../../src/workflows/order/payment.js';

test('a payout that is known from the service alone says who knows its payee', () => {
  const request = { order_id: 'o', currency: 'usd', network: 'card', amount: '5' } as never;
  const { payee } = paymentOf({ type: 'withdraw', request, input: {}, parked: { offers: [], candidates: [] } });
  expect(payee).toBe('a payee that only the service names (card)');
});
