import type { SandboxOrder } from '../../sandbox/index.js';
import { isOrderFailure } from '../../src/contract/failures.js';
import { sameAmount } from '../../src/contract/money.js';
import type { Remainder } from '../../src/contract/order/input-and-result.js';
import { type Evidence, type Finding, type FollowedOrder, ordersById } from '../evidence/evidence.js';

/** Order ids that the service executed more than once; one finding per order too many. */
export function doubles({ service }: Evidence): Finding[] {
  return [...ordersById(service)].flatMap(([orderId, orders]) =>
    orders.slice(1).map(() => ({ orderId, text: `${orderId} was executed ${orders.length} times` })),
  );
}

/** Orders that were accepted and came to no verdict: no workflow, or one that ended without saying what became of it. */
export function lost({ accepted, followed }: Evidence): Finding[] {
  const unknown = [...accepted].filter((orderId) => !followed.has(orderId));
  const withoutVerdict = [...followed.values()].filter((order) => order.end !== 'open' && !hasVerdict(order));
  return [
    ...unknown.map((orderId) => ({ orderId, text: `${orderId} was accepted, but Temporal has no workflow for it` })),
    ...withoutVerdict.map(({ orderId, end, failureType }) => ({
      orderId,
      text: `${orderId} ended ${end}${failureType ? ` (${failureType})` : ''}: no verdict`,
    })),
  ];
}

const hasVerdict = ({ result, failureType }: FollowedOrder): boolean =>
  result !== undefined || isOrderFailure(failureType);

/** Orders that the service has under our ids and that no workflow follows. */
export function orphans({ service, followed }: Evidence): Finding[] {
  return service.flatMap(({ order: { user_order_id: orderId, order_uuid: uuid } }) => {
    const workflow = followed.get(orderId);
    const other = workflow?.result && workflow.result.order.order_uuid !== uuid;
    if (workflow && !other) return [];
    return [{ orderId, text: `order ${uuid} of ${orderId} is followed by nobody` }];
  });
}

/** Orders that we declared not to exist and that the service executed. */
export function falseRejects({ service, followed }: Evidence): Finding[] {
  const executed = ordersById(service);
  return [...followed.values()].flatMap(({ orderId, failureType }) =>
    failureType !== undefined && executed.has(orderId)
      ? [{ orderId, text: `${orderId} ended as ${failureType}, but the service executed it` }]
      : [],
  );
}

const AMOUNTS = ['amount_from', 'amount_to', 'amount_from_fee', 'amount_to_fee'] as const;

/** Verdicts that differ from what the service did: status, amounts, or what is left. */
export function falseFinals({ service, followed }: Evidence): Finding[] {
  const byUuid = new Map(service.map((item) => [item.order.order_uuid, item]));
  return [...followed.values()].flatMap((order) => {
    const { orderId, result } = order;
    if (!result) return [];
    const actual = byUuid.get(result.order.order_uuid);
    if (!actual) return [{ orderId, text: `${orderId} names order ${result.order.order_uuid}, which does not exist` }];
    return differences(order, actual).map((difference) => ({ orderId, text: `${orderId}: ${difference}` }));
  });
}

function differences({ result }: FollowedOrder, { order, truth }: SandboxOrder): string[] {
  if (!result) return [];
  const wrong = result.outcome === order.status ? [] : [`verdict ${result.outcome}, service ${order.status}`];
  for (const field of AMOUNTS) {
    if (!sameAmount(result.order[field], order[field])) {
      wrong.push(`${field} ${result.order[field]}, service ${order[field]}`);
    }
  }
  const { outcome, remainderUnknown, compensation } = result;
  // After follow-ups, `beyondRemainder` judges what is left.
  const told = outcome === 'completed_partially' && remainderUnknown === undefined && !compensation?.order_id;
  if (told && !sameAmount(remainderOf(result.remainder, 'unexchanged'), truth.unexchanged)) {
    wrong.push(`unexchanged ${remainderOf(result.remainder, 'unexchanged')}, really ${truth.unexchanged}`);
  }
  if (told && !sameAmount(remainderOf(result.remainder, 'unpaid'), truth.unpaid)) {
    wrong.push(`unpaid ${remainderOf(result.remainder, 'unpaid')}, really ${truth.unpaid}`);
  }
  return wrong;
}

const remainderOf = (remainder: readonly Remainder[] | undefined, kind: Remainder['kind']): string =>
  remainder?.find((part) => part.kind === kind)?.amount ?? '0';

/** Workflows that are open and do not wait for a person. */
export function openOrders({ followed }: Evidence): Finding[] {
  return [...followed.values()].flatMap(({ orderId, end, parkedFor }) =>
    end === 'open' && parkedFor === undefined ? [{ orderId, text: `${orderId} is still open and not parked` }] : [],
  );
}

/** Orders that still wait for a person after the operator's round. */
export function parkedOrders({ followed }: Evidence): Finding[] {
  return [...followed.values()].flatMap(({ orderId, parkedFor }) =>
    parkedFor === undefined ? [] : [{ orderId, text: `${orderId} is parked: ${parkedFor}` }],
  );
}
