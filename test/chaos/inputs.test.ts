import { expect, test } from 'vitest';
import { planOrders } from '../../chaos/inputs.js';
import { ORDER_TYPES } from '../../src/contract/order/types.js';
import { validateOrderInput } from '../../src/validation/order-input.js';

test('every planned order is valid, all six types and both policies occur, and a seed plans the same again', () => {
  const planned = planOrders(400, 'plan');
  const refused = planned.filter(({ type, input }) => 'errors' in validateOrderInput(type, input));
  expect(refused).toEqual([]);
  expect(new Set(planned.map(({ type }) => type))).toEqual(new Set(ORDER_TYPES));
  expect(new Set(planned.map(({ input }) => input.compensation))).toEqual(new Set(['finish', 'report']));
  expect(new Set(planned.map(({ orderId }) => orderId)).size).toBe(400);
  expect(planOrders(400, 'plan')).toEqual(planned);
  expect(planOrders(400, 'other')).not.toEqual(planned);
});
