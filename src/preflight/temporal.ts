import type { Client } from '@temporalio/client';
import { atServer, GRPC, grpcStatus, searchAttributesCommand } from '../temporal.js';
import type { Finding } from './findings.js';

/** One that is missing is told by its own check alone. */
function unlessNoNamespace(error: unknown): undefined {
  if (grpcStatus(error)?.code !== GRPC.notFound) throw error;
}

/** Without its namespace nothing runs. */
export async function namespaceFindings(client: Client): Promise<readonly Finding[]> {
  const { namespace } = client.options;
  const found = await client.workflowService.describeNamespace({ namespace }).catch(unlessNoNamespace);
  if (found) return [];
  const text = `TEMPORAL_NAMESPACE: no such namespace ${namespace}. Create it: temporal operator namespace create ${namespace} --retention 30d${atServer(client)}`;
  return [{ check: 'namespace', level: 'error', text, refuses: true }];
}

/** Closed orders guard their ids for as long as a namespace keeps them. */
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

/** Without its search attributes, or with others of their names, no order of a namespace goes on. */
export async function attributeFindings(client: Client): Promise<readonly Finding[]> {
  const command = await searchAttributesCommand(client).catch(unlessNoNamespace);
  if (!command) return [];
  const { namespace } = client.options;
  const text = `Temporal namespace ${namespace} lacks search attributes of the right type. Run: ${command}`;
  return [{ check: 'search-attributes', level: 'error', text, refuses: true }];
}

/** Minor version of the oldest server 1 that is supported. */
const OLDEST = 29;

/** Finds a server that is too old. */
export async function serverFindings(client: Client): Promise<readonly Finding[]> {
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  const [, minor = OLDEST] = /^1\.(\d+)/.exec(serverVersion ?? '') ?? [];
  if (Number(minor) >= OLDEST) return [];
  const text = `Temporal server ${serverVersion} is older than 1.${OLDEST}, the oldest that this was tried with: upgrade it`;
  return [{ check: 'server', level: 'warning', text }];
}
