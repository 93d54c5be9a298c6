import {
  Client,
  type ClientInterceptors,
  Connection,
  defaultGrpcRetryOptions,
  isGrpcServiceError,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';
import { type DataConverter, defaultPayloadConverter, type LoadedDataConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { Encryption } from './config/encryption-keys.js';
import { loadEncryption, loadTemporalTarget } from './config.js';
import { messageOf } from './contract/failures.js';
import { SEARCH_ATTRIBUTES } from './contract/names.js';
import { EncodedFailures } from './contract/refused.js';
import { encryptionCodec, PayloadDecryptionError } from './temporal/encryption-codec.js';

export { ConfigError } from './config/env.js';
export { encryptionCodec, PayloadDecryptionError } from './temporal/encryption-codec.js';

const { IndexedValueType } = proto.temporal.api.enums.v1;

/** Temporal is unreachable. The message says what to check, and whether a start may be repeated. */
export class TemporalUnreachableError extends Error {
  override readonly name = 'TemporalUnreachableError';
  readonly kind = 'unreachable';

  constructor(address: string, namespace: string, because: string) {
    super(
      `cannot reach Temporal at ${address}, namespace ${namespace}: ${because}. Check TEMPORAL_ADDRESS and the other TEMPORAL_* variables`,
    );
  }
}

/** Temporal refuses the call: search attributes or permissions are missing. */
export class TemporalSetupError extends Error {
  override readonly name = 'TemporalSetupError';
  readonly kind = 'setup';

  constructor(reason: string, next: string) {
    super(`Temporal refused the call: ${reason}. ${next}`);
  }
}

/** Returns the connection by `TEMPORAL_*`. Throws ConfigError. */
export const temporalTarget = () => loadTemporalTarget();

/** Throws for a failure that is not authentic. */
function foreignFailure(why: string): never {
  throw new PayloadDecryptionError(why, 'foreign');
}

/**
 * Returns the failure converter beside encrypted payloads, outside workflows. Throws
 * PayloadDecryptionError for failures that are not ours.
 */
export const encodedFailures = (required: boolean): EncodedFailures => new EncodedFailures(required, foreignFailure);

/** Returns the data converter of clients, with encryption if there are keys. */
export function dataConverter({ encryptionKeys: keys, encryptionRequired = false }: Encryption = {}): DataConverter {
  const payloadCodecs = [encryptionCodec(keys, { required: encryptionRequired })];
  if (!keys) return { payloadCodecs };
  const failureConverter = encodedFailures(encryptionRequired);
  const loaded: LoadedDataConverter = { payloadConverter: defaultPayloadConverter, failureConverter, payloadCodecs };
  return loaded;
}

/** Returns the data converter by `PAYLOAD_ENCRYPTION` and its keys. Throws ConfigError. */
export const configuredDataConverter = (): DataConverter => dataConverter(loadEncryption());

type Interceptor = ReturnType<typeof makeGrpcRetryInterceptor>;

const RETRY = defaultGrpcRetryOptions();
const retryAll = makeGrpcRetryInterceptor(RETRY);
const retryList = makeGrpcRetryInterceptor({
  ...RETRY,
  retryableDecider: (attempt, status) => status.code !== GRPC.unknown && RETRY.retryableDecider(attempt, status),
});

/** Repeats calls as the SDK does, but for a list's UNKNOWN: 20 s for each forged page token. */
const retried: Interceptor = (options, next) =>
  (options.method_definition.path.endsWith('/ListWorkflowExecutions') ? retryList : retryAll)(options, next);

/** Connects a client; close it when done. Throws ConfigError and TemporalUnreachableError. */
export async function connectTemporal(
  encryption: Encryption = loadEncryption(),
  connectTimeout: `${number}s` = '10s',
  interceptors: ClientInterceptors = {},
): Promise<{ client: Client; close: () => Promise<void> }> {
  const { connectionOptions, address, namespace } = temporalTarget();
  try {
    const connection = await Connection.connect({ ...connectionOptions, connectTimeout, interceptors: [retried] });
    const client = new Client({ connection, namespace, dataConverter: dataConverter(encryption), interceptors });
    return { client, close: () => connection.close() };
  } catch (error) {
    throw new TemporalUnreachableError(address, namespace, messageOf(error));
  }
}

/** Attributes of a type that a database keeps in a namespace. Elasticsearch has no such limit. */
const MOST_IN_DATABASE = { KEYWORD: 10, BOOL: 3, DATETIME: 3 };

/** Returns how missing search attributes are made; undefined if none are missing. */
export async function searchAttributesAdvice(client: Client): Promise<string | undefined> {
  const { namespace } = client.options;
  const told = await client.connection.operatorService.listSearchAttributes({ namespace }).catch(unlessNotOffered);
  if (!told) return undefined;
  const { customAttributes = {}, storageSchema = {} } = told;
  const numberOf = (type: string) => IndexedValueType[`INDEXED_VALUE_TYPE_${type}` as keyof typeof IndexedValueType];
  const wanted = Object.entries(SEARCH_ATTRIBUTES);
  const lacking = wanted.filter(([name, type]) => customAttributes[name] !== numberOf(type));
  if (lacking.length === 0) return undefined;
  const full = Object.entries(MOST_IN_DATABASE).flatMap(([type, most]) => {
    const isOthers = ([name, value]: [string, unknown]) => value === numberOf(type) && !(name in SEARCH_ATTRIBUTES);
    const others = Object.entries(customAttributes).filter(isOthers).length;
    const ours = wanted.filter((one) => one[1] === type).length;
    if (others + ours <= most) return [];
    return `it has ${others} ${typeForCli(type)} attributes of others, and a database keeps ${most} in a namespace, of which this needs ${ours}`;
  });
  if (full.length > 0 && Object.keys(storageSchema).length === 0)
    return `They do not fit: ${full.join('; ')}. Use a namespace of its own, or remove attributes that nothing uses`;
  const wrong = lacking.filter(([name]) => name in customAttributes).map(([name]) => `--name ${name}`);
  const flags = lacking.map(([name, type]) => `--name ${name} --type ${typeForCli(type)}`);
  const server = atServer(client);
  const remove = `temporal operator search-attribute remove --yes --namespace ${namespace} ${wrong.join(' ')}${server} && `;
  const create = `temporal operator search-attribute create --namespace ${namespace} ${flags.join(' ')}${server}`;
  return `Run: ${wrong.length > 0 ? remove : ''}${create}`;
}

/** Returns the connection options of a printed `temporal` command. */
export const atServer = ({ connection }: Client): string =>
  connection instanceof Connection ? ` --address ${connection.options.address}` : '';

/** Returns a type in the command line's spelling: KEYWORD_LIST → KeywordList. */
const typeForCli = (type: string): string =>
  type.replace(/_?([A-Z])([A-Z]*)/g, (_, first: string, rest: string) => first + rest.toLowerCase());

/** Temporal Cloud has no operator service: users create attributes on its web page. */
function unlessNotOffered(error: unknown): undefined {
  const code = grpcStatus(error)?.code;
  if (code !== GRPC.unimplemented && code !== GRPC.permissionDenied) throw error;
}

/** Wire numbers of the gRPC statuses in use. */
export const GRPC = {
  cancelled: 1,
  unknown: 2,
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

/** Returns the gRPC status of an SDK error, possibly from its cause; undefined for other errors. */
export function grpcStatus(error: unknown): { code: number; details: string } | undefined {
  if (isGrpcServiceError(error)) return error;
  return error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : undefined;
}

/** Minimum interval of warnings: one plain order is read many times. */
const WARN_INTERVAL_MS = 60_000;

/** Contains no content of the payload. */
const PLAIN_PAYLOAD =
  'read a payload that is not encrypted, although PAYLOAD_ENCRYPTION_KEYS is set here: a process without it wrote it, or it ' +
  'is older than the keys. Set PAYLOAD_ENCRYPTION_KEYS in every backend, receiver, starter and worker. To see it: temporal ' +
  'workflow show --output json --workflow-id <the workflowId of this line>, without a codec endpoint; what can be read there ' +
  'is plain, and the identity beside it names the process that wrote it. Said once a minute at most';

/** Warns of plain payloads, at most once a minute. */
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
