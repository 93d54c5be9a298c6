import type { Mutant } from './mutant.js';

const SIMULATED = 'test/workflows/compensation/simulated-ledger.property.test.ts';
const GROUP = 'figures against a ledger that knows what truly happened';

const everyOneKeeps = (combination: string): Mutant['test'] => ({
  file: 'test/model/next-move.test.ts',
  name: `of every state of a remainder that can be reached every one keeps every invariant: ${combination}`,
});

/** Mistakes about what is left of an order. */
export const REMAINDER_MUTANTS: readonly Mutant[] = [
  {
    name: 'D129: an accepted order that is not read again',
    file: 'src/workflows/compensation/compensate.ts',
    find: 'await readBeforeEnd(run, assessment)',
    replacement: 'assessment',
    test: {
      file: 'test/workflows/compensation/read-when-asked.server.test.ts',
      name: 'what the service paid while a person was asked is not left to whoever accepts',
    },
  },
  {
    name: 'a remainder told although a follow-up is unknown',
    file: 'src/workflows/compensation/next-move.ts',
    find: '  ...sentDoubts,\n',
    replacement: '',
    test: {
      file: 'test/workflows/compensation/left-after-follow-ups.server.test.ts',
      name: 'what is left is unknown after a follow-up whose workflow was stopped',
    },
  },
  {
    name: 'what is left computed from the commission that an order quotes',
    file: 'src/workflows/compensation/figures.ts',
    find: "decimalOrZero(c.order.amount_to) : decreases(c, 'to')",
    replacement: "decreases(c, 'to').minus(feeOf(c, 'to')) : decreases(c, 'to')",
    test: {
      file: 'test/workflows/compensation/figures.test.ts',
      name: 'a commission that is only quoted is not added back: 8640 are left, not 8683.20, and a person is asked',
    },
  },
  {
    name: 'a payout after an exchange believed without its exact commission',
    file: 'src/workflows/compensation/checks.ts',
    find: "if (paysOut && moved('to')) expectEqual(",
    replacement: "if (paysOut && !exchanges && moved('to')) expectEqual(",
    test: {
      file: SIMULATED,
      name: `${GROUP} ask a person about every commission that is shown but was not withheld, or was withheld in another amount`,
    },
  },
  {
    name: 'the rounding of a rate hides who paid a commission',
    file: 'src/workflows/compensation/checks.ts',
    find: 'arrives.minus(quoted).plus(rounding)',
    replacement: 'arrives.minus(quoted).minus(rounding)',
    test: {
      file: SIMULATED,
      name: `${GROUP} never say that more is left than the ledger has left, and the same where nothing is misstated`,
    },
  },
  {
    name: 'what the first reading showed is paid, whatever the second one shows',
    file: 'src/workflows/compensation/next-move.ts',
    find: "  if (!areEqual(before.readings, assessment.readings)) return READINGS_DIFFER;\n  if (!stillOffers(assessment, choice.offer)) return { do: 'ask', why: 'the second reading no longer allows it' };\n",
    replacement: '',
    test: everyOneKeeps('readings that differ'),
  },
  {
    name: 'a policy pays although a person holds the order',
    file: 'src/workflows/compensation/next-move.ts',
    find: "  if (facts.onlyByPerson && !choice.decided && !isShown) return { do: 'ask', why: facts.onlyByPerson };\n",
    replacement: '',
    test: everyOneKeeps('a cancellation and a hold'),
  },
  {
    name: 'a follow-up that was chosen before the cancellation is sent after it',
    file: 'src/workflows/compensation/next-move.ts',
    find: "  if (cancelled && !choice.decided?.afterCancel) return { do: 'ask', why: CANCELLED_BEFORE_SEND };\n",
    replacement: '',
    test: everyOneKeeps('a cancellation and a hold'),
  },
  {
    name: 'an old check of limits and balance lets a follow-up be sent',
    file: 'src/workflows/compensation/next-move.ts',
    find: "  if (check.isOld) return { do: 'read again', choice };\n",
    replacement: '',
    test: everyOneKeeps('checks that come late, fail or name another payer'),
  },
];
