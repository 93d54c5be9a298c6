import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { EncryptionKey } from '../config/encryption-keys.js';
import { reconcileWorkflowId, scheduledBatchWorkflowId } from '../contract/names.js';
import { type RefusedKind, refusedPayload } from '../contract/refused.js';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/**
 * As in Temporal's samples: IV, ciphertext, tag. The binding and the key's id are additional data.
 */
const CIPHER = 'aes-256-gcm';
const ENCODING = Buffer.from('binary/encrypted');
const KEY_ID = 'encryption-key-id';
const BOUND_TO = 'encryption-bound-to';
/**
 * Written by the server for an activity that was cancelled before a worker had it, so it is plain.
 */
const OF_SERVER = Buffer.from('"ACTIVITY_ID_NOT_STARTED"');
// Random 12-byte IVs are safe for 2^32 payloads per key, about a hundred million orders.
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Payload that must not be read: it cannot be decrypted or is not authentic. Readers must fail. */
export class PayloadDecryptionError extends Error {
  override readonly name = 'PayloadDecryptionError';
  readonly kind = 'decryption';

  /**
   * `refused`: 'foreign' = not authentic for this workflow; 'unreadable' = a key may be missing.
   */
  constructor(
    message: string,
    readonly refused: RefusedKind = 'unreadable',
  ) {
    super(message);
  }

  /**
   * Returns true also for errors of another copy of this module, because the SDK loads converters
   * by `require`.
   */
  static is(error: unknown): error is PayloadDecryptionError {
    return error instanceof Error && error.name === 'PayloadDecryptionError';
  }
}

/** Options of a codec. */
interface CodecOptions {
  /** Called for every plain payload that is read although there are keys. */
  onPlain?: (workflowId?: string) => void;
  /** Refuses plain payloads, and encrypted ones without a binding. */
  required?: boolean;
  /** Passes refused payloads on as `refusedPayload`; converters then judge each one. */
  marks?: boolean;
}

/**
 * Encrypts whole payloads with the first key, bound to their workflow or activity, and decrypts
 * with any key. Decoding throws PayloadDecryptionError for an unknown key, changed bytes and
 * another binding; plain payloads pass unless `required`. Without a context, as in the codec
 * endpoint, no binding is compared.
 */
export function encryptionCodec(keys: readonly EncryptionKey[] = [], options: CodecOptions = {}): PayloadCodec {
  const [first] = keys;
  const decodeOne = (payload: Payload, context?: SerializationContext): Payload => {
    try {
      return decoded(keys, options, payload, context);
    } catch (error) {
      if (!options.marks) throw error;
      const known = error instanceof PayloadDecryptionError;
      return known
        ? refusedPayload(error.refused, error.message)
        : refusedPayload('unreadable', 'the codec failed on it');
    }
  };
  return {
    encode: async (payloads, context) =>
      first ? payloads.map((payload) => encrypt(first, payload, boundTo(context))) : payloads,
    decode: async (payloads, context) => payloads.map((payload) => decodeOne(payload, context)),
  };
}

const isEncrypted = ({ metadata }: Payload): boolean => ENCODING.equals(bytesOf(metadata?.encoding));

/** Empty bytes of the wire are an array, whatever their type says. */
const bytesOf = (bytes: Uint8Array | null | undefined): Buffer => Buffer.from(bytes ?? []);

/** Returns the decoded payload. Throws PayloadDecryptionError. */
function decoded(
  keys: readonly EncryptionKey[],
  { required, onPlain }: CodecOptions,
  payload: Payload,
  context?: SerializationContext,
): Payload {
  const encrypted = isEncrypted(payload);
  const bound = payload.metadata?.[BOUND_TO];
  const content = encrypted ? decrypt(keys, payload) : payload;
  if (encrypted && (bound ? isFor(bytesOf(bound).toString(), context) : !required)) return content;
  if (bound) throw new PayloadDecryptionError('payload encrypted for another workflow or activity', 'foreign');
  if (required) throw new PayloadDecryptionError(NOT_BOUND, 'foreign');
  if (keys.length > 0 && !OF_SERVER.equals(bytesOf(payload.data))) onPlain?.(context?.workflowId);
  return content;
}

