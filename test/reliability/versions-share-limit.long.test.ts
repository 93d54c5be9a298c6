import { afterAll, expect, onTestFinished, test } from 'vitest';
import { type DevServer, startDevServer } from '../../scripts/temporal/dev-server.js';
import { shareOf } from '../../src/worker/limit-shares.js';
import { openLab } from '../support/lab.js';
import { endProcesses } from '../worker/process.fixture.js';
import { startVersion, untilShares } from '../worker/versions.fixture.js';

afterAll(endProcesses);

// Four partitions, as servers have them: a worker's one poll is in one of them.
test.for([1, 4])('workers of two versions share one limit, with %i partitions of each queue', async (partitions) => {
  const server: DevServer = await startDevServer({
    log: () => undefined,
    dynamicConfig: {
      'matching.numTaskqueueReadPartitions': partitions,
      'matching.numTaskqueueWritePartitions': partitions,
    },
  });
  onTestFinished(() => server.stop());
  const lab = await openLab({ workers: false, temporalAddress: server.address });
  onTestFinished(() => lab.close());
  const env = { PAYMENT_REQUESTS_PER_SECOND: '40', TEMPORAL_ADDRESS: server.address };
  const workers = await Promise.all(['a', 'b'].map((build) => startVersion(lab, 'src/worker.ts', build, env)));
  await untilShares(workers, shareOf(40, 2), 90_000);
  for (const worker of workers) worker.kill('SIGTERM');
  expect(await Promise.all(workers.map(({ exited }) => exited))).toEqual([0, 0]);
});
