import { defineConfig } from 'vitest/config';
import { TestReporter } from './scripts/test-report.js';
import { LongestFirst } from './test/support/longest-first.js';
import { SIMULATED_TESTS } from './test/support/simulated-tests.js';

/** Tests that need a Temporal server; everything else runs without starting one. */
const TEMPORAL_TESTS = 'test/**/*.server.test.ts';

/** They always live on virtual time: hours and days pass in them, and their service stands behind a gate. */
const VIRTUAL_TESTS = 'test/**/*.simulated.test.ts';

/** Like tests that need a server, for minutes in all: rare combinations of resets, restores, accounts and keys. `npm run nightly`. */
const NIGHTLY_TESTS = 'test/**/*.nightly.test.ts';

/** What tests the simulated service, not the product: `npm test -- --project sandbox`, which CI runs. */
const SANDBOX_TESTS = 'test/sandbox/**/*.test.ts';

/** Minutes of crashes, stopped workers and floods, and what waits for half a minute: `npm run nightly`. CI runs some of them. */
const RELIABILITY_TESTS = ['test/reliability/**/*.test.ts', 'test/model/**/*.test.ts', 'test/**/*.long.test.ts'];

/** On a server each week, one after the other: hours in all. What is simulated, each change lives on virtual time. */
const WEEKLY_TESTS = [
  'test/reliability/first-sends.long.test.ts',
  'test/reliability/first-sends-attacks.long.test.ts',
  'test/reliability/neighbours.long.test.ts',
  'test/reliability/surroundings.long.test.ts',
  'test/worker/events.long.test.ts',
  'test/workflows/create/many-doubts.server.test.ts',
];

/** They hold figures against limits, so each has the machine to itself. `npm run nightly`. */
const MEASURED_TESTS = [
  'test/api/load.long.test.ts',
  'test/receiver/attacks.long.test.ts',
  'test/reliability/bulk-2000.test.ts',
  'test/reliability/bulk-priority.test.ts',
  'test/reliability/bulk-uploaded.long.test.ts',
  'test/reliability/forged-flood.test.ts',
  'test/reliability/forged-unknown-ids.test.ts',
  'test/reliability/limit-in-full.long.test.ts',
  'test/reliability/reconcile-large.long.test.ts',
  'test/reliability/stop-first.test.ts',
  'test/reliability/versions-share-limit.long.test.ts',
  'test/workflows/follow/grouped-polls.long.test.ts',
];

/** After the others, which leave the machine to them; what loads it itself is one file a core, or alone. */
const loading = (maxWorkers: number, groupOrder: number) => ({
  globalSetup: 'test/support/global-setup.ts',
  isolate: true,
  maxWorkers,
  sequence: { groupOrder },
});

export default defineConfig({
  test: {
    // The SDK's native part does not work in worker threads.
    pool: 'forks',
    // Loading the SDK anew for each of two hundred files takes longer than their tests.
    isolate: false,
    // Two for each core where CI runs. More only make tests wait for the processor, some longer than the services they ask.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // For busy machines: the server repeats what got lost on one after a minute, and what is lost twice after two more. Waits
    // inside tests have limits of their own.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', new TestReporter({})],
    outputFile: { json: 'test-results/results.json' },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [TEMPORAL_TESTS, VIRTUAL_TESTS, NIGHTLY_TESTS, SANDBOX_TESTS, ...RELIABILITY_TESTS],
        },
      },
      {
        extends: true,
        test: { name: 'sandbox', include: [SANDBOX_TESTS], globalSetup: 'test/support/compile-setup.ts' },
      },
      {
        extends: true,
        test: {
          name: 'temporal',
          include: [TEMPORAL_TESTS],
          exclude: [...SIMULATED_TESTS],
          globalSetup: 'test/support/global-setup.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'nightly',
          include: [NIGHTLY_TESTS, ...SIMULATED_TESTS.filter((file) => file.endsWith('.server.test.ts'))],
          exclude: WEEKLY_TESTS,
          globalSetup: 'test/support/global-setup.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'simulated',
          include: [VIRTUAL_TESTS, ...SIMULATED_TESTS],
          globalSetup: 'test/support/bundle-setup.ts',
          setupFiles: 'test/support/simulated-setup.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'reliability',
          include: RELIABILITY_TESTS,
          exclude: [...MEASURED_TESTS, ...WEEKLY_TESTS],
          ...loading(2, 1),
        },
      },
      { extends: true, test: { name: 'measured', include: MEASURED_TESTS, ...loading(1, 2) } },
      { extends: true, test: { name: 'weekly', include: WEEKLY_TESTS, ...loading(1, 2) } },
    ],
  },
});
