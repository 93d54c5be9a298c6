import { ApplicationFailure, condition, defineUpdate, setHandler } from '@temporalio/workflow';
import type { BatchInstruction } from '../../contract/batch/batch.js';
import { maskWords } from '../../contract/masking.js';
import { HOLD_UPDATE } from '../../contract/names.js';
import type { RunOptions } from '../../contract/order/input-and-result.js';
import type { OrderState } from '../../contract/order/messages.js';
import { factsOf } from '../../contract/order/types.js';
import { withoutNulls } from '../../contract/without-nulls.js';
import { record } from '../create/apply-outcome.js';
import { heldQuestion } from '../create/ask-person.js';
import { isHeld, wasEverInDoubt } from '../create/facts.js';
import { nextAction } from '../create/next-action.js';
import { instructionProblem } from '../instruction.js';
import { otherRun, required, takeSigned } from '../signed.js';
import { orderState } from './show.js';
import { mayHaveSent, type OrderRun } from './state.js';

/** Longest wait for the answer of a create that a worker had when the hold came. */
const UNDER_WAY_MS = 8_000;

const HELD_IF_NOT = 'it may have been sent. If it was not, it is held: look at its state in a minute';
const TAKEN = 'signature: this hold was taken before, and released. To hold the order again, sign another reason';
const NOT_HELD = 'Nothing is held. Cancel it: then nothing more is sent without a decision';

/**
 * Sets the update that holds an unsent order until a person releases or refuses it. The hold of an
 * earlier run lasts.
 */
export function setHold(run: OrderRun): void {
  const { held: why }: RunOptions = Object(run.input);
  if (typeof why === 'string') record(run, { kind: 'blocked', by: 'hold', why: maskWords(why) });
  const signed = new Set<string>();
  const take = (sent: BatchInstruction) => takeHold(run, withoutNulls(sent), signed);
  setHandler(defineUpdate<OrderState, [BatchInstruction]>(HOLD_UPDATE), take, {
    description: 'Holds an order that is not sent yet. Then decide: release or refuse. {"by", "reason"}',
    validator: (raw) => {
      const sent = withoutNulls(raw);
      const reason = refusal(run, sent) ?? otherRun(HOLD_UPDATE, sent);
      if (reason) refuse(reason);
    },
  });
}

function refuse(reason: string): never {
  throw ApplicationFailure.nonRetryable(reason, 'Refused');
}

const refusal = (run: OrderRun, sent: BatchInstruction | undefined): string | undefined =>
  sentAlready(run) ?? (isHeld(run.facts) ? 'it is held already' : instructionProblem(sent));

function sentAlready(run: OrderRun): string | undefined {
  if (run.phase === 'done' || run.failure) return 'it has ended';
  return run.order && `it was sent: the service has it as order ${run.order.order_uuid}. ${NOT_HELD}`;
}

/** Takes a hold. Whoever sees a signed one could send it again, so each is taken once. */
async function takeHold(
  run: OrderRun,
  { signature, by, reason, runId }: BatchInstruction,
  signed: Set<string>,
): Promise<OrderState> {
  const choice = { by, reason, runId };
  const text = JSON.stringify(choice);
  run.holdsAsked.add(choice);
  const taking = takeSigned({
    input: { account: run.account, update: HOLD_UPDATE, choice, signature, ...required(run.strictest.onlyByCommand) },
    refusal: () => refusal(run, { ...choice, signature }) ?? (signed.has(text) ? TAKEN : undefined),
    refuse,
    take: (keyId) => {
      if (keyId) signed.add(text);
      record(run, { kind: 'blocked', by: 'hold', why: `held by ${maskWords(by)}: ${maskWords(reason)}` });
    },
  });
  await taking.finally(() => run.holdsAsked.delete(choice));
  // A worker that has the create finds the hold right before it sends, or has sent already. A
  // parked order asks about the hold before the answer, which shows that.
  const isAsked = () => run.phase !== 'parked' || run.attention?.code === 'held' || wasEverInDoubt(run.facts);
  const isOver = () => (!run.isAttempting && isAsked()) || run.failure !== undefined;
  if (!isOver()) await condition(isOver, UNDER_WAY_MS, { summary: 'Was it sent before the hold?' });
  // The hold counts also in doubt: once absence is proven, a person has to release it.
  const late = sentAlready(run) ?? (run.isAttempting || mayHaveSent(run) ? HELD_IF_NOT : undefined);
  if (late) refuse(late);
  return orderState(asksNext(run));
}

/** Returns the run with the question about its hold, which it asks in its next step. */
function asksNext(run: OrderRun): OrderRun {
  const next = nextAction(run.facts, factsOf(run.type));
  if (run.phase === 'parked' || next.do !== 'ask' || next.about.kind !== 'held') return run;
  const { code, reason, allowed } = heldQuestion(next.about.why);
  const attention = { code, reason, since: new Date().toISOString(), allowed };
  return { ...run, phase: 'parked', waitingFor: 'a decision', revision: run.revision + 1, attention };
}
