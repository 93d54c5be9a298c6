import { expect, test } from 'vitest';
import { changeText, NO_ORDER, shownOf } from '../../src/contract/order/after-end.js';
import type { Order } from '../../src/contract/service-objects.js';

const AMOUNTS = { amount_from: '12.50', amount_to: '12.5', amount_from_fee: null, amount_to_fee: '0.1' };
const order = (fields: Partial<Order> = {}) =>
  shownOf({ order_uuid: 'u-1', status: 'completed', ...AMOUNTS, ...fields } as Order);

test.for<[what: string, was: string, now: string, before: string, shown: string]>([
  [
    'its status and the amounts that changed',
    order(),
    order({ status: 'error', amount_to: null, amount_from_fee: '0.2' }),
    'order u-1 completed',
    'order u-1 error. Changed: status completed → error, amount_to 12.5 → none, amount_from_fee none → 0.2',
  ],
  [
    'an amount alone',
    order(),
    order({ amount_to: '9' }),
    'order u-1 completed',
    'order u-1 completed. Changed: amount_to 12.5 → 9',
  ],
  [
    'money that moved, with figures that stay',
    order(),
    `${order()}; its balance changes leave 5 usd (of 12.5)`,
    'order u-1 completed',
    'order u-1 completed; its balance changes leave 5 usd (of 12.5)',
  ],
  [
    'a status of several words',
    order({ status: 'on hold (by us)' }),
    order(),
    'order u-1 on hold (by us)',
    'order u-1 completed. Changed: status on hold (by us) → completed',
  ],
  ['another order in full', order(), order({ order_uuid: 'u-2' }), order(), order({ order_uuid: 'u-2' })],
  ['an order where there was none in full', NO_ORDER, order(), NO_ORDER, order()],
  ['several orders in full', order(), 'several orders: u-1, u-2', order(), 'several orders: u-1, u-2'],
])('a change after the end shows %s', ([, was, now, before, shown]) => {
  expect(changeText(was, now)).toEqual({ before, shown });
});
