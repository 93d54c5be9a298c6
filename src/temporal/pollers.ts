import type { ConnectionLike } from '@temporalio/client';
import type { Version } from '../config.js';
import { maskWords } from '../contract/masking.js';
import { createTaskQueue } from '../contract/names.js';

/** Pollers of an account's create queue, and an operator's limit on it. */
export interface SeenQueue {
  /** Last poll per identity, by the server's clock. */
  pollers: ReadonlyMap<string, number>;
  limit?: number | undefined;
}

/** Wire numbers. */
const ACTIVITY_QUEUE = 2;
const ENHANCED_MODE = 1;

/** Returns the server's name of a version. */
export const versionName = ({ deploymentName, buildId }: Version): string => `${deploymentName}:${buildId}`;

/** Server and version of a question. */
export interface Asking {
  connection: Pick<ConnectionLike, 'workflowService'>;
  namespace: string;
  version?: Version;
}

const queueOf = (namespace: string, account: string) => ({
  namespace,
  taskQueue: { name: createTaskQueue(account) },
  taskQueueType: ACTIVITY_QUEUE,
});

/** Reads pollers and limit of a create queue. */
const readQueue = ({ connection, namespace }: Asking, account: string) =>
  connection.workflowService.describeTaskQueue({ ...queueOf(namespace, account), reportConfig: true });

/** Returns why a create queue is stopped: an operator set its limit to 0. */
export async function stoppedQueue(asking: Asking, account: string): Promise<string | undefined> {
  const { queueRateLimit } = (await readQueue(asking, account)).config ?? {};
  if (queueRateLimit?.rateLimit?.requestsPerSecond !== 0) return undefined;
  const { reason } = queueRateLimit.metadata ?? {};
  return `its create queue has the limit 0 in Temporal${reason ? ` (${maskWords(reason)})` : ''}`;
}

/** Reads a create queue in both modes: one shows the limit, the other all pollers. */
export async function seenQueue(asking: Asking, account: string): Promise<SeenQueue> {
  const { connection, namespace, version } = asking;
  const { pollers, config, versioningInfo } = await readQueue(asking, account);
  const { currentDeploymentVersion, rampingDeploymentVersion } = versioningInfo ?? {};
  const polling = (pollers ?? []).map(({ deploymentOptions }) => deploymentOptions);
  const versions = [version, currentDeploymentVersion, rampingDeploymentVersion, ...polling].flatMap((other) =>
    other?.deploymentName && other.buildId
      ? [versionName({ deploymentName: other.deploymentName, buildId: other.buildId })]
      : [],
  );
  const { versionsInfo } = await connection.workflowService.describeTaskQueue({
    ...queueOf(namespace, account),
    apiMode: ENHANCED_MODE,
    taskQueueTypes: [ACTIVITY_QUEUE],
    reportPollers: true,
    ...(versions.length > 0 && { versions: { unversioned: true, buildIds: [...new Set(versions)] } }),
  });
  const everywhere = Object.values(versionsInfo ?? {}).flatMap(({ typesInfo }) =>
    Object.values(typesInfo ?? {}).flatMap((info) => info.pollers ?? []),
  );
  const seen = new Map<string, number>();
  for (const { identity, lastAccessTime } of [...(pollers ?? []), ...everywhere]) {
    const polledAt = Number(lastAccessTime?.seconds ?? 0) * 1_000 + (lastAccessTime?.nanos ?? 0) / 1e6;
    if (identity) seen.set(identity, Math.max(polledAt, seen.get(identity) ?? 0));
  }
  // 0 stops creates alone: look-ups keep the configured limit.
  return { pollers: seen, limit: config?.queueRateLimit?.rateLimit?.requestsPerSecond || undefined };
}
