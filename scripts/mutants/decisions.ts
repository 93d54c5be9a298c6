import type { Mutant } from './mutant.js';

const file = 'test/workflows/create/next-action.test.ts';

/** Mistakes in the decision about the next send, and in what it goes by. */
export const DECISION_MUTANTS: readonly Mutant[] = [
  {
    name: 'a later order that proves nothing is believed',
    file: 'src/activities/order/look-up-order.ts',
    find: 'later.some((one) => one.proves && !isMissing(one)',
    replacement: 'later.some((one) => !isMissing(one)',
    test: {
      file: 'test/activities/order/look-up-order.test.ts',
      name: 'a look-up by order id absence is believed by an order that was sent a fifth of the window later, not by one sent sooner',
    },
  },
  {
    name: 'every send counts as the first one',
    file: 'src/workflows/create/next-action.ts',
    find: "permission: isUnsent(facts, terms) ? 'first' : 'absent'",
    replacement: "permission: 'first'",
    test: { file, name: 'a payout in doubt is sent again as what was sent before' },
  },
  {
    name: 'D121: a refusal of a repeated create is believed without a later order',
    file: 'src/workflows/create/next-action.ts',
    find: '(!facts.refused?.needsLater || isBelieved(facts.absence, terms))',
    replacement: 'true',
    test: { file, name: 'a payout in doubt that was sent twice is not believed to be refused without a later order' },
  },
  {
    name: 'the place of the first doubt counts, not that of the last',
    file: 'src/workflows/create/facts.ts',
    find: "everDoubted.at(-1)?.place === 'unknown'",
    replacement: "everDoubted[0]?.place === 'unknown'",
    test: { file, name: 'a payout in doubt does not end without a doubt if the place of its last create is unknown' },
  },
  {
    name: 'one more re-send than the budget',
    file: 'src/workflows/create/next-action.ts',
    find: 'spent <= resends',
    replacement: 'spent - 1 <= resends',
    test: { file, name: 'a payout in doubt is sent again by itself once only' },
  },
  {
    name: 'a payout is sent again by itself as often as a deposit',
    file: 'src/workflows/create/facts.ts',
    find: 'movesMoneyAtOnce ? 1 : 2',
    replacement: 'movesMoneyAtOnce ? 2 : 2',
    test: { file, name: 'a payout in doubt is sent again by itself once only' },
  },
  {
    name: 'an order that is never to be sent again is sent again',
    file: 'src/workflows/create/facts.ts',
    find: "resend === 'never' ? 0 :",
    replacement: "resend === 'never' ? 1 :",
    test: { file, name: 'a payout in doubt is never sent again by itself if its starter says so' },
  },
];
