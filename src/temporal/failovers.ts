import type { ConnectionLike } from '@temporalio/client';

/** How a namespace is replicated. */
export interface Replication {
  /** Replicated to other clusters, or able to be. */
  isGlobal: boolean;
  /** Changes with each failover. */
  version: string;
  /** Newest failover that Temporal reports; absent = none. */
  failedOverAtMs?: number;
}

/** What of a connection is asked. */
export type AskedNamespace = Pick<ConnectionLike, 'workflowService'>;

/** Reads how a namespace is replicated. */
export async function replicationOf({ workflowService }: AskedNamespace, namespace: string): Promise<Replication> {
  const { isGlobalNamespace, failoverVersion, failoverHistory } = await workflowService.describeNamespace({
    namespace,
  });
  const times = (failoverHistory ?? []).map(({ failoverTime }) => Number(failoverTime?.seconds ?? 0) * 1_000);
  const newest = Math.max(0, ...times);
  return {
    isGlobal: isGlobalNamespace ?? false,
    version: String(failoverVersion ?? 0),
    ...(newest > 0 && { failedOverAtMs: newest }),
  };
}
