import type { Mutant } from './mutant.js';

const brakes = (name: string): Mutant['test'] => ({
  file: 'test/workflows/batch/funds-brakes.server.test.ts',
  name,
});

/** Brakes of a batch that reach only what its last chunk knew. */
export const BATCH_MUTANTS: readonly Mutant[] = [
  {
    name: 'a stop is refused once every row was started',
    file: 'src/workflows/batch/rules.ts',
    find: "run.phase === 'following'",
    replacement: "run.phase === 'sending'",
    test: {
      file: 'test/workflows/batch/rules.test.ts',
      name: 'rows that are open are stopped though every row was taken, since they may come to wait; they cannot be paused',
    },
  },
  {
    name: 'a row that an earlier run of the batch started is not cancelled by a stop',
    file: 'src/activities/batch/rows/watch-rows.ts',
    find: "found?.status.name !== 'RUNNING' || !isOfBatch(batch, found)",
    replacement: "found?.status.name !== 'RUNNING' || !startedBy(batch, found)",
    test: brakes('a stop reaches rows that an earlier run of the batch started'),
  },
  {
    name: 'a row whose reason cannot be read waits no more',
    file: 'src/activities/batch/rows/watch-rows.ts',
    find: ': progress.short?.includes(open.row);',
    replacement: ': false;',
    test: brakes('a row whose reason cannot be read goes on waiting'),
  },
  {
    name: 'after the last row nothing asks for the latest send time',
    file: 'src/activities/batch/send-batch-rows.ts',
    find: 'const halt = maySend || waits ?',
    replacement: 'const halt = maySend ?',
    test: brakes('while the batch is sent, the latest send time cancels them though every row was started'),
  },
  {
    name: 'orders of a batch have no latest send time',
    file: 'src/batch-files/source.ts',
    find: 'whenShort, latestSend, batchId, reference',
    replacement: 'whenShort, batchId, reference',
    test: brakes('an order of a batch is not sent after its latest send time, whatever it waited for'),
  },
];
