import { NotDecidedYetError, NoWorkerError } from '../client/errors.js';
import type { OrderHandle } from '../client/order-handle.js';
import type { OrderState } from '../contract/messages.js';
import type { OrderResult } from '../contract/orders.js';

/** Pace of the look at the order; the wait for its end in between is what paces it. */
const TICK_MS = 1_000;

/** How following ended. 'waiting': a person has to decide, or the time was over; `state` is the last one seen. */
export type FollowEnd = { kind: 'ended'; result: OrderResult } | { kind: 'waiting'; state: OrderState | undefined };

/** How to follow an order. `timeoutMs` omitted = until its end or until a person has to decide. */
export interface FollowOptions {
  timeoutMs?: number;
  onState: (state: OrderState | undefined) => void;
}

const needsDecision = (state: OrderState | undefined): boolean =>
  state?.phase === 'parked' || (state?.attention?.allowed.length ?? 0) > 0;

async function resultWithin(handle: OrderHandle, timeoutMs: number): Promise<OrderResult | undefined> {
  try {
    return await handle.result({ timeoutMs });
  } catch (error) {
    if (error instanceof NotDecidedYetError) return undefined;
    throw error;
  }
}

async function stateIfAnswered(handle: OrderHandle): Promise<OrderState | undefined> {
  try {
    return await handle.state();
  } catch (error) {
    if (error instanceof NoWorkerError) return undefined;
    throw error;
  }
}

/** Follows an order to its end, to a decision or to the end of the given time. Throws what `handle.result` throws. */
export async function followOrder(handle: OrderHandle, { timeoutMs, onState }: FollowOptions): Promise<FollowEnd> {
  const deadlineMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
  for (;;) {
    const leftMs = Math.max(1, deadlineMs - Date.now());
    const result = await resultWithin(handle, Math.min(TICK_MS, leftMs));
    if (result) return { kind: 'ended', result };
    const state = await stateIfAnswered(handle);
    onState(state);
    if (needsDecision(state) || Date.now() >= deadlineMs) return { kind: 'waiting', state };
  }
}
