import type { Client } from '@temporalio/client';
import { stateOf } from '../client/accounts.js';
import type { WorkerConfig } from '../config.js';
import { accountStopWorkflowId } from '../contract/names.js';
import { seenQueue } from '../temporal/pollers.js';
import { differingVariables, type Protections, publishedBy, publishedFor } from '../temporal/published.js';
import { atServer, GRPC, grpcStatus, searchAttributesAdvice } from '../temporal.js';
import { advisoriesOn, FLOOR, isBelow } from './advisories.js';
import type { Asked, Finding } from './findings.js';

/** A missing namespace has its own finding. */
function unlessNoNamespace(error: unknown): undefined {
  if (grpcStatus(error)?.code !== GRPC.notFound) throw error;
}

/** Finds a missing namespace. */
export async function namespaceFindings(client: Client): Promise<readonly Finding[]> {
  const { namespace } = client.options;
  const found = await client.workflowService.describeNamespace({ namespace }).catch(unlessNoNamespace);
  if (found) return [];
  const text = `TEMPORAL_NAMESPACE: no such namespace ${namespace}. Create it: temporal operator namespace create ${namespace} --retention 30d${atServer(client)}`;
  return [{ check: 'namespace', level: 'error', text, refuses: true }];
}

/** Closed orders protect their ids during a namespace's retention. */
const MIN_RETENTION_DAYS = 30;

/** Finds a namespace that keeps closed orders for too short a time. */
export async function retentionFindings(client: Client): Promise<readonly Finding[]> {
  const { namespace } = client.options;
  const found = await client.workflowService.describeNamespace({ namespace }).catch(unlessNoNamespace);
  const { seconds } = found?.config?.workflowExecutionRetentionTtl ?? {};
  const days = seconds ? Number(seconds) / 86_400 : MIN_RETENTION_DAYS;
  if (days >= MIN_RETENTION_DAYS) return [];
  const text = `namespace ${namespace} keeps closed orders for ${+days.toFixed(1)} d, less than ${MIN_RETENTION_DAYS}: after that nothing but the service knows that an order id was used. Run: temporal operator namespace update --namespace ${namespace} --retention ${MIN_RETENTION_DAYS}d${atServer(client)}`;
  return [{ check: 'retention', level: 'warning', text }];
}

/** Finds missing or wrong search attributes, which stop every order. */
export async function attributeFindings(client: Client): Promise<readonly Finding[]> {
  const advice = await searchAttributesAdvice(client).catch(unlessNoNamespace);
  if (!advice) return [];
  const { namespace } = client.options;
  const text = `Temporal namespace ${namespace} lacks search attributes of the right type. ${advice}`;
  return [{ check: 'search-attributes', level: 'error', text, refuses: true }];
}

/** Finds a server that is too old, or open to a public advisory. */
export async function serverFindings(client: Client): Promise<readonly Finding[]> {
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  // Temporal Cloud and other servers have versions of their own.
  const [version] = /^1\.\d+\.\d+/.exec(serverVersion ?? '') ?? [];
  if (version === undefined) return [];
  const open = advisoriesOn(version).map(({ id, what }) => `${id}: ${what}`);
  const upgrade = `Upgrade it to ${FLOOR} or newer`;
  if (open.length > 0) {
    const text = `Temporal server ${version} has known holes (${open.join('; ')}): whoever uses them may pay. ${upgrade}`;
    return [{ check: 'server', level: 'error', text }];
  }
  if (!isBelow(version, FLOOR)) return [];
  const text = `Temporal server ${version} is older than ${FLOOR}, the oldest that this was tried with. ${upgrade}`;
  return [{ check: 'server', level: 'warning', text }];
}

/** Finds runs in the place of an account's stop that nobody with the payload keys made. */
export async function stopFindings(client: Client, { accounts = new Map() }: Asked): Promise<readonly Finding[]> {
  const states = await Promise.all([...accounts.keys()].map((account) => stateOf(client, account)));
  return states.flatMap(({ account, foreign }): Finding[] => {
    if (!foreign) return [];
    const text = `account ${account}: run ${foreign} of ${accountStopWorkflowId(account)} was made without the payload keys. It stops nothing, and stop and resume work beside it. Find out who has access to Temporal, then delete the run`;
    return [{ check: 'stops', level: 'error', account, text }];
  });
}

/** Workers poll at least once a minute. The server shows them for minutes after their end. */
const GONE_AFTER_MS = 90_000;

/** Compares this configuration with what the account's other workers publish. */
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
    // Before a start, it may be a change of settings.
    return [{ check: 'worker-settings', level: others ? 'error' : 'warning', account, text }];
  });
  return (await Promise.all(found)).flat();
}

/** Returns what the workers of the account's create queue publish. */
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
