import { expect, test } from 'vitest';
import { mayHaveBeenSentTwice } from '../../../src/workflows/after-end/start.js';
import { applyOutcome, type Cause, openFacts } from '../../../src/workflows/create/facts.js';
import type { OrderRun } from '../../../src/workflows/order/state.js';

const doubt = (cause: Cause) => ({ cause, untilMs: 0, place: 'asked' as const, said: cause });

test.each<[Cause]>([['uncertainCreate'], ['reset'], ['restored'], ['earlierRun']])(
  'an order that was accepted after a doubt (%s) may have been sent twice',
  (cause) => {
    const order = { order_uuid: 'ours' } as never;
    const facts = applyOutcome(openFacts(undefined, true), { kind: 'doubted', doubt: doubt(cause) });
    const taken = (how: 'accepted' | 'adopted') =>
      ({
        order,
        facts: applyOutcome(facts, { kind: 'adopted', ours: { kind: 'ours', order, how } }),
      }) as unknown as OrderRun;
    expect(mayHaveBeenSentTwice(taken('accepted'))).toBe(true);
    expect(mayHaveBeenSentTwice(taken('adopted'))).toBe(false);
  },
);
