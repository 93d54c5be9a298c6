import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Problems } from './env.js';
import { checkedBy, isPredictable, secretProblem, TOO_EASY, unique } from './formats.js';

/** Encryption key. Logs cannot show its bytes: a KeyObject prints nothing. */
export interface EncryptionKey {
  /** Stored unencrypted with every payload. */
  id: string;
  key: KeyObject;
}

const ENTRY = /^([A-Za-z0-9_.-]{1,64}):([A-Za-z0-9+/]{43}=)$/;

/** 32 random bytes have about 30 different values. */
const MIN_DIFFERENT_BYTES = 20;

/** Returns an entry; undefined if it is invalid. More than 32 bytes count as a mistake. */
function entryOf(text: string): { id: string; bytes: Buffer } | undefined {
  const [, id = '', base64 = ''] = ENTRY.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  return id !== '' && bytes.toString('base64') === base64 ? { id, bytes } : undefined;
}

/** Schema of PAYLOAD_ENCRYPTION_KEYS: the first key encrypts, all decrypt. */
export const encryptionKeys = checkedBy(secretProblem).transform((list, context): readonly EncryptionKey[] => {
  const texts = list.split(',');
  const entries = texts.flatMap((text) => entryOf(text) ?? []);
  const refuse = (message: string) => context.addIssue({ code: 'custom', message });
  if (entries.length < texts.length) refuse('must be a comma list of id:key, each key the base64 of 32 bytes');
  else if (!unique(entries.map(({ id }) => id))) refuse('names the same key id twice');
  else if (!unique(entries.map(({ bytes }) => bytes.toString('hex')))) refuse('names the same key twice');
  else if (entries.some(({ bytes }) => isPredictable(bytes, MIN_DIFFERENT_BYTES))) refuse(TOO_EASY);
  return entries.map(({ id, bytes }) => ({ id, key: createSecretKey(bytes) }));
});

/** How payloads are protected. Without keys, they are plain. */
export interface Encryption {
  /** The first key encrypts, all decrypt; absent = no encryption. */
  encryptionKeys?: readonly EncryptionKey[];
  /** Refuses payloads that are plain or belong to another workflow. */
  encryptionRequired?: boolean;
}

interface EncryptionSettings {
  PAYLOAD_ENCRYPTION?: 'off' | 'on' | 'required' | undefined;
  PAYLOAD_ENCRYPTION_KEYS?: readonly EncryptionKey[] | undefined;
}

/** Returns how payloads are protected. Reports a PAYLOAD_ENCRYPTION that contradicts the keys. */
export function encryptionOf(settings: EncryptionSettings, problems: Problems): Encryption {
  const { PAYLOAD_ENCRYPTION: mode, PAYLOAD_ENCRYPTION_KEYS: keys } = settings;
  const name = 'PAYLOAD_ENCRYPTION';
  if (mode && mode !== 'off' && !keys) problems.add(name, `${mode} needs ${name}_KEYS (or ${name}_KEYS_FILE)`);
  if (mode === 'off' && keys) problems.add(name, `off contradicts ${name}_KEYS: unset one of them`);
  return { ...(keys && { encryptionKeys: keys }), ...(mode === 'required' && { encryptionRequired: true }) };
}
