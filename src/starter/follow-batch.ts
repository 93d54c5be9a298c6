import type { BatchHandle } from '../client/batch-handle.js';
import { BatchNotDecidedYetError, NoWorkerError } from '../client/errors.js';
import type { BatchResult, BatchState } from '../contract/batches.js';

/** Pace of the look at the batch; the wait for its end in between is what paces it. */
const TICK_MS = 1_000;

/** How following ended. 'waiting': a person has to decide, or the time was over; `state` is the last one seen. */
export type BatchEnd = { kind: 'ended'; result: BatchResult } | { kind: 'waiting'; state: BatchState | undefined };

/** How to follow a batch. `timeoutMs` omitted = until its end, or until `isEnough` says so. */
export interface FollowBatchOptions {
  timeoutMs?: number;
  onState: (state: BatchState | undefined) => void;
  isEnough: (state: BatchState | undefined) => boolean;
}

async function resultWithin(handle: BatchHandle, timeoutMs: number): Promise<BatchResult | undefined> {
  try {
    return await handle.result({ timeoutMs });
  } catch (error) {
    if (error instanceof BatchNotDecidedYetError) return undefined;
    throw error;
  }
}

/** The state, or undefined while no worker answers. */
export async function batchStateIfAnswered(handle: BatchHandle): Promise<BatchState | undefined> {
  try {
    return await handle.state();
  } catch (error) {
    if (error instanceof NoWorkerError) return undefined;
    throw error;
  }
}

/** Follows a batch to its end, or until it is enough. Throws what `handle.result` throws. */
export async function followBatch(
  handle: BatchHandle,
  { timeoutMs, onState, isEnough }: FollowBatchOptions,
): Promise<BatchEnd> {
  const deadlineMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
  for (;;) {
    const leftMs = Math.max(1, deadlineMs - Date.now());
    const result = await resultWithin(handle, Math.min(TICK_MS, leftMs));
    if (result) return { kind: 'ended', result };
    const state = await batchStateIfAnswered(handle);
    onState(state);
    if (isEnough(state) || Date.now() >= deadlineMs) return { kind: 'waiting', state };
  }
}
