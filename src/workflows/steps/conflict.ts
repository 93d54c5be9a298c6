import type { LookUpReading } from '../../contract/answers.js';
import { maskWords } from '../../contract/masking.js';
import type { Decision } from '../../contract/orders.js';
import { type Conflict, judge, takeOrder } from './adopt.js';
import { closeWithoutOrder } from './close.js';
import { lookUp } from './look-up.js';
import { neverSent, type OrderRun } from './order-run.js';
import { park } from './park.js';
import { enterPhase } from './phase.js';
import { CREATE_TIMEOUT_MS } from './profiles.js';
import { settle } from './settle.js';

/** Takes what a look-up found: our order, or something under our id that is not. Leaves 'absent' to the caller. */
export async function takeReading(run: OrderRun, reading: LookUpReading): Promise<void> {
  const finding = judge(reading);
  if (finding.kind === 'ours') takeOrder(run, finding.order, 'adopted');
  if (finding.kind === 'conflict') await meetConflict(run, finding);
}

/**
 * A conflict seen by a single look-up. Before our first send nobody is in doubt about an order of somebody else, and the
 * workflow fails; afterwards ours may be on its way beside it, so a person is asked only after a full settle.
 */
export async function meetConflict(run: OrderRun, conflict: Conflict): Promise<void> {
  if (conflict.ours.length > 0) return resolveConflict(run, conflict);
  if (neverSent(run)) {
    const advice =
      'If it is this payment, start it again with its own input and --again; otherwise use another order id';
    closeWithoutOrder(run, 'OrderConflict', `${conflict.reason}. Nothing was sent. ${advice}`);
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
  while (!run.order) {
    const decision = await park(run, reason, conflict.ours.length > 0 ? ['adopt'] : ['adopt', 'close-absent']);
    if (decision.action === 'close-absent') await closeIfAbsent(run, decision.by);
    else reason = `${conflict.reason}. ${(await adoptChosen(run, decision)).why}`;
  }
}

/** A person wants an uncertain order closed. Their word is not enough: absence is proven once more, in full. */
export async function closeIfAbsent(run: OrderRun, decidedBy: string): Promise<void> {
  const by = maskWords(decidedBy);
  const end = await settle(run, 'absence is proven once more before closing');
  if (end.kind === 'found') return;
  if (end.kind === 'conflict' && end.ours.length > 0) return resolveConflict(run, end);
  if (end.kind === 'absent')
    closeWithoutOrder(run, 'OrderAbsent', `the service has no order ${run.orderId}; closed as absent by ${by}`);
  closeWithoutOrder(run, 'OrderConflict', `${end.reason}, and none is ours; closed as absent by ${by}`);
}

/** What came of a person's choice. `conflict`: the order named has our id and is not ours. */
interface Chosen {
  why: string;
  conflict?: Conflict;
}

/** Takes the order a person named, if it is ours; nobody can adopt a different payment. */
export async function adoptChosen(run: OrderRun, { order_uuid: orderUuid, by: decidedBy }: Decision): Promise<Chosen> {
  const by = maskWords(decidedBy);
  enterPhase(run, 'uncertain', `a look-up of the order that ${by} chose`);
  const reading = await lookUp(run, { summary: 'Look up the chosen order', orderUuid, alarm: true });
  const finding = judge(reading);
  if (finding.kind === 'ours') takeOrder(run, finding.order, 'adopted');
  // Another payment named by mistake is no conflict about our id: all of the decisions stay open.
  const hasOurId = reading.kind === 'found' && reading.order.user_order_id === run.orderId;
  const what = finding.kind === 'absent' ? 'is not shown by the service now' : 'is another payment';
  const why = `the order ${orderUuid}, which ${by} chose, ${what}`;
  return { why, ...(finding.kind === 'conflict' && hasOurId && { conflict: finding }) };
}
