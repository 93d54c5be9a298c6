import { condition } from '@temporalio/workflow';
import { factsOf } from '../../contract/order/types.js';
import { lookUp } from '../ask/ask.js';
import { enterPhase } from '../order/attention.js';
import type { OrderRun } from '../order/run.js';
import { CREATE_TIMEOUT_MS } from '../profiles.js';
import { AbsenceProof } from './absence-proof.js';
import { type Conflict, type Seen, seenIn } from './adopt.js';

/** Callbacks that bring a reading forward; more are not needed, and a flood of forged ones must not cost look-ups. */
const EARLY_READINGS = 3;

/**
 * Finds out what became of an uncertain create. That our order is absent, alone or beside orders of somebody else, was read
 * at least three times in a row over the whole settle window, and only once no attempt of ours could still be on its way, by
 * two clocks (`absence-proof.ts`). An order of somebody else that was seen even once is never forgotten; a conflict in which
 * one of several orders is ours ends it at once. `sentUntilMs`: when the last send was over; the window begins then.
 */
export async function settle(run: OrderRun, reason: string, countAfterMs = 0, sentUntilMs?: number): Promise<Seen> {
  enterPhase(run, 'uncertain', `certainty: ${reason}`);
  const startedAtMs = Date.now();
  let proof: AbsenceProof | undefined;
  let foreign: Conflict | undefined;
  let earlyReadings = EARLY_READINGS;
  for (;;) {
    const askedAtMs = Date.now();
    const { answeredIn } = run;
    const { timesMoved } = run.sends;
    const reading = await lookUp(run, { summary: 'Uncertain create: is it there?', alarm: true });
    const seen = seenIn(run, reading);
    if (seen.kind === 'ours') return seen;
    if (seen.kind === 'conflict') foreign = seen;
    if (foreign === seen && foreign.ours.length > 0) return foreign;
    const windowMs = settleWindowMs(run);
    const { readAtMs } = reading;
    proof ??= new AbsenceProof({ serverMs: startedAtMs, workerMs: readAtMs }, countAfterMs, sentUntilMs);
    const isReset = run.answeredIn !== answeredIn;
    if (isReset || run.sends.timesMoved !== timesMoved) {
      // Nothing read so far counts. Reset meanwhile: the run before may have sent again since its last reading. Or the order
      // is looked for at another place from now on.
      const aliveMs = isReset ? CREATE_TIMEOUT_MS : startedAtMs + countAfterMs - Date.now();
      proof = new AbsenceProof({ serverMs: Date.now(), workerMs: readAtMs }, Math.max(0, aliveMs));
    }
    if (proof.isProvenBy({ askedAtMs, answeredAtMs: Date.now(), readAtMs }, windowMs)) return foreign ?? seen;
    const waitMs = proof.nextReadingInMs({ serverMs: Date.now(), workerMs: readAtMs }, windowMs);
    if (await condition(() => earlyReadings > 0 && run.callbackPending, waitMs)) {
      run.callbackPending = false;
      earlyReadings -= 1;
    }
  }
}

/** Payments get a long window, deposit types (nothing moves at create) a short one; ORDER_SETTLE_WINDOW sets both. */
export function settleWindowMs(run: OrderRun): number {
  if (!run.pace) throw new Error('the pace comes with the first reading');
  return factsOf(run.type).movesMoneyAtOnce ? run.pace.settleWindowMs.atOnce : run.pace.settleWindowMs.deposit;
}
