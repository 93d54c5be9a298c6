import type { Decision } from '../src/contract/order/messages.js';

/** What a decision does, without who, why and when. */
export type Way = Pick<Decision, 'action' | 'kind' | 'as' | 'revertTo' | 'order_uuid'>;

/** The offers of an attention's text, such as `revert unexchanged as withdraw (40 usd, needs revertTo)`. */
export function offeredWays(reason: string, action: 'finish' | 'revert', revertTo: Way['revertTo']): Way[] {
  const offers = reason.matchAll(/(finish|revert)( unexchanged| unpaid)? as (\w+) \([\d.]+ \w+(, needs revertTo)?/g);
  return [...offers].flatMap(([, offered, kind, as, needsTarget]) =>
    offered === action
      ? [{ action, as, ...(kind && { kind: kind.trim() }), ...(needsTarget && { revertTo }) } as Way]
      : [],
  );
}
