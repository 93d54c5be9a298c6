import { CancellationScope, condition } from '@temporalio/workflow';
import type { ElsewhereAnswer } from '../../contract/order/activities.js';
import type { Attention } from '../../contract/order/messages.js';
import { watch } from '../activity-calls.js';
import { record } from '../create/apply-outcome.js';
import { recordOf } from '../order/decision.js';
import { clearAttention, raiseAttention } from '../order/show.js';
import type { OrderRun } from '../order/state.js';

/** Additional input of a look-up: see LookUpInput. */
export interface AskMore {
  told?: string;
  delayMs?: number;
}

type Answered<T> = T | ElsewhereAnswer;

/** Returns true for the answer of another account. */
export const isElsewhere = <T extends { kind: string }>(answer: Answered<T>): answer is ElsewhereAnswer =>
  answer.kind === 'elsewhere';

const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [1_000, 15 * 60_000];

/** Waits until the account is set back or an operator confirms it. */
export async function untilSameAccount<T extends { kind: string }>(
  run: OrderRun,
  first: ElsewhereAnswer,
  ask: (more: AskMore) => Promise<Answered<T>>,
): Promise<T> {
  let answer: Answered<T> = first;
  // Waits longer each time: each change of account costs history.
  for (let waitMs = 0; isElsewhere(answer); waitMs = Math.min(2 * waitMs || FIRST_WAIT_MS, LONGEST_WAIT_MS)) {
    const found: ElsewhereAnswer = answer;
    const shown = tell(run, found);
    const more = { told: found.why, ...(waitMs > 0 && { delayMs: waitMs }) };
    const asking = new CancellationScope();
    const pending: Promise<Answered<T>> = asking.run(() => ask(more));
    const answered = watch(pending);
    // Other steps ask for decisions, too: this one takes those on its own question.
    const decided = () => run.attention === shown && run.parked.decision !== undefined;
    await condition(() => answered() || decided());
    const decision = decided() ? run.parked.decision : undefined;
    if (decision) {
      run.decisions.push(recordOf([], decision));
      delete run.parked.decision;
    }
    if (run.attention === shown) clearAttention(run, shown?.reason);
    if (answered() || !decision) {
      answer = await pending;
      continue;
    }
    asking.cancel();
    // The confirmed account must show the same witness, and is asked at once.
    const { witness } = run.sentTo ?? {};
    run.sentTo = { ...found.here, ...(witness && { witness }) };
    record(run, { kind: 'placeConfirmed' });
    answer = await ask({});
  }
  return answer;
}

/** Asks whether both accounts are the same. Replaces other attention: nothing can be read. */
function tell(run: OrderRun, { why }: ElsewhereAnswer): Attention | undefined {
  run.attention = undefined;
  raiseAttention(run, 'other-account', why, ['approve']);
  return run.attention;
}
