import { orderWorkflowId, receivedWorkflowId } from '../contract/names.js';
import type { CallbackHint } from '../contract/order/messages.js';
import type {
  OrderTarget,
  ReceivedHint,
  ReceivedResult,
  ReceivedTarget,
  SignalOrder,
  SignalReceived,
  SignalResult,
} from './signals.js';

/** Signals an order may get at once. The service delivers a callback at most 21 times. */
export const SIGNAL_BURST = 120;

/**
 * After a burst one more signal every 10 min, not more: an order has one run for its whole life, and Temporal ends a run
 * at 51,200 events. At 144 signals a day a flood needs weeks for that, at 30 a minute hours.
 */
const SIGNALS = { burst: SIGNAL_BURST, intervalMs: 10 * 60_000 };

/** Followers that the callbacks of one address may start in a minute. Each costs the service a few look-ups. */
export const MAX_STARTS_PER_MINUTE = 20;

/**
 * How often Temporal is asked about order_uuids of one address that it turns out not to know. Above it a flood is refused
 * in memory. Followers that run are not lost by that: they poll.
 */
const UNKNOWN = { burst: 600, intervalMs: 100 };

/** A signal's result, or 'limited': the order has had too many of them and this one was not sent. */
export type SparedResult = SignalResult | 'limited';

/**
 * Spares Temporal duplicates and floods. Callbacks that arrive while an identical one is on its way share its signal and
 * its result, so none is acknowledged before a signal was accepted. Only identical ones: a forged callback must not
 * stand in for a genuine one that says something else.
 */
export function spareTemporal(signal: SignalOrder): (target: OrderTarget, hint: CallbackHint) => Promise<SparedResult> {
  const signals = createAllowance(SIGNALS);
  const share = createSharing<SparedResult>();
  return (target, hint) => {
    const id = orderWorkflowId(target.account, target.orderId);
    return share([id, hint.order_uuid, hint.status], async () => (signals.take(id) ? signal(target, hint) : 'limited'));
  };
}

/** A signal's or start's result; 'limited' as for orders; 'crowded': the address has had too many new ones. */
export type SparedReceivedResult = ReceivedResult | 'limited';

/**
 * The same for the orders of permanent addresses. Who knows an address's callback URL can name any number of
 * order_uuids: those that Temporal does not know are counted by address, so that nothing is kept for each of them.
 */
export function spareReceived(
  signal: SignalReceived,
): (target: ReceivedTarget, hint: ReceivedHint) => Promise<SparedReceivedResult> {
  const signals = createAllowance(SIGNALS);
  const unknown = createAllowance(UNKNOWN);
  const starts = createWindow({ max: MAX_STARTS_PER_MINUTE, windowMs: 60_000 });
  const share = createSharing<SparedReceivedResult>();
  return (target, hint) => {
    const id = receivedWorkflowId(target.account, hint.order_uuid);
    const address = `${target.account} ${target.ref}`;
    return share([id, target.ref, hint.status], async () => {
      if (!unknown.take(address)) return 'crowded';
      if (!signals.take(id)) {
        unknown.giveBack(address);
        return 'limited';
      }
      const result = await signal(target, hint, () => starts.take(address));
      if (result === 'crowded') signals.giveBack(id);
      else unknown.giveBack(address);
      return result;
    });
  };
}

/** Runs `call` unless one with the same key is under way, whose result is shared then. */
function createSharing<T>(): (key: unknown[], call: () => Promise<T>) => Promise<T> {
  const inFlight = new Map<string, Promise<T>>();
  return (parts, call) => {
    const key = JSON.stringify(parts);
    const running = inFlight.get(key);
    if (running) return running;
    const started = call().finally(() => inFlight.delete(key));
    inFlight.set(key, started);
    return started;
  };
}

/**
 * How often something may happen, by key, counted in memory. All times are of a monotonic clock. Keys are forgotten once
 * they say nothing any more, so that a flood under ever new keys leaves nothing behind.
 */

const SWEEP_INTERVAL_MS = 60_000;

/** `burst` times at once, then once more every `intervalMs`. `take` counts and is true when it may happen now. */
export function createAllowance(
  { burst, intervalMs }: { burst: number; intervalMs: number },
  nowMs: () => number = () => performance.now(),
) {
  // Per key the time at which its allowance is full again; a time in the past is the same as no entry.
  const fullAtMs = new Map<string, number>();
  const sweep = sweeper(nowMs, (now) => {
    for (const [key, fullAt] of fullAtMs) if (fullAt <= now) fullAtMs.delete(key);
  });
  return {
    take(key: string): boolean {
      const now = sweep();
      const fullAt = Math.max(now, fullAtMs.get(key) ?? now) + intervalMs;
      if (fullAt - now > burst * intervalMs) return false;
      fullAtMs.set(key, fullAt);
      return true;
    },
    /** It did not happen after all. */
    giveBack(key: string): void {
      const fullAt = (fullAtMs.get(key) ?? 0) - intervalMs;
      if (fullAt <= nowMs()) fullAtMs.delete(key);
      else fullAtMs.set(key, fullAt);
    },
    /** Keys remembered now. */
    size: () => fullAtMs.size,
  };
}

/** At most `max` times in any window of `windowMs`. */
export function createWindow(
  { max, windowMs }: { max: number; windowMs: number },
  nowMs: () => number = () => performance.now(),
) {
  const takenAtMs = new Map<string, number[]>();
  const recent = (key: string, now: number) => (takenAtMs.get(key) ?? []).filter((at) => now - at < windowMs);
  const sweep = sweeper(nowMs, (now) => {
    for (const key of takenAtMs.keys()) if (recent(key, now).length === 0) takenAtMs.delete(key);
  });
  return {
    take(key: string): boolean {
      const now = sweep();
      const taken = recent(key, now);
      if (taken.length >= max) return false;
      takenAtMs.set(key, [...taken, now]);
      return true;
    },
    size: () => takenAtMs.size,
  };
}

/** Forgets once a minute at most; returns the time it looked at. */
function sweeper(nowMs: () => number, forget: (now: number) => void): () => number {
  let sweptAtMs = nowMs();
  return () => {
    const now = nowMs();
    if (now - sweptAtMs >= SWEEP_INTERVAL_MS) {
      forget(now);
      sweptAtMs = now;
    }
    return now;
  };
}
