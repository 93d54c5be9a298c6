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
 * Ignores the answers of an account that is not the order's. Waits until the account is set back, in one look-up that the
 * server repeats without history, or until an operator confirms that both are the same account.
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
  const decided = () => run.attention === shown && run.parked.decision !== undefined;
  await condition(() => answered() || decided());
  const decision = decided() ? run.parked.decision : undefined;
  if (decision) {
    run.decisions.push(recordOf([], decision));
    delete run.parked.decision;
  }
  if (run.attention === shown) clearAttention(run, shown?.reason);
  if (answered() || !decision) return pending;
  asking.cancel();
  // What was confirmed there before must be shown here, too.
  const { witness } = run.sentTo ?? {};
  run.sentTo = { ...found.here, ...(witness && { witness }) };
  run.facts = applyOutcome(run.facts, { kind: 'placeConfirmed' });
  return undefined;
}

/** Asks whether both accounts are the same, in place of any earlier attention: nothing can be read until then. */
function tell(run: OrderRun, { why }: ElsewhereAnswer): Attention | undefined {
  run.attention = undefined;
  raiseAttention(run, 'other-account', why, ['approve']);
  return run.attention;
}
