import type { SandboxOrder } from '../../sandbox/index.js';
import { decimal, sum, toAmount } from '../../src/contract/money.js';
import { parseFollowUpOrderId } from '../../src/contract/names.js';
import type { Remainder } from '../../src/contract/order/input-and-result.js';
import { type Evidence, type Finding, ordersById } from '../evidence/evidence.js';
import { afterWorked, beyondPools, poolsLeft } from './pools.js';

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

/** Follow-ups that move more than their order and the follow-ups before them left, and verdicts that say more is left after them. */
export function beyondRemainder({ service, followed }: Evidence): Finding[] {
  const byId = ordersById(service);
  return [...followUpsByParent(service)].flatMap(([parentId, followUps]) => {
    const { result } = followed.get(parentId) ?? {};
    const parent = byId.get(parentId)?.find(({ order }) => order.order_uuid === result?.order.order_uuid);
    return parent
      ? beyondParent(parent, followUps, result?.compensation?.order_id ? result.remainder : [])
      : followUps.map((item) => finding(item, 'follows no order of ours'));
  });
}

/** Every order that extends another, by the id of that one, in the order of their numbers. */
function followUpsByParent(service: readonly SandboxOrder[]): Map<string, SandboxOrder[]> {
  const numbered = service.flatMap((item) => {
    const id = parseFollowUpOrderId(item.order.user_order_id);
    return id ? [{ ...id, item }] : [];
  });
  const byParent = new Map<string, SandboxOrder[]>();
  for (const { extendsOrderId, item } of numbered.sort((a, b) => a.n - b.n)) {
    byParent.set(extendsOrderId, [...(byParent.get(extendsOrderId) ?? []), item]);
  }
  return byParent;
}

function beyondParent(parent: SandboxOrder, followUps: readonly SandboxOrder[], told: Remainder[] = []): Finding[] {
  if (parent.order.status === 'completed') return followUps.map((item) => finding(item, 'follows a completed order'));
  const findings: Finding[] = [];
  let pools = poolsLeft(parent);
  for (const followUp of followUps) {
    const beyond = beyondPools(parent.order, pools, followUp);
    // What was taken in excess is taken once: the next one is judged by what was there before.
    if (beyond === undefined) pools = afterWorked(parent.order, pools, followUp);
    else findings.push(finding(followUp, `asks for more than is left: ${beyond}`));
  }
  for (const { kind, amount } of told) {
    const left = pools[kind === 'unpaid' ? 'to' : 'from'];
    if (decimal(amount).gt(left)) findings.push(finding(parent, `says ${amount} ${kind}, of ${toAmount(left)} left`));
  }
  return findings;
}

const finding = ({ order: { user_order_id: orderId } }: SandboxOrder, what: string): Finding => ({
  orderId,
  text: `${orderId} ${what}`,
});
