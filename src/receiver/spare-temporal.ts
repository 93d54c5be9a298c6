import { orderWorkflowId } from '../contract/ids.js';
import type { CallbackHint } from '../contract/messages.js';
import type { OrderTarget, SignalOrder, SignalResult } from './signal-order.js';

/** Signals an order may get at once. The service delivers a callback at most 21 times. */
export const SIGNAL_BURST = 120;

/**
 * After a burst one more signal every 10 min, not more: an order has one run for its whole life, and Temporal ends a run
 * at 51,200 events. At 144 signals a day a flood needs weeks for that, at 30 a minute hours.
 */
const SIGNAL_INTERVAL_MS = 10 * 60_000;

const SWEEP_INTERVAL_MS = 60_000;

/** A signal's result, or 'limited': the order has had too many of them and this one was not sent. */
export type SparedResult = SignalResult | 'limited';

/** True when the order may be signalled now; counts the signal. `nowMs` is a monotonic clock. */
export function createSignalLimit(nowMs: () => number = () => performance.now()): (orderKey: string) => boolean {
  // Per order the time at which its allowance is full again; a time in the past is the same as no entry.
  const fullAtMs = new Map<string, number>();
  let sweptAtMs = nowMs();
  return (orderKey) => {
    const now = nowMs();
    if (now - sweptAtMs >= SWEEP_INTERVAL_MS) {
      for (const [key, fullAt] of fullAtMs) if (fullAt <= now) fullAtMs.delete(key);
      sweptAtMs = now;
    }
    const fullAt = Math.max(now, fullAtMs.get(orderKey) ?? now) + SIGNAL_INTERVAL_MS;
    if (fullAt - now > SIGNAL_BURST * SIGNAL_INTERVAL_MS) return false;
    fullAtMs.set(orderKey, fullAt);
    return true;
  };
}

/**
 * Spares Temporal duplicates and floods. Callbacks that arrive while an identical one is on its way share its signal and
 * its result, so none is acknowledged before a signal was accepted. Only identical ones: a forged callback must not
 * stand in for a genuine one that says something else.
 */
export function spareTemporal(signal: SignalOrder): (target: OrderTarget, hint: CallbackHint) => Promise<SparedResult> {
  const allow = createSignalLimit();
  const inFlight = new Map<string, Promise<SignalResult>>();
  return async (target, hint) => {
    const orderKey = orderWorkflowId(target.account, target.orderId);
    const key = JSON.stringify([orderKey, hint.order_uuid, hint.status]);
    const running = inFlight.get(key);
    if (running) return running;
    if (!allow(orderKey)) return 'limited';
    const started = signal(target, hint).finally(() => inFlight.delete(key));
    inFlight.set(key, started);
    return started;
  };
}
