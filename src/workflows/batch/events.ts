import type { EventKind } from '../../contract/events.js';
import { type Facts, put } from '../outbox.js';
import type { BatchRun } from './state.js';

/** Records an event of a batch. */
export function emit(run: BatchRun, type: EventKind, facts: Facts = {}): void {
  const [only, ...others] = run.plan?.currencies ?? [];
  const total = only && others.length === 0 && { currency_to: only.currency, amount_to: only.total };
  put(run.outbox, type, { batch_id: run.batchId, rows: run.plan && `${run.plan.rows}`, ...total, ...facts });
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
