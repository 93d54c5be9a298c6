import {
  type ActivityDeps,
  accountAtCreate,
  confirmAttempt,
  createActivities,
  isCopied,
  PolicyDesk,
  readStop,
} from '../activities/index.js';
import type { WorkerConfig } from '../config.js';
import type { Failovers } from './failovers.js';

/** Parts that activities share with their worker. */
export interface Live extends Pick<ActivityDeps, 'others' | 'audit' | 'nowMs' | 'post'> {
  failovers?: Failovers;
}

/**
 * Returns a worker's activities. Before each send they ask whether the attempt counts and the
 * namespace failed over.
 */
export function activitiesOf(
  config: WorkerConfig,
  accounts: ActivityDeps['accounts'],
  { failovers, ...live }: Live,
): ReturnType<typeof createActivities> {
  return createActivities({
    ...{ ...config, ...live, accounts, readStop, accountAtCreate },
    ...(config.encryptionRequired && { isCopied }),
    policyDesk: new PolicyDesk({ ...config, accounts }),
    failedOverAtMs: () => failovers?.newestMs,
    confirmAttempt: async (details) => void (await Promise.all([confirmAttempt(details), failovers?.lookBeforeSend()])),
  });
}
