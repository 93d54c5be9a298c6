import type { Client } from '@temporalio/client';
import type { WorkerConfig } from '../config.js';
import { seenQueue } from '../temporal/pollers.js';
import { differingVariables, type Protections, publishedBy, publishedFor } from '../temporal/published.js';
import type { Asked, Finding } from './findings.js';

/** A worker polls once a minute at least; the server shows workers for minutes after their end. */
const GONE_AFTER_MS = 90_000;

/** Compares this configuration with the settings that the account's other workers publish. */
export async function workerSettingsFindings(
  client: Client,
  { config, accounts = new Map(), others }: Asked,
): Promise<readonly Finding[]> {
  const { pace } = config;
  if (!pace) return [];
  const found = [...accounts.keys()].map(async (account): Promise<Finding[]> => {
    const seen = others?.(account) ?? (await publishedTo(client, config.version, account));
    const variables = differingVariables(publishedFor({ ...config, pace }, account), seen);
    if (variables.length === 0) return [];
    const text = `account ${account}: other workers of it have other settings (${variables.join(', ')}). Until all have the same, the stricter one holds where a worker can know it: the longest window, the lowest cap, signatures, the latest restore. Approvers and the audit record hold for each worker's own orders alone. Give all workers the same settings; a rolling change ends this by itself within 2 minutes after the last old worker`;
    // Before a start it is what a change of settings looks like.
    return [{ check: 'worker-settings', level: others ? 'error' : 'warning', account, text }];
  });
  return (await Promise.all(found)).flat();
}

/** What the workers publish that poll the account's create queue now. */
async function publishedTo(
  { connection, options: { namespace } }: Client,
  version: WorkerConfig['version'],
  account: string,
): Promise<Protections[]> {
  const { pollers } = await seenQueue({ connection, namespace, version }, account);
  const newestMs = Math.max(...pollers.values());
  return [...pollers].flatMap(([identity, polledAtMs]) =>
    newestMs - polledAtMs < GONE_AFTER_MS ? (publishedBy(identity) ?? []) : [],
  );
}
