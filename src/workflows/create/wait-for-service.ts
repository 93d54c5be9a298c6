import { condition } from '@temporalio/workflow';
import { lookUp } from '../ask/ask.js';
import { enterPhase } from '../order/attention.js';
import { closeCancelled } from '../order/end.js';
import { parkUnless } from '../order/park.js';
import { nothingSent, type OrderRun } from '../order/run.js';
import { closeIfAbsent, takeReading } from './conflict.js';
import { lateCallbacks } from './late-callbacks.js';

/** Longest wait between two rounds. */
const MAX_WAIT_MS = 60_000;

/** Why nothing was sent, how often so far, and from when on a person is asked. */
export interface NotSentRounds {
  reason: string;
  round: number;
  maxRounds: number;
  /** The service's own wish, already capped. */
  retryAfterMs?: number;
}

/**
 * Nothing was sent: waits in one look-up that the server repeats until the service answers, which costs no history
 * however long it takes. Returns when another attempt may be made; `run.order` is set when it was there after all.
 */
export async function waitForService(run: OrderRun, wait: NotSentRounds): Promise<void> {
  if (wait.round % wait.maxRounds === 0) return askWhetherToGoOn(run, wait);
  enterPhase(run, 'creating', `the service: ${wait.reason}`);
  const reading = lookUp(run, {
    summary: `Not sent: ${wait.reason}`,
    delayMs: wait.retryAfterMs ?? Math.min(MAX_WAIT_MS, 500 * 2 ** wait.round),
    alarm: true,
  });
  let answered = false;
  const watched = reading.finally(() => {
    answered = true;
  });
  watched.catch(() => undefined);
  await condition(() => answered || (run.cancelRequested && nothingSent(run)));
  if (!answered) closeCancelled(run);
  // Not part of the wait: what was found may need a person, and then a cancellation no longer says that nothing exists.
  await takeReading(run, await watched);
}

async function askWhetherToGoOn(run: OrderRun, wait: NotSentRounds): Promise<void> {
  const rounds = wait.round > 1 ? ` (${wait.round} rounds)` : '';
  const reason = `${nothingSent(run) ? 'nothing was sent' : 'not sent again'}: ${wait.reason}${rounds}`;
  const cancelled = () => run.cancelRequested && nothingSent(run);
  // An earlier create may turn out to have been executed.
  const late = lateCallbacks(run);
  while (!run.order) {
    const decision = await parkUnless(run, reason, ['resend', 'close-absent'], () => cancelled() || late.pending());
    if (decision?.action === 'close-absent') return closeIfAbsent(run, decision.by);
    if (decision) return;
    if (cancelled()) closeCancelled(run);
    await late.look();
  }
}
