import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Problems } from './env.js';
import { checkedBy, isPredictable, secretProblem, TOO_EASY, unique } from './formats.js';

/** A key that payloads are encrypted with. Its bytes show in no log: a KeyObject prints nothing of itself. */
export interface EncryptionKey {
  /** Stored with every payload, in the clear. */
  id: string;
  key: KeyObject;
}

const ENTRY = /^([A-Za-z0-9_.-]{1,64}):([A-Za-z0-9+/]{43}=)$/;

/** 32 random bytes have 30 different ones, give or take a few. */
const MIN_DIFFERENT_BYTES = 20;

/** Returns an entry; undefined for what is none. Bits beyond the 32 bytes would be dropped silently, so they count as a mistake. */
function entryOf(text: string): { id: string; bytes: Buffer } | undefined {
  const [, id = '', base64 = ''] = ENTRY.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  return id !== '' && bytes.toString('base64') === base64 ? { id, bytes } : undefined;
}

/** Schema of PAYLOAD_ENCRYPTION_KEYS: the first encrypts, all decrypt. */
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

/** How payloads are protected. Without keys they are plain. */
export interface Encryption {
  /** Payloads are encrypted with the first and decrypted with any; absent = no encryption. */
  encryptionKeys?: readonly EncryptionKey[];
  /** Payloads that are plain, or written for another workflow, are refused wherever they are read. */
  encryptionRequired?: boolean;
}

interface EncryptionSettings {
  PAYLOAD_ENCRYPTION?: 'off' | 'on' | 'required' | undefined;
  PAYLOAD_ENCRYPTION_KEYS?: readonly EncryptionKey[] | undefined;
}

/** Returns how payloads are protected. A word of PAYLOAD_ENCRYPTION that the keys contradict is a mistake. */
export function encryptionOf(settings: EncryptionSettings, problems: Problems): Encryption {
  const { PAYLOAD_ENCRYPTION: mode, PAYLOAD_ENCRYPTION_KEYS: keys } = settings;
  const name = 'PAYLOAD_ENCRYPTION';
  if (mode && mode !== 'off' && !keys) problems.add(name, `${mode} needs ${name}_KEYS (or ${name}_KEYS_FILE)`);
  if (mode === 'off' && keys) problems.add(name, `off contradicts ${name}_KEYS: unset one of them`);
  return { ...(keys && { encryptionKeys: keys }), ...(mode === 'required' && { encryptionRequired: true }) };
}
