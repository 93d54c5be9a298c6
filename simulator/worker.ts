import {
  type ActivityDeps,
  accountAtCreate,
  confirmAttempt,
  createActivities,
  PolicyDesk,
  readStop,
} from '../src/activities/index.js';
import type { WorkerConfig } from '../src/config.js';
import { createTaskQueue, lookupTaskQueue, ORDERS_TASK_QUEUE } from '../src/contract/names.js';
import { openAccounts } from '../src/worker/accounts.js';
import type { Engine } from './engine/engine.js';
import { Process } from './process.js';
import type { SimulatedService } from './service.js';

/** Starts a worker of the product. Its caches, limiter and groups go with it. */
export async function startWorker(
  engine: Engine,
  service: SimulatedService,
  config: WorkerConfig,
  { name, audit }: { name: string } & Pick<ActivityDeps, 'audit'>,
): Promise<Process> {
  const process = new Process(name);
  const accounts = await openAccounts(config.accounts, service.transportOf(process));
  const activities = createActivities({
    ...config,
    ...{ accounts, readStop, accountAtCreate, confirmAttempt, audit, policyDesk: new PolicyDesk() },
  });
  const perAccount = [...config.accounts.keys()].flatMap((one) => [createTaskQueue(one), lookupTaskQueue(one)]);
  engine.hosts.push({
    ...{ identity: name, queues: new Set([ORDERS_TASK_QUEUE, ...perAccount]) },
    activities: activities as never,
    get isAlive() {
      return process.isAlive;
    },
  });
  return process;
}
