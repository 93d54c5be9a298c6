import type { Mutant } from './mutant.js';

/** Mistakes about what a Temporal that was lost, or restored from a backup, may have forgotten. */
export const RESTORE_MUTANTS: readonly Mutant[] = [
  {
    name: 'absence counts at once after a restore',
    file: 'src/activities/protections.ts',
    find: 'currentAttemptScheduledTimestampMs) >= countsFromMs',
    replacement: 'currentAttemptScheduledTimestampMs) >= restoredAtMs',
    test: {
      file: 'test/reliability/restored-backup.test.ts',
      name: 'Temporal restored from a backup of before a create was sent, while the service does not show it yet: it is paid once',
    },
  },
  {
    name: 'a cancellation ends an order whose create a restored Temporal may have forgotten',
    file: 'src/workflows/ask/ask.ts',
    find: 'if (answer.restoredAtMs !== undefined && !run.order) {',
    replacement: 'if (false) {',
    test: {
      file: 'test/reliability/restored-backup.test.ts',
      name: 'an order cancelled while a restored Temporal may have forgotten its create ends as what was paid',
    },
  },
  {
    name: 'a create whose worker was lost was not sent, although a failover may have lost its word',
    file: 'src/activities/order/look-up-order.ts',
    find: '(tooSoon || restoredAtMs > lostFromMs(input))',
    replacement: 'tooSoon',
    test: {
      file: 'test/workflows/create/lost-attempt.server.test.ts',
      name: 'after a failover, which may have lost what the worker wrote, absence is proven first',
    },
  },
  {
    name: 'a create whose heartbeat an operator took away was not sent',
    file: 'src/workflows/create/attempt.ts',
    find: "Object.hasOwn(Object(written), 'unsent')",
    replacement: '!written',
    test: {
      file: 'test/workflows/create/lost-attempt.server.test.ts',
      name: 'an operator who pauses a create that was sent, and resets its heartbeat, makes nothing unsent',
    },
  },
  {
    name: 'follow-ups of a lost run are not looked for',
    file: 'src/activities/order/read-outcome.ts',
    find: 'items.find(({ user_order_id }) => user_order_id === id) ?? []',
    replacement: 'items.find(() => id === of) ?? []',
    test: {
      file: 'test/workflows/compensation/lost-follow-ups.nightly.test.ts',
      name: 'follow-ups of a run that is lost what the second one paid is not paid again by the first one, and is not told as left',
    },
  },
  {
    name: 'a follow-up that was seen is sent once the service shows it no more',
    file: 'src/workflows/compensation/next-move.ts',
    find: 'lost.filter(({ user_order_id }) => user_order_id === orderId)',
    replacement: "lost.filter(({ user_order_id }) => user_order_id === '')",
    test: {
      file: 'test/workflows/compensation/lost-follow-ups.nightly.test.ts',
      name: 'a follow-up of a run that is lost, badly shown that was shown once is never sent again when the service shows it no more',
    },
  },
  {
    name: 'follow-ups of a lost run after the next one are passed over',
    file: 'src/workflows/compensation/next-move.ts',
    find: 'lostBeside(assessment, ended).length === 0 && fundsAfter',
    replacement: 'lostBeside(assessment, ended).length >= 0 && fundsAfter',
    test: {
      file: 'test/workflows/compensation/lost-follow-ups.nightly.test.ts',
      name: 'several follow-ups of a run that is lost the second one, for which the first left nothing, is told and not passed over',
    },
  },
  {
    name: 'a list that ignores its filter says that no follow-up exists',
    file: 'src/activities/orders-of-ids.ts',
    find: 'if (items.length < page.items.length) {',
    replacement: 'if (items.length > page.items.length) {',
    test: {
      file: 'test/activities/order/read-outcome.test.ts',
      name: 'follow-ups beside the order a list that ignores what it was asked for is no reading',
    },
  },
  {
    name: "a cancelled create ends its order by the server's word alone",
    file: 'src/workflows/create/attempt.ts',
    find: "(isQueued || !(error instanceof ActivityFailure))) return [{ kind: 'takenBack' }];",
    replacement: "(isQueued || !(error instanceof ActivityFailure))) return close(run, 'OrderCancelled', 'cancelled');",
    test: {
      file: 'test/reliability/taken-back.test.ts',
      name: 'a create that is paused while it is sent, and failed by its id, ends as what was paid though its order is cancelled',
    },
  },
  {
    name: 'what was parked is refused unseen',
    file: 'src/workflows/create/next-action.ts',
    find: "looked ? { do: 'end', as }",
    replacement: "looked || as ? { do: 'end', as }",
    test: {
      file: 'test/reliability/restored-parked.test.ts',
      name: 'refused, it is followed to its end, and nobody reads that nothing was sent',
    },
  },
  {
    name: 'an input that is refused now ends an order that may have been sent',
    file: 'src/activities/order/create-order.ts',
    find: 'if (isUnsent || ',
    replacement: 'if (request || isUnsent || ',
    test: {
      file: 'test/workflows/create/after-restore.nightly.test.ts',
      name: 'an input that is refused more strictly than when it was sent ends no order after a restore',
    },
  },
  {
    name: 'a reset run ends by absence that the run before it has read',
    file: 'src/workflows/create/create-order.ts',
    find: 'facts.absence?.readIn !== workflowInfo().runId',
    replacement: 'facts.absence === undefined',
    test: {
      file: 'test/reliability/reset-waiting.test.ts',
      name: 'a run that was reset does not end as one of which nothing was sent closed as absent, it proves that once more',
    },
  },
  {
    name: 'a stop that a failover opened again is taken for over',
    file: 'src/client/accounts.ts',
    find: 'if (!newest) return { account };',
    replacement: 'if (!newest || over.has(newest.runId)) return { account };',
    test: {
      file: 'test/simulator/seeds.test.ts',
      name: 'orders of all types live through faults, kills and resets of the first seeds, and no rule is broken',
    },
  },
  {
    name: 'a cancelled chunk of a batch waits by its cancelled signal',
    file: 'src/activities/batch/send-batch-rows.ts',
    find: 'signal.aborted ? {} : { signal }',
    replacement: '{ signal }',
    test: {
      file: 'test/simulator/seeds.test.ts',
      name: 'orders of all types live through faults, kills and resets of the first seeds, and no rule is broken',
    },
  },
];
