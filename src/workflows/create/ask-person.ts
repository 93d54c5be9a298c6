import { CancellationScope, condition } from '@temporalio/workflow';
import { maskWords } from '../../contract/masking.js';
import type { TakenDecision } from '../../contract/order/messages.js';
import { watch } from '../activity-calls.js';
import { lookUp } from '../ask/ask.js';
import { type ParkQuestion, parkUnless } from '../order/decision.js';
import { enterPhase } from '../order/show.js';
import type { OrderRun } from '../order/state.js';
import { type Outcome, record } from './apply-outcome.js';
import type { Question } from './next-action.js';
import { askedAbout } from './questions.js';
import { look, seenIn } from './readings.js';
import { isFollowable, type Seen } from './seen.js';

/** Time in which the service accepts no order of the account before an operator is asked. */
const OUTAGE_MS = 60 * 60_000;

/** Keeps the workflow open until an operator decides, or until the question is obsolete (`isChanged`). */
export async function askPerson(run: OrderRun, about: Question, isChanged: () => boolean): Promise<void> {
  const asking = new CancellationScope();
  const later = waitsForLater(about) ? asking.run(() => awaitLater(run)) : undefined;
  const answered = later ? watch(later) : () => false;
  const isOver = () => answered() || isChanged();
  try {
    if (about.kind === 'uncertain' && about.waitsFor === 'an accepted order') {
      enterPhase(run, 'uncertain', 'an order that the service accepts: then this one is sent again');
      await condition(isOver, OUTAGE_MS, { summary: 'Before a person is asked' });
    }
    for (let asked: ParkQuestion | undefined = askedAbout(run, about); asked; ) {
      const decision = isOver() ? undefined : await parkUnless(run, asked, isOver);
      if (!decision) break;
      const result = await outcomeOf(run, about, asked, decision);
      asked = 'code' in result ? result : undefined;
      if (!('code' in result)) record(run, result);
    }
    if (later && answered()) record(run, laterOutcome(await later));
  } finally {
    asking.cancel();
  }
}

/** Returns true for questions about a send: there, 'resend' permits it. Elsewhere it only ends a wait. */
const permits = ({ kind }: Question): boolean => kind === 'uncertain' || kind === 'hidden' || kind === 'late';

const waitsForLater = (about: Question): boolean =>
  about.kind === 'hidden' || (about.kind === 'uncertain' && about.waitsFor !== undefined);

/** Reads the order once the service shows one that it accepted later. The server repeats this without history. */
async function awaitLater(run: OrderRun): Promise<Seen> {
  const { doubt = run.facts.absence?.doubt } = run.facts;
  const summary = 'Does the service show what it accepted later?';
  return seenIn(run, await lookUp(run, { summary, sentUntilMs: doubt?.untilMs, awaitsLater: true }));
}

const laterOutcome = (seen: Seen): Outcome =>
  seen.kind === 'absent' ? { kind: 'later', control: seen.control ?? { whole: true } } : { kind: 'seen', seen };

/** Returns what a decision means for the create, or the next question if it had no effect. */
async function outcomeOf(
  run: OrderRun,
  about: Question,
  asked: ParkQuestion,
  decision: TakenDecision,
): Promise<Outcome | ParkQuestion> {
  const by = maskWords(decision.by);
  const atMs = Date.now();
  switch (decision.action) {
    case 'adopt': {
      const asking = { summary: 'Look up the chosen order', orderUuid: decision.order_uuid };
      const seen = await look(run, `a look-up of the order that ${by} chose`, asking);
      return adoption(run, about, asked, seen, { ...decision, by });
    }
    case 'close-absent':
      return { kind: 'closing', by, atMs };
    case 'refuse':
      return { kind: 'closing', by, refused: asked.reason, atMs };
    case 'approve':
      run.approved = about.kind === 'overCap' ? about.toApprove : undefined;
      return { kind: 'unblocked' };
    default:
      return permits(about) ? { kind: 'permitted', readIn: run.answeredIn } : { kind: 'unblocked' };
  }
}

/**
 * Adopts the chosen order if it is ours. Another one needs our id, or a form of it, and a decision
 * that names exactly the fields in which it differs.
 */
function adoption(
  { request: { order_id: orderId } }: OrderRun,
  about: Question,
  asked: ParkQuestion,
  seen: Seen,
  { by, order_uuid: orderUuid, differences: named = [] }: TakenDecision,
): Outcome | ParkQuestion {
  if (seen.kind === 'ours') return { kind: 'adopted', ours: seen };
  const conflict = about.kind === 'conflict' ? about.conflict : undefined;
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
