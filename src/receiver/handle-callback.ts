import type { CallbackTarget } from '../contract/callback-url.js';
import type { CallbackHint } from '../contract/messages.js';
import { readHint } from './callback-body.js';
import type { OrderTarget } from './signal-order.js';
import type { SparedResult } from './spare-temporal.js';

/** What became of a callback with a genuine token; `reason` says why Temporal was not reached. */
export type CallbackOutcome =
  | { result: SparedResult | 'malformed' | 'not-followed' }
  | { result: 'unavailable'; reason: string };

/** HTTP answer of one outcome. The service retries on everything but 200 and 201. */
export interface CallbackAnswer {
  status: number;
  body: { result: string };
  retryAfterSeconds?: number;
}

const ACCEPTED: CallbackAnswer = { status: 200, body: { result: 'accepted' } };

/**
 * The answer to each outcome. An ended order and one that Temporal does not know are acknowledged as well: the token
 * proves that we made the URL, so these are late callbacks, and no retry would find anything else.
 */
export const ANSWERS: Readonly<Record<CallbackOutcome['result'], CallbackAnswer>> = {
  delivered: ACCEPTED,
  closed: ACCEPTED,
  unknown: ACCEPTED,
  malformed: { status: 400, body: { result: 'malformed body' } },
  limited: { status: 429, body: { result: 'too many callbacks for this order' }, retryAfterSeconds: 600 },
  unavailable: { status: 503, body: { result: 'try again' }, retryAfterSeconds: 5 },
  'not-followed': { status: 503, body: { result: 'not followed yet' }, retryAfterSeconds: 600 },
};

/** One line about an error of Temporal's client. gRPC's own words are in the cause; they carry no payload. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${cause}`.slice(0, 300);
}

/** Body → hint → signal. Never rejects: an error of `signal` is an outcome, and the service calls again. */
export async function handleCallback(
  target: CallbackTarget,
  raw: Uint8Array,
  signal: (target: OrderTarget, hint: CallbackHint) => Promise<SparedResult>,
): Promise<CallbackOutcome> {
  // Nothing follows receipts on permanent addresses yet; an acknowledgement would claim the opposite.
  if (target.kind === 'address') return { result: 'not-followed' };
  const hint = readHint(raw, target.orderId);
  if (!hint) return { result: 'malformed' };
  try {
    return { result: await signal(target, hint) };
  } catch (error) {
    return { result: 'unavailable', reason: reasonOf(error) };
  }
}
