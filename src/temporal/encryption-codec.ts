import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { EncryptionKey } from '../config.js';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/** The format of Temporal's own samples, so that programs in other languages can share it: IV, ciphertext, tag. */
const CIPHER = 'aes-256-gcm';
const ENCODING = Buffer.from('binary/encrypted');
const KEY_ID = 'encryption-key-id';
/** The server's own word about an activity that was cancelled before a worker had it: nobody could encrypt it. */
const OF_SERVER = Buffer.from('"ACTIVITY_ID_NOT_STARTED"');
// Random IVs of 12 bytes are safe for 2^32 payloads of one key: about a hundred million orders.
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A payload says that it is encrypted and cannot be decrypted here. Whoever reads it must fail, not guess. */
export class PayloadDecryptionError extends Error {
  override readonly name = 'PayloadDecryptionError';
  readonly kind = 'decryption';
}

/**
 * Encrypts whole payloads, their metadata too, with the first key and decrypts with any; without keys it encrypts
 * nothing. Plain payloads are read as they are, so that encryption can be switched on under running workflows. Decoding
 * throws PayloadDecryptionError on an unknown key and on bytes that were changed. `onPlain`: told of every plain payload that
 * is read although there are keys.
 */
export function encryptionCodec(keys: readonly EncryptionKey[] = [], onPlain?: OnPlainPayload): PayloadCodec {
  const [first] = keys;
  return {
    encode: async (payloads) => (first ? payloads.map((payload) => encrypt(first, payload)) : payloads),
    decode: async (payloads, context) =>
      payloads.map((payload) => {
        if (isEncrypted(payload)) return decrypt(keys, payload);
        if (first && !OF_SERVER.equals(bytesOf(payload.data))) onPlain?.(context?.workflowId);
        return payload;
      }),
  };
}

/** Begins the encoding of a payload that stands for one that could not be read; the reason follows. Converters throw on it. */
const UNREADABLE = 'unreadable: ';

/**
 * A worker's codec: what it cannot decode becomes a payload whose encoding says why. A codec does not know what a payload is
 * for, and one that throws fails the whole workflow task, again and again, also for an argument that nobody reads: whoever
 * may send a signal could hold up any order for good. Whoever does read such a payload gets an error, never a value.
 */
export function markUnreadable(codec: PayloadCodec): PayloadCodec {
  const decodeOrMark = async (payload: Payload, context: Parameters<PayloadCodec['decode']>[1]): Promise<Payload[]> => {
    try {
      return await codec.decode([payload], context);
    } catch (error) {
      const why = error instanceof PayloadDecryptionError ? error.message : 'the codec failed on it';
      return [{ metadata: { encoding: Buffer.from(`${UNREADABLE}${why}`) } }];
    }
  };
  return {
    encode: (payloads, context) => codec.encode(payloads, context),
    decode: async (payloads, context) =>
      (await Promise.all(payloads.map((payload) => decodeOrMark(payload, context)))).flat(),
  };
}

const isEncrypted = ({ metadata }: Payload): boolean => ENCODING.equals(bytesOf(metadata?.encoding));

/** Empty bytes of the wire are an array and no Uint8Array, whatever their type says. */
const bytesOf = (bytes: Uint8Array | null | undefined): Buffer => Buffer.from(bytes ?? []);

function encrypt({ id, key }: EncryptionKey, payload: Payload): Payload {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
  const body = [cipher.update(PayloadMessage.encode(payload).finish()), cipher.final()];
  return {
    metadata: { encoding: ENCODING, [KEY_ID]: Buffer.from(id) },
    data: Buffer.concat([iv, ...body, cipher.getAuthTag()]),
  };
}

function decrypt(keys: readonly EncryptionKey[], { metadata, data }: Payload): Payload {
  const keyId = bytesOf(metadata?.[KEY_ID]).toString();
  const known = keys.find(({ id }) => id === keyId);
  // The id comes from outside: only what could be one is repeated.
  if (!known) {
    const shown = /^[A-Za-z0-9_.-]{1,64}$/.test(keyId) ? keyId : '(unreadable id)';
    throw new PayloadDecryptionError(`payload encrypted with key ${shown}: not in PAYLOAD_ENCRYPTION_KEYS`);
  }
  const bytes = bytesOf(data);
  try {
    const decipher = createDecipheriv(CIPHER, known.key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const plain = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
    return PayloadMessage.decode(plain);
  } catch {
    throw new PayloadDecryptionError(`payload cannot be decrypted with key ${keyId}: changed, or it is another key`);
  }
}

/** Says a warning; `meta` names the workflow that it is about. */
export type Warn = (message: string, meta: { workflowId?: string }) => void;

/** A payload in the clear was read beside configured keys; `workflowId`: whose it is, where the SDK tells. */
export type OnPlainPayload = (workflowId?: string) => void;

/** One plain order is read many times, and one backend without keys starts many. */
const WARN_INTERVAL_MS = 60_000;

/** Names no content: the payload itself is what must not be repeated. */
const MESSAGE =
  'read a payload that is not encrypted, although PAYLOAD_ENCRYPTION_KEYS is set here: a process without it wrote it, or it ' +
  'is older than the keys. Set PAYLOAD_ENCRYPTION_KEYS in every backend, receiver, starter and worker. To see it: temporal ' +
  'workflow show --output json --workflow-id <the workflowId of this line>, without a codec endpoint; what can be read there ' +
  'is plain, and the identity beside it names the process that wrote it. Said once a minute at most';

/** Warns of plain payloads, at most once a minute, whatever the number of those in between. */
export function warnOfPlainPayloads(warn: Warn, nowMs: () => number = () => performance.now()): OnPlainPayload {
  let silentUntilMs = Number.NEGATIVE_INFINITY;
  return (workflowId) => {
    const now = nowMs();
    if (now < silentUntilMs) return;
    silentUntilMs = now + WARN_INTERVAL_MS;
    warn(MESSAGE, { ...(workflowId && { workflowId }) });
  };
}
