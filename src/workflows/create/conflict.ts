import { maskWords } from '../../contract/masking.js';
import type { LookUpReading } from '../../contract/order/answers.js';
import type { Decision } from '../../contract/order/messages.js';
import { lookUp } from '../ask/ask.js';
import { enterPhase } from '../order/attention.js';
import { closeUnresolved, closeWithoutOrder } from '../order/end.js';
import { park } from '../order/park.js';
import { neverSent, type OrderRun, showsNone } from '../order/run.js';
import { CREATE_TIMEOUT_MS } from '../profiles.js';
import { type Conflict, judge, takeOrder } from './adopt.js';
import { settle } from './settle.js';

/** Takes what a look-up found: our order, or something under our id that is not. Leaves 'absent' to the caller. */
export async function takeReading(run: OrderRun, reading: LookUpReading): Promise<void> {
  const finding = judge(run, reading);
  if (finding.kind === 'ours') takeOrder(run, finding.order, 'adopted', finding.soft);
  if (finding.kind === 'conflict') await meetConflict(run, finding);
}

/**
 * A conflict seen by a single look-up. Before our first send nobody is in doubt about an order of somebody else, and the
 * workflow fails; afterwards ours may be on its way beside it, so a person is asked only after a full settle.
 */
export async function meetConflict(run: OrderRun, conflict: Conflict): Promise<void> {
  if (conflict.ours.length > 0) return resolveConflict(run, conflict);
  if (neverSent(run)) {
    const advice = 'Find out whose it is; if it is this payment, start it with its own input and --again';
    closeWithoutOrder(run, 'OrderConflict', `${conflict.reason}. This run sent nothing. ${advice}`);
  }
  // Without a send of its own this run was reset: the run before may have an attempt that is still alive.
  const end = await settle(run, conflict.reason, run.sends === 0 ? CREATE_TIMEOUT_MS : 0);
  if (end.kind !== 'found') await resolveConflict(run, end.kind === 'conflict' ? end : conflict);
}

/**
 * THE end of every conflict; nothing is sent any more, whatever becomes of the other order. A person names the order to
 * follow, which passes the echo check once more, or has the order closed where none of those shown is ours.
 */
export async function resolveConflict(run: OrderRun, conflict: Conflict): Promise<void> {
  let { reason } = conflict;
  run.conflict = reason;
  while (!run.order) {
    const decision = await park(run, reason, conflict.ours.length > 0 ? ['adopt'] : ['adopt', 'close-absent']);
    if (decision.action === 'close-absent') await closeIfAbsent(run, decision.by);
    else {
      const { why } = await adoptChosen(run, decision);
      reason = why.includes(conflict.reason) ? why : `${conflict.reason}. ${why}`;
    }
  }
}

/**
 * A person wants an uncertain order closed. Their word is not enough: absence is proven once more, in full. Once a create
 * was sent, an order seen under our id even once may be what came of it: then nothing says that none of ours exists.
 */
export async function closeIfAbsent(run: OrderRun, decidedBy: string): Promise<void> {
  const by = maskWords(decidedBy);
  const end = await settle(run, 'absence is proven once more before closing');
  if (end.kind === 'found') return;
  if (end.kind === 'conflict' && end.ours.length > 0) return resolveConflict(run, end);
  // Absence was read at the account that is asked now; the one that it was sent to may be another.
  const elsewhere = run.sentToUnknown && `${showsNone(run)}, but where it was sent to is not known`;
  const seen = end.kind === 'conflict' ? end.reason : (run.conflict ?? elsewhere);
  if (!seen)
    closeWithoutOrder(run, 'OrderAbsent', `order ${run.orderId}: ${showsNone(run)}; closed as absent by ${by}`);
  if (neverSent(run) && !run.refused) {
    closeWithoutOrder(run, 'OrderConflict', `${seen}, and none is ours; closed as absent by ${by}`);
  }
  closeUnresolved(run, `${seen}; a create was sent, so it may be this payment; closed by ${by}`);
}

/** What came of a person's choice. `conflict`: the order named has our id and is not ours. */
interface Chosen {
  why: string;
  conflict?: Conflict;
}

/**
 * Takes the order a person named, if it is ours. One that is not like ours is taken only where it has our id and the person
 * named exactly the fields in which it differs: then they saw both values.
 */
export async function adoptChosen(run: OrderRun, decision: Decision): Promise<Chosen> {
  const { order_uuid: orderUuid, differences: named = [] } = decision;
  const by = maskWords(decision.by);
  enterPhase(run, 'uncertain', `a look-up of the order that ${by} chose`);
  const reading = await lookUp(run, { summary: 'Look up the chosen order', orderUuid, alarm: true });
  const finding = judge(run, reading);
  const chosen = `the order ${orderUuid}, which ${by} chose,`;
  if (finding.kind === 'ours') takeOrder(run, finding.order, 'adopted', finding.soft);
  if (finding.kind !== 'conflict') {
    const said = reading.kind === 'absent' && reading.said ? ` (order/status answers ${reading.said})` : '';
    return { why: `${chosen} is not shown by the service now${said}` };
  }
  // Another payment named by mistake is no conflict about our id: all of the decisions stay open.
  const hasOurId = reading.kind === 'found' && reading.order.user_order_id === run.orderId;
  if (!hasOurId) return { why: `${chosen} is another payment` };
  const { order, differences, soft = [] } = reading;
  if (named.length > 0 && isSameSet(named, differences)) {
    run.overruled = differences;
    run.echoDifferences = [...differences, ...soft];
    takeOrder(run, order, 'adopted');
    return { why: `${chosen} is followed` };
  }
  const advice = `to adopt it all the same, name exactly these fields as differences: ${differences.join(',')}`;
  return { why: `${chosen} is another payment by what it shows: ${finding.reason}; ${advice}`, conflict: finding };
}

const isSameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.every((item) => b.includes(item)) && b.every((item) => a.includes(item));
