import { createActivities } from '../src/activities/index.js';
import type { WorkerConfig } from '../src/config.js';
import { createTaskQueue, eventsTaskQueue, lookupTaskQueue, ORDERS_TASK_QUEUE } from '../src/contract/names.js';
import type { openAccounts } from '../src/worker/accounts.js';
import { activitiesOf, type Live } from '../src/worker/activities.js';
import { Failovers } from '../src/worker/failovers.js';
import { refuseForeign } from '../src/worker/interceptors.js';
import type { Host } from './engine/activity.js';
import type { Engine } from './engine/engine.js';
import { openSandbox, type WorkflowSandbox } from './engine/sandbox.js';
import { NAMESPACE } from './engine/wire.js';
import type { Process } from './process.js';

/** Loads the workflows of a bundle with all activities that a worker has. */
export const openWorkflows = (code: string): Promise<WorkflowSandbox> =>
  openSandbox(code, Object.keys(createActivities({ accounts: new Map() } as never)));

/** Starts a worker of the product. Its caches go with it, as do the limiter and the groups of its accounts. */
export async function startWorker(
  engine: Engine,
  config: WorkerConfig,
  accounts: Awaited<ReturnType<typeof openAccounts>>,
  process: Process,
  live: Live,
): Promise<Host> {
  const perAccount = [...config.accounts.keys()].flatMap((one) => [createTaskQueue(one), lookupTaskQueue(one)]);
  const perReceiver = [...(config.receivers?.keys() ?? [])].map(eventsTaskQueue);
  const host: Host = {
    interceptors: [refuseForeign],
    ...{ identity: process.name, queues: new Set([ORDERS_TASK_QUEUE, ...perAccount, ...perReceiver]), activities: {} },
    get isAlive() {
      return process.isAlive;
    },
    get isFrozen() {
      return process.isFrozen;
    },
    thawed: () => process.thawed(),
  };
  const failovers = new Failovers(engine.clientOf(host).connection, NAMESPACE, engine.logger);
  await failovers.look();
  // A local namespace never fails over; to ask for it every few seconds would be most of a story's work.
  if (engine.failovers) process.onEnd = failovers.start();
  Object.assign(host.activities, activitiesOf(config, accounts, { ...live, failovers }));
  engine.hosts.push(host);
  return host;
}
