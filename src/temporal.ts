import { Client, Connection, isGrpcServiceError } from '@temporalio/client';
import { type DataConverter, defaultPayloadConverter, type LoadedDataConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { type Encryption, loadEncryption, loadTemporalTarget } from './config.js';
import { messageOf } from './contract/failures.js';
import { SEARCH_ATTRIBUTES } from './contract/names.js';
import { EncodedFailures } from './contract/refused.js';
import { encryptionCodec, PayloadDecryptionError } from './temporal/encryption-codec.js';

export { ConfigError } from './config.js';
export { encryptionCodec, PayloadDecryptionError } from './temporal/encryption-codec.js';

const { IndexedValueType } = proto.temporal.api.enums.v1;

/** Temporal cannot be reached; the message says what to check and, after a start, that it may be sent again. */
export class TemporalUnreachableError extends Error {
  override readonly name = 'TemporalUnreachableError';
  readonly kind = 'unreachable';

  constructor(address: string, namespace: string, because: string) {
    super(
      `cannot reach Temporal at ${address}, namespace ${namespace}: ${because}. Check TEMPORAL_ADDRESS and the other TEMPORAL_* variables`,
    );
  }
}

/** Temporal refuses the call as it is set up: search attributes or permissions are missing. */
export class TemporalSetupError extends Error {
  override readonly name = 'TemporalSetupError';
  readonly kind = 'setup';

  constructor(reason: string, next: string) {
    super(`Temporal refused the call: ${reason}. ${next}`);
  }
}

/** Where `TEMPORAL_*` points to; throws ConfigError. */
export const temporalTarget = () => loadTemporalTarget();

/** A failure that nobody with the keys wrote: whoever reads it must not take its word. */
function foreignFailure(why: string): never {
  throw new PayloadDecryptionError(why, 'foreign');
}

/** Failures beside encrypted payloads, outside of workflows: what is not ours is thrown as PayloadDecryptionError. */
export const encodedFailures = (required: boolean): EncodedFailures => new EncodedFailures(required, foreignFailure);

/** Returns how clients write and read payloads: encrypted where there are keys. */
export function dataConverter({ encryptionKeys: keys, encryptionRequired = false }: Encryption = {}): DataConverter {
  const payloadCodecs = [encryptionCodec(keys, { required: encryptionRequired })];
  if (!keys) return { payloadCodecs };
  const failureConverter = encodedFailures(encryptionRequired);
  const loaded: LoadedDataConverter = { payloadConverter: defaultPayloadConverter, failureConverter, payloadCodecs };
  return loaded;
}

/** The same as `PAYLOAD_ENCRYPTION` and `PAYLOAD_ENCRYPTION_KEYS` say; throws ConfigError. */
export const configuredDataConverter = (): DataConverter => dataConverter(loadEncryption());

/** Connects a client, which is to be closed; throws ConfigError and TemporalUnreachableError. */
export async function connectTemporal(
  encryption: Encryption = loadEncryption(),
  connectTimeout: `${number}s` = '10s',
): Promise<{ client: Client; close: () => Promise<void> }> {
  const { connectionOptions, address, namespace } = temporalTarget();
  try {
    const connection = await Connection.connect({ ...connectionOptions, connectTimeout });
    const client = new Client({ connection, namespace, dataConverter: dataConverter(encryption) });
    return { client, close: () => connection.close() };
  } catch (error) {
    throw new TemporalUnreachableError(address, namespace, messageOf(error));
  }
}

/** Returns the commands that make missing search attributes; undefined if none are missing. */
export async function searchAttributesCommand(client: Client): Promise<string | undefined> {
  const { namespace } = client.options;
  const told = await client.connection.operatorService.listSearchAttributes({ namespace }).catch(unlessNotOffered);
  if (!told) return undefined;
  const { customAttributes = {} } = told;
  const wanted = Object.entries(SEARCH_ATTRIBUTES);
  const lacking = wanted.filter(
    ([name, type]) => customAttributes[name] !== IndexedValueType[`INDEXED_VALUE_TYPE_${type}`],
  );
  if (lacking.length === 0) return undefined;
  const wrong = lacking.filter(([name]) => name in customAttributes).map(([name]) => `--name ${name}`);
  const flags = lacking.map(([name, type]) => `--name ${name} --type ${typeForCli(type)}`);
  const server = atServer(client);
  const remove = `temporal operator search-attribute remove --yes --namespace ${namespace} ${wrong.join(' ')}${server} && `;
  const create = `temporal operator search-attribute create --namespace ${namespace} ${flags.join(' ')}${server}`;
  return wrong.length > 0 ? remove + create : create;
}

/** The end of a printed command of the `temporal` program: it works in shells that were told nothing of the server. */
export const atServer = ({ connection }: Client): string =>
  connection instanceof Connection ? ` --address ${connection.options.address}` : '';

/** KEYWORD_LIST → KeywordList, as the command line spells types. */
const typeForCli = (type: string): string =>
  type.replace(/_?([A-Z])([A-Z]*)/g, (_, first: string, rest: string) => first + rest.toLowerCase());

/** Temporal Cloud offers no operator service: there the attributes are made in its console, and starts show what lacks. */
function unlessNotOffered(error: unknown): undefined {
  const code = grpcStatus(error)?.code;
  if (code !== GRPC.unimplemented && code !== GRPC.permissionDenied) throw error;
}

/** Status codes of gRPC that are told apart here, by their number on the wire. */
export const GRPC = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** The gRPC status behind an error of the SDK, which wraps some as a cause; undefined for every other error. */
export function grpcStatus(error: unknown): { code: number; details: string } | undefined {
  if (isGrpcServiceError(error)) return error;
  return error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : undefined;
}

/** One plain order is read many times, and one backend without keys starts many. */
const WARN_INTERVAL_MS = 60_000;

/** Names no content: the payload itself is what must not be repeated. */
const PLAIN_PAYLOAD =
  'read a payload that is not encrypted, although PAYLOAD_ENCRYPTION_KEYS is set here: a process without it wrote it, or it ' +
  'is older than the keys. Set PAYLOAD_ENCRYPTION_KEYS in every backend, receiver, starter and worker. To see it: temporal ' +
  'workflow show --output json --workflow-id <the workflowId of this line>, without a codec endpoint; what can be read there ' +
  'is plain, and the identity beside it names the process that wrote it. Said once a minute at most';

/** Warns of plain payloads, at most once a minute, whatever the number of those in between. */
export function warnOfPlainPayloads(
  warn: (message: string, about: { workflowId?: string }) => void,
  nowMs: () => number = () => performance.now(),
): (workflowId?: string) => void {
  let silentUntilMs = Number.NEGATIVE_INFINITY;
  return (workflowId) => {
    const now = nowMs();
    if (now < silentUntilMs) return;
    silentUntilMs = now + WARN_INTERVAL_MS;
    warn(PLAIN_PAYLOAD, { ...(workflowId && { workflowId }) });
  };
}
