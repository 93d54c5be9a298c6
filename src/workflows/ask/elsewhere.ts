import { CancellationScope, condition } from '@temporalio/workflow';
import type { ElsewhereAnswer } from '../../contract/order/activities.js';
import type { Attention } from '../../contract/order/messages.js';
import { watch } from '../activity-calls.js';
import { applyOutcome } from '../create/facts.js';
import { recordOf } from '../order/decision.js';
import { clearAttention, raiseAttention } from '../order/show.js';
import type { OrderRun } from '../order/state.js';

/** What a look-up is told besides its question: see LookUpInput. */
export interface AskMore {
  told?: string;
  delayMs?: number;
}

/** A reading, or that the account asked is not shown to be the order's. */
type Answered<T> = T | ElsewhereAnswer;

/** True for what is no reading. */
export const isElsewhere = <T extends { kind: string }>(answer: Answered<T>): answer is ElsewhereAnswer =>
  answer.kind === 'elsewhere';

const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [1_000, 15 * 60_000];

/**
 * Another account answers, or one that may be another: its answers do not count. Waits until the account is set back, in one
 * look-up that the server repeats without history, or until a person says that both are the same account. That is offered
 * only where nothing contradicts it.
 */
export async function untilSameAccount<T extends { kind: string }>(
  run: OrderRun,
  first: ElsewhereAnswer,
  ask: (more: AskMore) => Promise<Answered<T>>,
): Promise<T> {
  let answer: Answered<T> = first;
  // Ever more slowly: where two workers are wrong in two ways, each change costs history.
  for (let waitMs = 0; isElsewhere(answer); waitMs = Math.min(2 * waitMs || FIRST_WAIT_MS, LONGEST_WAIT_MS)) {
    const found: ElsewhereAnswer = answer;
    const more = { told: found.why, ...(waitMs > 0 && { delayMs: waitMs }) };
    const next = await setBackOrConfirmed(run, found, () => ask(more));
    // What was confirmed is asked at once.
    answer = next ?? (await ask({}));
  }
  return answer;
}

/** The next answer; undefined when a person confirmed the account first. */
async function setBackOrConfirmed<T>(
  run: OrderRun,
  found: ElsewhereAnswer,
  ask: () => Promise<T>,
): Promise<T | undefined> {
  const shown = tell(run, found);
  const asking = new CancellationScope();
  const pending = asking.run(ask);
  const answered = watch(pending);
  // Other steps ask for decisions, too: a decision is meant for this one only while its own question is shown.
  const decided = () => run.attention === shown && run.decision !== undefined;
  try {
    await condition(() => answered() || decided());
  } finally {
    if (run.elsewhere === shown) run.elsewhere = undefined;
  }
  const decision = decided() ? run.decision : undefined;
  if (decision) {
    run.decisions.push(recordOf([], decision));
    run.decision = undefined;
  }
  if (run.attention === shown) clearAttention(run, shown?.reason);
  if (answered() || !decision) return pending;
  asking.cancel();
  const isSame = found.confirmable;
  // What was confirmed there before must be shown here, too.
  run.sentTo = { ...found.here, ...(isSame && run.sentTo?.witness && { witness: run.sentTo.witness }) };
  run.facts = applyOutcome(run.facts, { kind: 'placeSaid', place: isSame ? 'confirmed' : 'chosen' });
  return undefined;
}

/** Shows what has to be set back, in the place of what was shown before: nothing can be read until then. */
function tell(run: OrderRun, { why, confirmable }: ElsewhereAnswer): Attention | undefined {
  // The earlier run may have been refused because its account was wrong: its id must become usable at the right one.
  const onlyEarlier = run.facts.doubt?.cause === 'earlierRun' && !confirmable;
  const way = onlyEarlier
    ? `${why}; or approve if nothing came of the earlier run there, and it is to be sent here`
    : why;
  run.attention = undefined;
  raiseAttention(run, 'other-account', way, confirmable || onlyEarlier ? ['approve'] : []);
  run.elsewhere = run.attention;
  return run.elsewhere;
}
