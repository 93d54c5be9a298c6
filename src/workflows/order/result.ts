import type { Amount } from '../../contract/money.js';
import { decimal, toAmount } from '../../contract/money.js';
import type { Order } from '../../contract/order/order.js';
import { isFinal } from '../../contract/order/order.js';
import type { OrderResult } from '../../contract/order/result.js';
import type { OrderRun } from './run.js';

/** Actual − expected; undefined where there is no actual amount or no difference. */
function differenceOf(actual: Amount | null, expected: Amount): Amount | undefined {
  if (actual === null) return undefined;
  const difference = decimal(actual).minus(decimal(expected));
  return difference.eq(0) ? undefined : toAmount(difference);
}

/** A completed order may differ from what was asked for (underpaid deposit, strict payout at another rate). */
function differencesOf(order: Order): OrderResult['difference'] {
  const from = differenceOf(order.amount_from, order.expected_amount_from);
  const to = differenceOf(order.amount_to, order.expected_amount_to);
  return from || to ? { ...(from && { from }), ...(to && { to }) } : undefined;
}

/** Puts the workflow's result together: what the first final look-up showed, and what was done about it. */
export function resultOf(
  run: OrderRun,
  about: Pick<OrderResult, 'remainder' | 'remainderUnknown' | 'compensation'>,
): OrderResult {
  const order = run.finalOrder;
  if (!order || !isFinal(order.status)) throw new Error('a result needs a final order');
  const difference = differencesOf(order);
  return {
    outcome: order.status,
    order,
    adopted: run.adopted,
    ...(run.notes && { notes: run.notes }),
    ...(run.echoDifferences && { echoDifferences: run.echoDifferences }),
    ...(difference && { difference }),
    ...(about.remainder?.length && { remainder: about.remainder }),
    ...(about.remainderUnknown && { remainderUnknown: about.remainderUnknown }),
    ...(about.compensation && { compensation: about.compensation }),
    ...(run.decisions.length > 0 && { decisions: run.decisions }),
  };
}
