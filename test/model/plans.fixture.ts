import fc from 'fast-check';
import type { CompensationPolicy, OrderInput } from '../../src/contract/order/input-and-result.js';
import { ORDER_TYPES, type OrderType } from '../../src/contract/order/types.js';
import { validateOrderInput } from '../../src/validation/order-input.js';
import { orderInput } from '../support/inputs.js';

/** How the sandbox ends an order that exists. */
export type Outcome = 'completed' | 'completed_partially' | 'canceled' | 'error';

/** What the first create is answered with. All but the refusals leave its caller in doubt. */
const EXECUTED = [
  '500',
  '502',
  '503-later',
  'reset',
  'truncated',
  'html',
  '400-after',
  '429-after',
  '302-after',
  'no-answer',
] as const;
const NOT_EXECUTED = ['500-before', '504-before', 'reset-before', 'no-answer-before', '401', '429', '400'] as const;

/** Longer than the service ever takes here to show or execute an order, as the settle window has to be. */
export const SETTLE_WINDOW_MS = { atOnce: 2_000, deposit: 1_500 };
const LAGS_MS = [0, 0, 300, 1_300, 1_300];
const LATER_MS = 1_000;

/** The whole fate of one order, drawn before it is started. */
export interface Plan {
  type: OrderType;
  /** Absent: the first create is answered as it should be. */
  create?: (typeof EXECUTED)[number] | (typeof NOT_EXECUTED)[number];
  outcome: Outcome;
  left: 'unexchanged' | 'unpaid' | 'both';
  /**
   * How long the service does not show the order. Without effect on what is executed late already, and on what a 400
   * hides: where nothing moves at create, that is believed after one look-up.
   */
  lagMs: number;
  afterMs: number;
  callback: 'drop' | 'sent';
  compensation?: CompensationPolicy;
  resend: 'once' | 'never';
}

/** Where refunds go. */
export const REVERT_TO = { network: 'card', wallet: '5555555555554444' };

/** True where the service refuses the first create, and so the order. */
export const isRefused = ({ create }: Plan): boolean => create === '400';

/** The sandbox's marker. `duplicate=c`: a second create is executed as a second payment, so that none stays unseen. */
function markerOf({ type, create, outcome, left, lagMs, afterMs, callback }: Plan): string {
  const twoRemainders = outcome === 'completed_partially' && type.includes('exchange_withdraw');
  return [
    `duplicate=c outcome=${outcome} pay_ms=20 after_ms=${afterMs}`,
    outcome === 'completed_partially' && 'fraction=0.4',
    twoRemainders && `left=${left}`,
    create && `create=${create} later_ms=${LATER_MS}`,
    lagMs > 0 && create !== '400-after' && create !== '503-later' && `lag_ms=${lagMs}`,
    callback === 'drop' && 'callback=drop',
  ]
    .filter(Boolean)
    .join(' ');
}

/** The input that an order with this plan is started with. */
export function inputOf(plan: Plan, orderId: string): OrderInput {
  const { type, compensation, resend } = plan;
  return orderInput(type, orderId, {
    marker: markerOf(plan),
    resend,
    ...(compensation && { compensation }),
    ...(compensation === 'revert' && type.startsWith('deposit_') && { revertTo: REVERT_TO }),
  } as object);
}

const often = <T>(weight: number, value: T) => ({ weight, arbitrary: fc.constant(value) });

/** Every plan that the product accepts; two creates of three go wrong, time-outs (20 s each) rarely. */
export const plans: fc.Arbitrary<Plan> = fc
  .record({
    type: fc.constantFrom(...ORDER_TYPES),
    create: fc.oneof(
      often(20, undefined),
      ...EXECUTED.map((fault) => often(fault === 'no-answer' ? 1 : 3, fault)),
      ...NOT_EXECUTED.map((fault) => often(fault === 'no-answer-before' ? 1 : 2, fault)),
    ),
    outcome: fc.oneof(
      often<Outcome>(3, 'completed'),
      often<Outcome>(4, 'completed_partially'),
      often<Outcome>(1, 'canceled'),
      often<Outcome>(1, 'error'),
    ),
    left: fc.constantFrom('unexchanged' as const, 'unpaid' as const, 'both' as const),
    lagMs: fc.constantFrom(...LAGS_MS),
    afterMs: fc.constantFrom(20, 300, 2_000),
    callback: fc.constantFrom('sent' as const, 'sent' as const, 'drop' as const),
    compensation: fc.constantFrom(undefined, 'report' as const, 'finish' as const, 'revert' as const, 'ask' as const),
    resend: fc.oneof(often(3, 'once' as const), often(1, 'never' as const)),
  })
  .filter((plan) => 'input' in validateOrderInput(plan.type, inputOf(plan, 'plan')));
