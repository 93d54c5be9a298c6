import type { TakenDecision } from '../../contract/order/messages.js';
import type { ParkQuestion } from '../order/show.js';
import type { OrderRun } from '../order/state.js';
import type { Outcome } from './apply-outcome.js';
import { type Conflict, isFollowable, type Seen } from './facts.js';

/**
 * Adopts the chosen order if it is ours. Another one needs our id, or a form of it, and a decision
 * that names exactly the fields in which it differs.
 */
export function adoption(
  { request: { order_id: orderId } }: Pick<OrderRun, 'request'>,
  conflict: Conflict | undefined,
  asked: ParkQuestion,
  seen: Seen,
  { by, order_uuid: orderUuid, differences: named = [] }: TakenDecision,
): Outcome | ParkQuestion {
  if (seen.kind === 'ours') return { kind: 'adopted', ours: seen };
  /** Asks the same with a new reason, which still names the conflict. */
  const again = (what: string): ParkQuestion => {
    const why = `the order ${orderUuid}, which ${by} chose, ${what}`;
    return { ...asked, reason: conflict && !why.includes(conflict.reason) ? `${conflict.reason}. ${why}` : why };
  };
  if (seen.kind === 'absent') {
    return again(`is not shown by the service now${seen.said ? ` (order/status answers ${seen.said})` : ''}`);
  }
  const { foreign } = seen;
  const isNamed = conflict?.candidates.some(({ order_uuid }) => order_uuid === orderUuid);
  const isShown = isNamed === true && conflict !== undefined && isFollowable(conflict);
  // Another payment named by mistake is no conflict about our id, so all decisions stay open.
  if (!foreign || (foreign.order.user_order_id !== orderId && !isShown)) return again('is another payment');
  const { order, differences, soft } = foreign;
  if (named.length > 0 && [...named].sort().join() === [...differences].sort().join()) {
    return { kind: 'adopted', ours: { kind: 'ours', order, how: 'adopted', soft, acceptedDifferences: differences } };
  }
  // An order under our id rules out another send.
  if (asked.allowed.includes('resend')) return { kind: 'seen', seen };
  const advice = `to adopt it all the same, name exactly these fields as differences: ${differences.join(',')}`;
  return { ...again(`is another payment by what it shows: ${seen.reason}; ${advice}`), candidates: seen.candidates };
}
