import { answersWithin, SEND_TIMEOUT_MS } from '../activity-calls.js';
import { type Closed, cancelled } from '../order/end.js';
import { knowsOfNoSend, noSendInDoubt, type OrderRun, restoreInDoubt } from '../order/state.js';
import { look, type Seen, settle } from './settle.js';

/* How an order ends of which nothing was sent, as far as its history knows. */

/** An end that needs neither the service nor a worker waits for them no longer: one request, and another one where its worker went away. */
const LOOK_WITHIN_MS = 35_000;

/** True when a cancellation is to end an order that waits: asked once, by what a reset run knows as well. */
export const wantsEnd = (run: OrderRun): boolean => run.cancelRequested && !run.cancelLookedFor && knowsOfNoSend(run);

/** Ends a cancelled order unless there is one. A run that may not end so goes on: its next attempt sends nothing, and a person is asked. */
export function endCancelled(run: OrderRun): Promise<Seen | Closed> {
  run.cancelLookedFor = true;
  return unlessThere(run, () => cancelled(run), { kind: 'absent' });
}

/**
 * The end of what was asked about and not sent. A run that a backup forgot may have sent it: then it is followed, and after a
 * restore absence is proven first. `otherwise`: what a run comes to that may not end so, because it was reset.
 */
export async function unlessThere<T>(run: OrderRun, end: () => Closed, otherwise: T): Promise<Seen | Closed | T> {
  const waitingFor = 'a look-up before it ends';
  const summary = 'Is it really not there?';
  const reading = look(run, { phase: 'creating', waitingFor, summary, startToCloseTimeout: SEND_TIMEOUT_MS });
  if (!(await answersWithin(reading, LOOK_WITHIN_MS, 'Before it ends unseen')) && noSendInDoubt(run)) return end();
  const seen = await reading;
  if (seen.kind !== 'absent') return seen;
  if (restoreInDoubt(run)) {
    const proven = await settleRestored(run);
    if (proven.kind !== 'absent') return proven;
  }
  return noSendInDoubt(run) ? end() : otherwise;
}

/** Proves over the window since the restore that nothing came of what it may have forgotten. */
export const settleRestored = (run: OrderRun): Promise<Seen> =>
  settle(run, 'Temporal was restored, and an earlier create may not be shown yet', 0, run.sends.restoredAtMs);
