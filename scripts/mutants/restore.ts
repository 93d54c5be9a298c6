import type { Mutant } from './mutant.js';

/** Mistakes about what a Temporal that was lost, or restored from a backup, may have forgotten. */
export const RESTORE_MUTANTS: readonly Mutant[] = [
  {
    name: 'absence counts at once after a restore',
    file: 'src/activities/order/after-restore.ts',
    find: 'currentAttemptScheduledTimestampMs) >= countsFromMs',
    replacement: 'currentAttemptScheduledTimestampMs) >= restoredAtMs',
    test: {
      file: 'test/reliability/restored-backup.test.ts',
      name: 'Temporal restored from a backup of before a create was sent, while the service does not show it yet: it is paid once',
    },
  },
  {
    name: 'a cancellation ends an order whose create a restored Temporal may have forgotten',
    file: 'src/workflows/order/state.ts',
    find: 'restoredAtMs > restoreSettledMs;',
    replacement: 'restoredAtMs > restoreSettledMs + Number.MAX_VALUE;',
    test: {
      file: 'test/reliability/restored-backup.test.ts',
      name: 'an order cancelled while a restored Temporal may have forgotten its create ends as what was paid',
    },
  },
  {
    name: 'follow-ups of a lost run are not looked for',
    file: 'src/activities/order/read-outcome.ts',
    find: 'asked.filter((id) => items.some((item) => item.user_order_id === id))',
    replacement: 'asked.filter((id) => items.some(() => id === of))',
    test: {
      file: 'test/workflows/compensation/lost-follow-ups.server.test.ts',
      name: 'follow-ups of a run that is lost what the second one paid is not paid again by the first one, and is not told as left',
    },
  },
  {
    name: 'what was parked is refused unseen',
    file: 'src/workflows/create/end-unsent.ts',
    find: "if (seen.kind !== 'absent') return seen;",
    replacement: '',
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
      file: 'test/workflows/create/after-restore.server.test.ts',
      name: 'an input that is refused more strictly than when it was sent ends no order after a restore',
    },
  },
  {
    name: 'a reset run that was cancelled stays where it waits',
    file: 'src/workflows/create/end-unsent.ts',
    find: '!run.cancelLookedFor && knowsOfNoSend(run)',
    replacement: '!run.cancelLookedFor && noSendInDoubt(run)',
    test: {
      file: 'test/reliability/reset-waiting.test.ts',
      name: 'a reset run goes on from every event of one whose cancellation found its order',
    },
  },
  {
    name: 'a reset run ends by absence that the run before it has read',
    file: 'src/workflows/create/settle.ts',
    find: "seen.kind !== 'absent' || run.answeredIn === run.runId",
    replacement: "seen.kind !== 'absent' || run.answeredIn",
    test: {
      file: 'test/reliability/reset-waiting.test.ts',
      name: 'a run that was reset does not end as one of which nothing was sent closed as absent, it proves that once more',
    },
  },
];
