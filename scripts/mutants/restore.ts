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
    file: 'src/workflows/create/after-attempt.ts',
    find: 'isNewRestore(run, verdict) && noSendInDoubt(run)',
    replacement: 'isNewRestore(run, verdict) && rounds.notSent < 0',
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
    file: 'src/workflows/create/conclude.ts',
    find: "return seen.kind === 'absent' ? end : seen;",
    replacement: 'return seen ? end : seen;',
    test: {
      file: 'test/reliability/restored-parked.test.ts',
      name: 'refused, it is followed to its end, and nobody reads that nothing was sent',
    },
  },
];
