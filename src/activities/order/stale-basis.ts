import type { CreateVerdict } from '../../contract/order/answers.js';
import { type Basis, basisDifferences } from '../../contract/order/basis.js';
import { RateLimitedError } from '../../payment-service/index.js';
import type { Account } from '../deps.js';
import { reasonOf } from '../failures.js';
import { readOutcomeOf } from './read-outcome.js';

/** A part of the create's attempt: rates and the probe must fit into it as well. */
const READ_WITHIN_MS = 15_000;

/**
 * Reads anew what a follow-up was made for: the order before it and the follow-ups before it. Answers why nothing may be
 * sent; undefined = all of it still holds. What cannot be read may have changed.
 */
export async function staleBasis(account: Account, basis: readonly Basis[]): Promise<CreateVerdict | undefined> {
  const options = { signal: AbortSignal.timeout(READ_WITHIN_MS) };
  for (const was of basis) {
    const { order_uuid: orderUuid, user_order_id: orderId } = was;
    const name = `order ${orderId || orderUuid}`;
    try {
      const differences = basisDifferences(was, await readOutcomeOf(account, { orderUuid, orderId }, options));
      if (differences.length > 0) {
        return { kind: 'stale', reason: `${name} has changed since this was made for it (${differences.join(', ')})` };
      }
    } catch (error) {
      if (error instanceof RateLimitedError) return { kind: 'rateLimited', retryAfterMs: error.retryAfterMs };
      return { kind: 'notSent', reason: `${name}, which this follows up, could not be read (${reasonOf(error)})` };
    }
  }
  return undefined;
}
