import { decidedBy } from '../../contract/attention.js';
import { maskWords } from '../../contract/masking.js';
import { covers } from '../../contract/money.js';
import { SEND_TIMEOUT_MS } from '../../contract/order/activities.js';
import type { TakenDecision } from '../../contract/order/messages.js';
import { type Looking, lookUp } from '../ask/ask.js';
import { enterPhase, type ParkQuestion } from '../order/show.js';
import { answeredIn, type OrderRun } from '../order/state.js';
import { adoption } from './adoption.js';
import type { Outcome } from './apply-outcome.js';
import { type Seen, seenIn, wasEverInDoubt } from './facts.js';
import type { Question } from './next-action.js';

/** Returns what a decision means for the create, or the next question if it had no effect. */
export async function outcomeOf(
  run: OrderRun,
  about: Question,
  asked: ParkQuestion,
  decision: TakenDecision,
): Promise<Outcome | ParkQuestion> {
  const by = maskWords(decision.by);
  const atMs = Date.now();
  const who = decidedBy({ ...decision, at: new Date(atMs).toISOString() });
  const closing = { kind: 'closing', by: who, atMs } as const;
  switch (decision.action) {
    case 'close-absent':
      return closing;
    case 'refuse':
      return { ...closing, refused: 'why' in about ? about.why : asked.reason };
    case 'release':
      return { kind: 'released', untilMs: atMs + SEND_TIMEOUT_MS, place: run.sentTo ? 'asked' : 'unknown' };
    case 'approve':
      if (about.kind === 'short') {
        run.funds.isGranted = true;
        return { kind: 'unblocked' };
      }
      if (about.kind === 'policy') return approvalOfRules(run, about, asked, decision.by);
      run.approved.amount = about.kind === 'overCap' ? about.toApprove : undefined;
      return { kind: 'unblocked' };
    case 'adopt': {
      const asking = { summary: 'Look up the chosen order', orderUuid: decision.order_uuid };
      const seen = await look(run, `a look-up of the order that ${by} chose`, asking);
      const conflict = about.kind === 'conflict' ? about.conflict : undefined;
      return adoption(run, conflict, asked, seen, { ...decision, by });
    }
    default:
      if (about.kind === 'short') return { kind: 'awaits' };
      return permits(about) ? { kind: 'permitted', readIn: answeredIn(run) } : { kind: 'unblocked' };
  }
}

/** Counts a person's approval of every breached rule. Asks again until enough persons approved. */
function approvalOfRules(
  run: OrderRun,
  { why, rules }: Extract<Question, { kind: 'policy' }>,
  asked: ParkQuestion,
  person: string,
): Outcome | ParkQuestion {
  const { rules: before } = run.approved;
  const others = before.filter(({ terms }) => rules.every((one) => one.terms !== terms));
  const approved = rules.map((one) => {
    // Approvals of a changed rule or a smaller amount do not count.
    const { by = [] } = before.find(({ terms, amount }) => terms === one.terms && covers(amount, one.amount)) ?? {};
    return { ...one, by: [...new Set([...by, person])] };
  });
  run.approved.rules = [...others, ...approved];
  const lacking = approved.filter(({ by, approvers }) => by.length < approvers);
  if (lacking.length === 0) return { kind: 'unblocked' };
  const missing = lacking.map(({ rule, by, approvers }) => {
    return `${rule}: approved by ${by.map(maskWords).join(' and ')}, ${approvers - by.length} more must approve`;
  });
  return { ...asked, reason: `${why}. ${missing.join('; ')}` };
}

/**
 * Returns true for questions about a send, which 'resend' permits. In others, it only ends a wait.
 */
const permits = ({ kind }: Question): boolean => kind === 'uncertain' || kind === 'hidden' || kind === 'late';

export async function look(run: OrderRun, waitingFor: string, asking: Looking): Promise<Seen> {
  enterPhase(run, wasEverInDoubt(run.facts) ? 'uncertain' : 'creating', waitingFor);
  return seenIn(run, await lookUp(run, { ...asking, alarm: true }));
}
