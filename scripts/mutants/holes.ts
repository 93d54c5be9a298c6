import { LATER_HOLE_MUTANTS } from './later-holes.js';
import type { Mutant } from './mutant.js';

/** Holes of docs/reliability.md by which an order would be sent twice, or lost. */
export const HOLE_MUTANTS: readonly Mutant[] = [
  {
    name: 'D118: a reset run does not notice its reset',
    file: 'src/workflows/ask/ask.ts',
    find: 'if (isAfterReset) record(',
    replacement: 'if (isAfterReset && run.order) record(',
    test: {
      file: 'test/workflows/create/reset-doubts.nightly.test.ts',
      name: 'a person names another payment by mistake in a run that a reset made: nothing is sent by itself',
    },
  },
  {
    name: 'D119: a callback before any send tells nothing',
    file: 'src/workflows/create/apply-outcome.ts',
    find: "facts.found?.kind === 'ours') return heard;",
    replacement: "facts.found?.kind !== 'conflict') return heard;",
    test: {
      file: 'test/workflows/create/called-before-send.server.test.ts',
      name: 'a callback before any send tells of a create that Temporal forgot: only a person sends it',
    },
  },
  {
    name: 'D120: a refusal that was told stays while a person is asked',
    file: 'src/workflows/create/create-order.ts',
    find: "      if (action.do !== 'prove absence') run.failure = undefined;\n",
    replacement: '',
    test: {
      file: 'test/workflows/create/witnesses.simulated.test.ts',
      name: 'a refusal that was told is withdrawn while a person is asked, though a callback came in its last reading',
    },
  },
  {
    name: 'D122: the release of a hold trusts that no worker had the create',
    file: 'src/workflows/create/apply-outcome.ts',
    find: 'return inDoubt(released,',
    replacement: 'return said ? released : inDoubt(released,',
    test: {
      file: 'test/workflows/stops/held-order.server.test.ts',
      name: 'a hold that takes back a create, which an operator paused while it was sent: its release proves absence first',
    },
  },
  {
    name: 'D123: a callback that comes while an order ends is dropped',
    file: 'src/workflows/order/frame.ts',
    find: 'const isDue = () => run.callback.isDue &&',
    replacement: 'const isDue = () => false &&',
    test: {
      file: 'test/workflows/compensation/callback-while-asked.server.test.ts',
      name: 'a callback that comes while an accepted order is read is looked into after the end',
    },
  },
  {
    name: 'D124: the refusal of a follow-up is believed without a later order',
    file: 'src/workflows/create/attempt.ts',
    find: 'needsLater: isFollowUp(run) }',
    replacement: 'needsLater: false }',
    test: {
      file: 'test/workflows/compensation/refused-follow-up.server.test.ts',
      name: 'a follow-up that was executed behind a 400 and is not shown asks a person itself: its order offers nothing again',
    },
  },
  {
    name: 'D125: a deposit is absent in a list that shows no known order',
    file: 'src/activities/order/look-up-order.ts',
    find: 'isUnchecked ? false : whole &&',
    replacement: 'isUnchecked ? undefined : whole &&',
    test: {
      file: 'test/workflows/create/weak-witnesses.simulated.test.ts',
      name: 'not sent a second time a deposit in an empty list, by a worker that knows no order: a person is asked, or a later order shows it',
    },
  },
  {
    name: 'D147: a re-send keeps the account and witness of the first send',
    file: 'src/workflows/ask/ask.ts',
    find: 'if (mayHaveSent) run.sentTo = answer.sentTo ?? run.sentTo;',
    replacement: 'if (mayHaveSent) run.sentTo ??= answer.sentTo;',
    test: {
      file: 'test/workflows/create/rolled-back-key.server.test.ts',
      name: 'a re-send goes out under the new key, gets 500, and the key is rolled back: it is not sent again',
    },
  },
  {
    name: 'D148: an account that a person confirmed counts as known in the next run',
    file: 'src/workflows/order/end.ts',
    find: '[isAsked ? { sentTo }',
    replacement: '[isAsked || sentTo ? { sentTo }',
    test: {
      file: 'test/workflows/create/confirmed-forgotten.nightly.test.ts',
      name: 'a person confirmed the account and closed the order as absent: started again, only a person has it sent',
    },
  },
  {
    name: 'D149: an order that a create is answered with under our id is forgotten',
    file: 'src/activities/order/create-attempt.ts',
    find: "!hard.includes('order_id') || hard.length === 1",
    replacement: "hard.join() === 'order_id'",
    test: {
      file: 'test/activities/order/create-order-answers.test.ts',
      name: 'the answer to a create with our id on another order (other-amount): is uncertain, and names that order',
    },
  },
  {
    name: 'D150: an order that the list showed ends as absent',
    file: 'src/workflows/create/next-action.ts',
    find: "  if (isRecovered(facts)) return endAsClosed(facts, 'hidden');\n",
    replacement: '',
    test: {
      file: 'test/workflows/order/recovered.server.test.ts',
      name: 'an order that the list showed and that is gone is parked, with the decisions that there are',
    },
  },
  {
    name: 'D151: a stopped account stops the look-ups of an order in doubt',
    file: 'src/workflows/create/next-action.ts',
    find: '!isPermitted(facts, facts.absence) && needsPerson(facts);',
    replacement: '!isPermitted(facts, facts.absence) && false;',
    test: {
      file: 'test/workflows/create/next-action.test.ts',
      name: 'a stopped account keeps no order in doubt from being looked up, nor a person from being asked',
    },
  },
  {
    name: 'D152: what another run of the id was shown counts for nothing',
    file: 'src/activities/order/look-up-order.ts',
    find: '!input.asksOtherRuns) return reading;',
    replacement: 'input.asksOtherRuns) return reading;',
    test: {
      file: 'test/activities/order/named-by-another-run.server.test.ts',
      name: 'while an order that the service named for another run is not shown, no later order confirms absence',
    },
  },
  ...LATER_HOLE_MUTANTS,
];
