import type { OrderRun } from '../order/run.js';

/** The delay the caller asked for, in minutes; undefined for types and orders without one. */
function askedDelayMinutes(run: OrderRun): number | undefined {
  return 'delay_order_for_minutes' in run.request ? run.request.delay_order_for_minutes : undefined;
}

const minutesSinceFirstAttempt = (run: OrderRun): number =>
  (Date.now() - (run.firstAttemptAtMs ?? Date.now())) / 60_000;

/** The delay for the next attempt: the order keeps its original time however often it is sent. */
export function remainingDelayMinutes(run: OrderRun): number | undefined {
  const asked = askedDelayMinutes(run);
  return asked === undefined ? undefined : Math.max(0, Math.ceil(asked - minutesSinceFirstAttempt(run)));
}

/** True when a delayed order's time went by before it came to exist: a person decides whether it is still wanted. */
export function delayHasPassed(run: OrderRun): boolean {
  const asked = askedDelayMinutes(run);
  return asked !== undefined && asked > 0 && minutesSinceFirstAttempt(run) >= asked;
}

/** Time until a delayed order starts, on our clock, in milliseconds; 0 without delay. */
export function untilDelayedStartMs(run: OrderRun): number {
  return Math.max(0, ((askedDelayMinutes(run) ?? 0) - minutesSinceFirstAttempt(run)) * 60_000);
}
