import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { lookupTaskQueue } from '../contract/names.js';
import { type CallOptions, callTemporal } from './temporal-calls.js';

const { TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;

/** Returns true if a worker polled the account's look-up queue in the last minutes. */
export async function isAccountServed(client: Client, account: string, options?: CallOptions): Promise<boolean> {
  const request = {
    namespace: client.options.namespace,
    taskQueue: { name: lookupTaskQueue(account) },
    taskQueueType: TASK_QUEUE_TYPE_ACTIVITY,
  };
  const { pollers } = await callTemporal(client, () => client.workflowService.describeTaskQueue(request), options);
  return (pollers ?? []).length > 0;
}

/** Starts within this time share one check. */
const SHARED_FOR_MS = 5_000;
/** A start waits no longer for the check. */
const CHECK_TIMEOUT_MS = 1_000;

type Checks = Map<string, { until: number; served: Promise<boolean | undefined> }>;
const checksOf = new WeakMap<Client, Checks>();

/** Returns the same for starts, a few seconds old at most; undefined if the check failed. */
export function servedLately(client: Client, account: string): Promise<boolean | undefined> {
  const checks: Checks = checksOf.get(client) ?? new Map();
  checksOf.set(client, checks);
  const known = checks.get(account);
  if (known && performance.now() < known.until) return known.served;
  const served = isAccountServed(client, account, { timeoutMs: CHECK_TIMEOUT_MS }).catch(() => undefined);
  checks.set(account, { until: performance.now() + SHARED_FOR_MS, served });
  return served;
}
