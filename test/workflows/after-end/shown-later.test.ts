import { expect, test } from 'vitest';
import { applyOutcome } from '../../../src/workflows/create/apply-outcome.js';
import { type Cause, openFacts } from '../../../src/workflows/create/facts.js';
import { mayBeShownLater } from '../../../src/workflows/order/end.js';
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
    expect(mayBeShownLater(taken('accepted'))).toBe(true);
    expect(mayBeShownLater(taken('adopted'))).toBe(false);
  },
);

test.each([
  [undefined, true],
  [true as const, false],
])('a refused payout may be shown later, unless a later order is shown (%s)', (later, isSo) => {
  const { everDoubted, ...facts } = applyOutcome(openFacts(undefined, true), {
    kind: 'refused',
    answer: 'HTTP 400',
    atMs: 0,
    place: 'asked',
  });
  const absence = { doubt: everDoubted[0], readIn: 'run', control: { whole: true, ...(later && { later }) } };
  const run = { type: 'withdraw', facts: { ...facts, everDoubted, absence } } as unknown as OrderRun;
  expect(mayBeShownLater(run)).toBe(isSo);
});
