import { RECONCILE_WORKFLOW } from '../../src/contract/names.js';
import { type Process, startProcess, temporalEnv, workerEnv } from '../worker/process.fixture.js';
import type { BatchLab } from '../workflows/batch/batches.fixture.js';

/** Worker processes of a lab that are killed and started again. */
export interface KillableWorkers {
  /** kill -9 of all of them, and as many new ones in their place, which are not ready yet. */
  replace(): Promise<void>;
  /** The same with the first of them alone. */
  replaceOne(): Promise<void>;
  pids(): number[];
}

/** Starts a worker process on the lab's namespace, sandbox, receiver and folder; it may not be ready yet. */
export function startBatchWorker(lab: BatchLab, settings: Record<string, string> = {}): Process {
  const { folder, sandbox, temporal, config } = lab;
  return startProcess('src/worker.ts', {
    ...workerEnv(temporalEnv(temporal), sandbox.url, config.callback?.baseUrl),
    ...(config.callback && { CALLBACK_TOKEN_KEY: config.callback.tokenKeys[0] }),
    BATCH_DIR: folder,
    ...settings,
  });
}

/** Starts `count` such workers; resolves once they are ready. */
export async function startKillableWorkers(
  lab: BatchLab,
  count: number,
  settings: Record<string, string>,
): Promise<KillableWorkers> {
  const start = (): Process[] => Array.from({ length: count }, () => startBatchWorker(lab, settings));
  let workers = start();
  await Promise.all(workers.map(({ ready }) => ready));
  return {
    replace: async () => {
      for (const worker of workers) worker.kill('SIGKILL');
      await Promise.all(workers.map(({ exited }) => exited));
      workers = start();
    },
    replaceOne: async () => {
      const [first] = workers;
      first?.kill('SIGKILL');
      await first?.exited;
      workers = [startBatchWorker(lab, settings), ...workers.slice(1)];
    },
    pids: () => workers.map(({ pid }) => pid),
  };
}

/** Attempts of the newest reconciliation: one more than its activities lost. */
export async function reconcileAttempts({ temporal }: BatchLab): Promise<number> {
  const { events } = await temporal.client.workflow.getHandle(`${RECONCILE_WORKFLOW}:default`).fetchHistory();
  const attempts = events?.flatMap(({ activityTaskStartedEventAttributes: started }) => started?.attempt ?? []) ?? [];
  return attempts.reduce((sum, attempt) => sum + attempt - 1, 1);
}
