import { expect, test } from 'vitest';
import { underFire } from '../../chaos/faults.js';
import { planOrders } from '../../chaos/inputs.js';
import { changeSettings, DEFAULT_SETTINGS } from '../../sandbox/options.js';
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

test('the faults under fire add up to the promised rates', () => {
  const { faults, duplicateMode } = changeSettings(DEFAULT_SETTINGS, underFire('1'));
  const rateOf = (pattern: RegExp) =>
    Object.entries(faults).reduce((total, [name, rate]) => (pattern.test(name) ? total + rate : total), 0);
  expect(rateOf(/^create\.5\d\d-after$/)).toBeCloseTo(0.2);
  expect(rateOf(/^create\.5\d\d-before$/)).toBeCloseTo(0.05);
  expect(rateOf(/^create\.no-answer/)).toBeCloseTo(0.1);
  expect(rateOf(/^create\.reset/)).toBeCloseTo(0.05);
  expect(rateOf(/^create\.(html|truncated|status-error)$/)).toBeCloseTo(0.05);
  expect(rateOf(/^create\.429-after$/)).toBeCloseTo(0.02);
  expect(rateOf(/^(create|status|list)\.echo-/)).toBeCloseTo(3 * 0.09);
  expect(rateOf(/^status\.(?!echo-)/)).toBeCloseTo(0.2);
  expect(rateOf(/^list\.(?!echo-)/)).toBeCloseTo(0.2);
  expect(duplicateMode).toBe('c');
});
