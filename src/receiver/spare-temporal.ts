import { orderWorkflowId, receivedWorkflowId } from '../contract/names.js';
import { createAllowance } from '../http-port/allowance.js';
import { readHint, readReceivedHint } from './callback-body.js';
import {
  type OrderTarget,
  type ReceivedResult,
  type ReceivedTarget,
  SIGNAL_INTERVAL_MS,
  type SignalOrder,
  type SignalReceived,
  type SignalResult,
} from './signals.js';

/** Burst of signals per order. The service delivers a callback at most 21 times. */
export const SIGNAL_BURST = 120;

/** At 144 signals a day, a flood needs weeks to reach Temporal's 51,200 events. */
const SIGNALS = { burst: SIGNAL_BURST, intervalMs: SIGNAL_INTERVAL_MS };

/** Look-ups that callbacks of an ended order may start. Each costs a few requests. */
const LOOK_UPS = { burst: 3, intervalMs: SIGNAL_INTERVAL_MS };

/** Maximum followers and look-ups that callbacks of one address may start per minute. */
export const MAX_STARTS_PER_MINUTE = 20;

/** Half of them at once, then one every 6 s. */
export const STARTS = { burst: MAX_STARTS_PER_MINUTE / 2, intervalMs: 120_000 / MAX_STARTS_PER_MINUTE };

/** Allowance of an address for callbacks without news. Beyond it, a flood is refused unread. */
const UNKNOWN = { burst: 600, intervalMs: 100 };

/**
 * Result of a callback with a genuine token. 'limited': too many for the order; 'crowded': too many
 * new ones for the address; 'unavailable': Temporal refused, see `reason`.
 */
type CallbackOutcome = { orderUuid?: string } & (
  | { result: SignalResult | ReceivedResult | 'malformed' | 'crowded' }
  | { result: 'unavailable'; reason: string }
);

/**
 * Returns the function that turns callbacks into signals and parses only within allowances. Never
 * rejects.
 */
export function spareTemporal(signal: SignalOrder): (target: OrderTarget, raw: Uint8Array) => Promise<CallbackOutcome> {
  const signals = createAllowance(SIGNALS);
  const lookUps = createAllowance(LOOK_UPS);
  return async (target, raw) => {
    const id = orderWorkflowId(target.account, target.orderId);
    const repeated = signals.remembers(id);
    if (!signals.take(id)) return { result: 'limited' };
    const hint = readHint(raw, target.orderId);
    if (!hint) return { result: 'malformed' };
    let isLookUp = false;
    const mayLookUp = (): boolean => {
      isLookUp = lookUps.take(id);
      return isLookUp;
    };
    const outcome = await signal(target, hint, repeated, mayLookUp).then((result) => ({ result }), unavailable);
    if (isLookUp && outcome.result === 'unavailable') lookUps.giveBack(id);
    return outcome;
  };
}

/** Returns the same for permanent addresses, with allowances per address. */
export function spareReceived(
  signal: SignalReceived,
): (target: ReceivedTarget, raw: Uint8Array) => Promise<CallbackOutcome> {
  const signals = createAllowance(SIGNALS);
  const unknown = createAllowance(UNKNOWN);
  const starts = createAllowance(STARTS);
  return async (target, raw) => {
    const address = `${target.account} ${target.ref}`;
    if (!unknown.take(address)) return { result: 'crowded' };
    const hint = readReceivedHint(raw);
    if (!hint) return { result: 'malformed' };
    const orderUuid = hint.order_uuid;
    const id = receivedWorkflowId(target.account, orderUuid);
    const repeated = signals.remembers(id);
    if (!signals.take(id)) return { result: 'limited', orderUuid };
    const called = signal(target, hint, () => starts.take(address), repeated);
    const outcome = await called.then((result) => ({ result }), unavailable);
    if (outcome.result === 'crowded') signals.giveBack(id);
    else if (outcome.result !== 'unavailable') unknown.giveBack(address);
    return { ...outcome, orderUuid };
  };
}

const unavailable = (error: unknown) => ({ result: 'unavailable' as const, reason: reasonOf(error) });

/** Returns one line about a client error. gRPC's texts contain no payload. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${cause}`.slice(0, 300);
}
