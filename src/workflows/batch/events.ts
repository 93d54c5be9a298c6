import type { AmountsByCurrency } from '../../contract/batch/batch.js';
import type { EventKind } from '../../contract/events.js';
import { type Facts, put } from '../outbox.js';
import type { BatchRun } from './state.js';

/** Records an event of a batch, with sums if it has one currency. `moved`: paid, at its end. */
export function emit(run: BatchRun, type: EventKind, facts: Facts = {}, moved?: AmountsByCurrency): void {
  const [only, ...others] = run.plan?.currencies ?? [];
  const sums = only &&
    others.length === 0 && {
      ...{ currency_from: only.currency, expected_amount_from: only.total },
      ...(moved && { currency_to: only.currency, amount_to: moved[only.currency] ?? '0' }),
    };
  put(run.outbox, type, { batch_id: run.batchId, rows: run.plan && `${run.plan.rows}`, ...sums, ...facts });
}

/** Emits that a batch waits for an approval, or is paused. */
export function emitWaiting(run: BatchRun): void {
  const { outbox, phase, paused, stopped } = run;
  const pausing = paused && !stopped ? 'batch.paused' : undefined;
  const waiting = phase === 'awaitingApproval' ? 'batch.awaits_approval' : pausing;
  if (outbox.shown === waiting) return;
  outbox.shown = waiting;
  if (waiting) emit(run, waiting);
}
