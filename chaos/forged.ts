import { randomBytes, randomUUID } from 'node:crypto';
import { callbackUrl } from '../src/contract/callback-url.js';
import { DEFAULT_ACCOUNT } from '../src/contract/names.js';
import { canary } from './canaries.js';

/** What became of forged callbacks. */
export interface ForgedCounts {
  /** Orders about which callbacks were forged. */
  orders: number;
  refused: number;
  /** Genuine token, forged body: taken as a hint, which is all a callback is. */
  accepted: number;
  /** The receiver was down, or Temporal. */
  unanswered: number;
  /** Paths without a genuine token that were not answered 404. */
  wronglyAccepted: string[];
}

/** Whom the forged callbacks are about, and what a forger could know at worst. */
export interface Forgery {
  receiverUrl: string;
  tokenKey: string;
  orderId: string;
  otherId: string;
}

/** Posts three forged callbacks about an order: made-up token, another order's token, genuine token with a false body. */
export async function forgeCallbacks(forgery: Forgery, counts: ForgedCounts): Promise<void> {
  counts.orders += 1;
  const genuine = urlOf(forgery, forgery.orderId);
  const withToken = (token: string) => genuine.replace(/[^.]+$/, token);
  const otherToken = /[^.]+$/.exec(urlOf(forgery, forgery.otherId))?.[0] ?? '';
  for (const url of [withToken(randomBytes(32).toString('base64url')), withToken(otherToken)]) {
    const status = await post(url, forgery.orderId);
    if (status === 0) counts.unanswered += 1;
    else if (status === 404) counts.refused += 1;
    else counts.wronglyAccepted.push(`${forgery.orderId}: HTTP ${status}`);
  }
  const status = await post(genuine, forgery.orderId);
  if (status === 200) counts.accepted += 1;
  else counts.unanswered += 1;
}

const urlOf = ({ receiverUrl, tokenKey }: Forgery, orderId: string): string =>
  callbackUrl(receiverUrl, tokenKey, { kind: 'order', account: DEFAULT_ACCOUNT, orderId });

/** The HTTP status; 0 when none came. */
async function post(url: string, orderId: string): Promise<number> {
  const body = {
    ...{ order_uuid: randomUUID(), user_order_id: orderId, status: 'completed', amount_to: '999999' },
    client_info: { client_email: canary('a field of a forged callback', orderId) },
  };
  try {
    const answer = await fetch(url, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    return answer.status;
  } catch {
    return 0;
  }
}
