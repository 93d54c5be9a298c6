import { Worker, type WorkflowBundlePath } from '@temporalio/worker';
import type { TestNamespace } from '../../support/temporal.js';
import { releaseAll, work } from './activities.js';
import { QUEUE, type Report, runOn, type Side } from './lab.js';
import { programs } from './programs.js';

/** Programs under way: more only wait for each other on a busy server. */
const AT_ONCE = 16;

/** Runs programs on a server, some at once; `stop` ends the workers after them. */
export async function runOnServer(
  { nativeConnection, namespace, client }: Omit<TestNamespace, 'close'>,
  workflowBundle: WorkflowBundlePath,
  isWanted: (name: string) => boolean = () => true,
): Promise<{ reports: Map<string, Promise<Report>>; stop: () => Promise<void> }> {
  const running: { worker: Worker; ended: Promise<void> }[] = [];
  const begin = async (taskQueue: string, more: object) => {
    const worker = await Worker.create({
      ...{ connection: nativeConnection, namespace, taskQueue, activities: { work }, ...more },
      // Every heartbeat is sent, as on the engine.
      ...{ maxHeartbeatThrottleInterval: 50, defaultHeartbeatThrottleInterval: 50 },
    });
    running.push({ worker, ended: worker.run() });
  };
  const side: Side = { client, serve: (queue) => begin(queue, {}) };
  await begin(QUEUE, { workflowBundle, maxConcurrentActivityTaskExecutions: 200 });
  const wanted = programs.filter(({ name }) => isWanted(name));
  const lanes: Promise<unknown>[] = Array.from({ length: AT_ONCE }, async () => undefined);
  const reports = new Map(
    wanted.map((program, n) => {
      const report = lanes[n % AT_ONCE]?.then(() => runOn(side, program)) as Promise<Report>;
      lanes[n % AT_ONCE] = report.catch(() => undefined);
      return [program.name, report];
    }),
  );
  const stop = async () => {
    releaseAll();
    for (const { worker } of running) worker.shutdown();
    await Promise.all(running.map((one) => one.ended));
  };
  return { reports, stop };
}
