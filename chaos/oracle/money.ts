import type { SandboxOrder } from '../../sandbox/index.js';
import { parseFollowUpOrderId } from '../../src/contract/ids.js';
import { decimal, sum, toAmount } from '../../src/contract/money.js';
import { type Evidence, type Finding, ordersById } from '../evidence/evidence.js';

/**
 * Per currency: the balance at the start and every change of every order make the balance at the end, and so do the changes
 * of those orders alone that our verdicts name. Money that moved outside of a verdict shows as the difference.
 */
export function moneyDifference(evidence: Evidence): Finding[] {
  const { service, followed } = evidence;
  const named = new Set([...followed.values()].map(({ result }) => result?.order.order_uuid));
  const inVerdicts = service.filter(({ order }) => named.has(order.order_uuid));
  return [...differenceTo(service, evidence, 'all orders'), ...differenceTo(inVerdicts, evidence, 'all verdicts')];
}

function differenceTo(orders: readonly SandboxOrder[], { ledger }: Evidence, name: string): Finding[] {
  const changes = orders.flatMap(({ balance_changes }) => balance_changes);
  return Object.entries(ledger.end).flatMap(([currency, end]) => {
    const moved = sum(
      changes.filter((change) => change.currency === currency).map((change) => decimal(change.amount_change)),
    );
    const difference = decimal(end)
      .minus(decimal(ledger.start[currency] ?? '0'))
      .minus(moved);
    if (difference.eq(0)) return [];
    return [{ text: `${currency}: the balance is off by ${toAmount(difference)} against ${name}` }];
  });
}

/** Follow-ups that move more than their order left, or something that it did not leave. */
export function beyondRemainder({ service, followed }: Evidence): Finding[] {
  const byId = ordersById(service);
  return service.flatMap(({ order }) => {
    const followUp = parseFollowUpOrderId(order.user_order_id);
    if (!followUp) return [];
    const parentUuid = followed.get(followUp.parentOrderId)?.result?.order.order_uuid;
    const parent = byId.get(followUp.parentOrderId)?.find((item) => item.order.order_uuid === parentUuid);
    if (!parent) return [{ orderId: order.user_order_id, text: `${order.user_order_id} follows no order of ours` }];
    const { truth } = parent;
    const left = order.currency_from === parent.order.currency_from ? [truth.unexchanged] : [];
    const leftPaid = order.currency_from === parent.order.currency_to ? [truth.unpaid] : [];
    const allowed = sum([...left, ...leftPaid].map((amount) => decimal(amount)));
    if (decimal(order.expected_amount_from).lte(allowed)) return [];
    const text = `${order.user_order_id} asks for ${order.expected_amount_from} ${order.currency_from}, left were ${toAmount(allowed)}`;
    return [{ orderId: order.user_order_id, text }];
  });
}
