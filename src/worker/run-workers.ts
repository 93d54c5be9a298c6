import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from '@temporalio/worker';

/** A create attempt may take 50 s, so a stopping worker waits longer. */
export const SHUTDOWN_GRACE_MS = 55_000;
const LOOK_MS = 500;

const WORKER_FAILED =
  'a worker failed: the log line "Worker failed" says why. No order is lost: other workers go on with them, and so does this one once that is mended and it is started again';

/**
 * Runs workers until all are shut down. Rejects once one of them has failed, when the others had
 * their time to end: after a failure, the SDK may wait for ever for its own polls.
 */
export async function runAll(workers: readonly Worker[]): Promise<void> {
  const has = (...states: State[]) => workers.some((worker) => states.includes(worker.getState()));
  let isOver = false;
  const ended = Promise.all(workers.map((worker) => worker.run())).finally(() => {
    isOver = true;
  });
  const untilFailed = async (): Promise<void> => {
    while (!isOver && !has('FAILED')) await sleep(LOOK_MS, undefined, { ref: false });
    if (has('FAILED')) throw new Error(WORKER_FAILED);
  };
  try {
    await Promise.race([ended, untilFailed()]);
  } catch {
    shutDown(workers);
    const untilMs = performance.now() + SHUTDOWN_GRACE_MS;
    while (has('STOPPING', 'DRAINING', 'DRAINED') && performance.now() < untilMs) await sleep(LOOK_MS);
    throw new Error(WORKER_FAILED);
  }
}

/** Shuts down those that run. The SDK throws for others. */
export function shutDown(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}

type State = ReturnType<Worker['getState']>;
