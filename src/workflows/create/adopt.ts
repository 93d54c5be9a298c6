import type { Asked } from '../order/park.js';
import type { Candidate, OrderRun } from '../order/state.js';
import type { Question } from './next-action.js';
import { type Conflict, isFollowable, MAX_CANDIDATES, type Ours, type Seen } from './readings.js';

/** An order that a person named, and what a look-up of it showed. */
interface Choice {
  seen: Seen;
  by: string;
  orderUuid: string | undefined;
  /** Fields in spite of which it is to be adopted. */
  differences: readonly string[];
}

/**
 * The order a person named is taken if it is ours. One that is not like ours is taken only where it has our id or a form of it, and the person named exactly the fields in which it differs: then they saw both values. Otherwise
 * returns what to ask from here on.
 */
export function adoptedBy(
  { request: { order_id: orderId } }: OrderRun,
  about: Question,
  asked: Asked,
  { seen, by, orderUuid, differences: named }: Choice,
): Ours | Conflict | Asked {
  if (seen.kind === 'ours') return seen;
  const chosen = `the order ${orderUuid}, which ${by} chose,`;
  if (seen.kind === 'absent') {
    const said = seen.said ? ` (order/status answers ${seen.said})` : '';
    return askAgain(about, asked, `${chosen} is not shown by the service now${said}`);
  }
  const { foreign } = seen;
  const isShown = about.kind === 'conflict' && isFollowable(about.conflict) && isAmong(about.conflict, orderUuid);
  // Another payment named by mistake is no conflict about our id: all of the decisions stay open.
  if (!foreign || (foreign.order.user_order_id !== orderId && !isShown)) {
    return askAgain(about, asked, `${chosen} is another payment`);
  }
  const { order, differences, soft } = foreign;
  if (named.length > 0 && isSameSet(named, differences)) {
    return { kind: 'ours', order, how: 'adopted', soft, overruled: differences };
  }
  // What has our id ends every thought of sending again.
  if (asked.allowed.includes('resend')) return seen;
  const advice = `to adopt it all the same, name exactly these fields as differences: ${differences.join(',')}`;
  const again = askAgain(about, asked, `${chosen} is another payment by what it shows: ${seen.reason}; ${advice}`);
  return { ...again, candidates: withCandidates(asked, seen) };
}

const isAmong = ({ candidates }: Conflict, orderUuid: string | undefined): boolean =>
  candidates.some((candidate) => candidate.order_uuid === orderUuid);

/** The same question, after what became of a choice; what the conflict is about stays in sight. */
function askAgain(about: Question, asked: Asked, why: string): Asked {
  const conflict = about.kind === 'conflict' ? about.conflict.reason : undefined;
  return { ...asked, reason: conflict && !why.includes(conflict) ? `${conflict}. ${why}` : why };
}

/** What was read of an order replaces what was known of it before. */
function withCandidates({ candidates = [] }: Asked, { candidates: seen }: Conflict): Candidate[] {
  const others = candidates.filter((one) => seen.every((another) => another.order_uuid !== one.order_uuid));
  return [...seen, ...others].slice(0, MAX_CANDIDATES);
}

const isSameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.every((item) => b.includes(item)) && b.every((item) => a.includes(item));
