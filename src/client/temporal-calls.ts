import { type Client, Connection, isGrpcCancelledError, isGrpcDeadlineError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { GRPC, grpcStatus } from '../temporal/grpc-status.js';
import { missingSearchAttributesCommand, TemporalUnreachableError } from '../temporal.js';
import { TemporalSetupError } from './errors.js';

/** Bound of a call that only Temporal answers; a server that hangs must not hang its callers. */
const CALL_TIMEOUT_MS = 30_000;

const UNREACHABLE: readonly number[] = [
  GRPC.cancelled,
  GRPC.deadlineExceeded,
  GRPC.resourceExhausted,
  GRPC.unavailable,
  GRPC.unauthenticated,
];

/** True when a call's deadline ended it. On a busy machine gRPC sometimes reports that as a cancelled call. */
export const isTimeOver = (error: unknown): boolean => isGrpcDeadlineError(error) || isGrpcCancelledError(error);

/** True when Temporal says that a query found nobody to answer it. */
export const isNobodyAnswering = (error: unknown): boolean =>
  isTimeOver(error) || grpcStatus(error)?.code === GRPC.failedPrecondition;

/** True when Temporal dropped an update, unseen by the workflow, because the workflow task that carried it failed. */
export const isAbortedUpdate = (error: unknown): boolean =>
  grpcStatus(error)?.details.includes('unexpected workflow task failure') ?? false;

async function setupError(client: Client, details: string): Promise<TemporalSetupError> {
  const command = await missingSearchAttributesCommand(client).catch(() => undefined);
  return new TemporalSetupError(details, command ? `Run: ${command}` : 'Check permissions and set-up of the namespace');
}

/** What an error of the SDK means for a caller; errors that are not about the connection come back as they are. */
export async function translated(client: Client, error: unknown): Promise<unknown> {
  const { namespace } = client.options;
  const address = client.connection instanceof Connection ? client.connection.options.address : 'the given connection';
  if (error instanceof NamespaceNotFoundError)
    return new TemporalUnreachableError(address, namespace, 'no such namespace');
  const status = grpcStatus(error);
  if (!status) return error;
  if (UNREACHABLE.includes(status.code)) return new TemporalUnreachableError(address, namespace, status.details);
  const refused = status.code === GRPC.invalidArgument || status.code === GRPC.permissionDenied;
  return refused ? setupError(client, status.details) : error;
}

/** Runs calls that Temporal answers by itself, within 30 s. Throws TemporalUnreachableError or TemporalSetupError. */
export async function callTemporal<T>(client: Client, call: () => Promise<T>): Promise<T> {
  try {
    return await client.withDeadline(Date.now() + CALL_TIMEOUT_MS, call);
  } catch (error) {
    throw await translated(client, error);
  }
}