const NOT_BOUND =
  'payload not encrypted by a process of this installation for this workflow, which PAYLOAD_ENCRYPTION=required demands';

function encrypt({ id, key }: EncryptionKey, payload: Payload, bound: string | undefined): Payload {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
  if (bound !== undefined) cipher.setAAD(additionalData(id, bound));
  const body = [cipher.update(PayloadMessage.encode(payload).finish()), cipher.final()];
  return {
    metadata: {
      encoding: ENCODING,
      [KEY_ID]: Buffer.from(id),
      ...(bound !== undefined && { [BOUND_TO]: Buffer.from(bound) }),
    },
    data: Buffer.concat([iv, ...body, cipher.getAuthTag()]),
  };
}

const additionalData = (keyId: string, bound: Uint8Array | string): Buffer =>
  Buffer.concat([Buffer.from(`${keyId}\n`), Buffer.from(bound as string)]);

function decrypt(keys: readonly EncryptionKey[], { metadata, data }: Payload): Payload {
  const keyId = bytesOf(metadata?.[KEY_ID]).toString();
  const known = keys.find(({ id }) => id === keyId);
  // The id is untrusted: only a possible one is quoted.
  if (!known) {
    const shown = /^[A-Za-z0-9_.-]{1,64}$/.test(keyId) ? keyId : '(unreadable id)';
    throw new PayloadDecryptionError(`payload encrypted with key ${shown}: not in PAYLOAD_ENCRYPTION_KEYS`);
  }
  const bytes = bytesOf(data);
  const bound = metadata?.[BOUND_TO];
  try {
    const decipher = createDecipheriv(CIPHER, known.key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    if (bound) decipher.setAAD(additionalData(keyId, bound));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const plain = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
    return PayloadMessage.decode(plain);
  } catch {
    throw new PayloadDecryptionError(`payload cannot be decrypted with key ${keyId}: changed, or it is another key`);
  }
}

/** Subject that a payload is bound to. */
interface Binding {
  namespace: string;
  workflowId: string;
  /** Set for an activity's input, result, failure or heartbeat. */
  activityId?: string;
}

/** Returns the binding of a payload; undefined if the SDK names no workflow. */
function boundTo(context: SerializationContext | undefined): string | undefined {
  const binding = context && bindingOf(context);
  return binding && JSON.stringify(binding);
}

function bindingOf(context: SerializationContext): Binding | undefined {
  const { namespace, workflowId } = context;
  if (workflowId === undefined) return undefined;
  if (context.type === 'workflow') return { namespace, workflowId };
  return { namespace, workflowId, ...(context.activityId !== undefined && { activityId: context.activityId }) };
}

/**
 * Returns true if a payload with this binding may be read in a context, or if there is no context.
 */
function isFor(bound: string, context: SerializationContext | undefined): boolean {
  const binding = context && bindingOf(context);
  if (!binding) return context === undefined;
  if (bound === JSON.stringify(binding)) return true;
  const workflowId = idOfSchedule(binding.workflowId);
  return (
    workflowId !== undefined && context?.type === 'workflow' && bound === JSON.stringify({ ...binding, workflowId })
  );
}

const SCHEDULED = [scheduledBatchWorkflowId('', '').slice(0, -1), reconcileWorkflowId('')];
const AT_TIME = /-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Returns the id without the time that Temporal appends for a schedule. */
function idOfSchedule(workflowId: string): string | undefined {
  if (!SCHEDULED.some((prefix) => workflowId.startsWith(prefix)) || !AT_TIME.test(workflowId)) return undefined;
  return workflowId.replace(AT_TIME, '');
}
