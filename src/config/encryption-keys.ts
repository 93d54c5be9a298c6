import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Problems } from './env.js';
import { checkedBy, isPredictable, secretProblem, TOO_EASY } from './formats.js';
import type { Settings } from './settings.js';

/** A key that payloads are encrypted with. Its bytes show in no log: a KeyObject prints nothing of itself. */
export interface EncryptionKey {
  /** Stored with every payload, in the clear. */
  id: string;
  key: KeyObject;
}

const ENTRY = /^([A-Za-z0-9_.-]{1,64}):([A-Za-z0-9+/]{43}=)$/;

/** Bits beyond the 32 bytes would be dropped silently: a damaged key must not pass for another one. */
const isExact = (base64: string): boolean => Buffer.from(base64, 'base64').toString('base64') === base64;

function entriesOf(list: string): [id: string, base64: string][] | undefined {
  const entries = list.split(',').map((entry) => ENTRY.exec(entry));
  const wellFormed = entries.flatMap((entry): [string, string][] => (entry ? [[entry[1] ?? '', entry[2] ?? '']] : []));
  return wellFormed.length === entries.length && wellFormed.every(([, key]) => isExact(key)) ? wellFormed : undefined;
}

/** 32 random bytes have 30 different ones, give or take a few. */
const MIN_DIFFERENT_BYTES = 20;

function keysProblem(list: string): string | undefined {
  const problem = secretProblem(list);
  if (problem) return problem;
  const entries = entriesOf(list);
  if (!entries) return 'must be a comma list of id:key, each key the base64 of 32 bytes';
  const [ids, keys] = [new Set(entries.map(([id]) => id)), new Set(entries.map(([, key]) => key))];
  if (ids.size < entries.length) return 'names the same key id twice';
  if (keys.size < entries.length) return 'names the same key twice';
  return entries.some(([, key]) => isPredictable(Buffer.from(key, 'base64'), MIN_DIFFERENT_BYTES))
    ? TOO_EASY
    : undefined;
}

/** Schema of PAYLOAD_ENCRYPTION_KEYS: the first encrypts, all decrypt. */
export const encryptionKeys = checkedBy(keysProblem).transform((list): readonly EncryptionKey[] =>
  (entriesOf(list) ?? []).map(([id, base64]) => ({ id, key: createSecretKey(base64, 'base64') })),
);

/** How payloads are protected. Without keys they are plain. */
export interface Encryption {
  /** Payloads are encrypted with the first and decrypted with any; absent = no encryption. */
  encryptionKeys?: readonly EncryptionKey[];
  /** Payloads that are plain, or written for another workflow, are refused wherever they are read. */
  encryptionRequired?: boolean;
}

/** Returns how payloads are protected. A word of PAYLOAD_ENCRYPTION that the keys contradict is a mistake. */
export function encryptionOf(settings: Settings, problems: Problems): Encryption {
  const keys: readonly EncryptionKey[] | undefined = settings.PAYLOAD_ENCRYPTION_KEYS;
  const mode = settings.PAYLOAD_ENCRYPTION;
  const name = 'PAYLOAD_ENCRYPTION';
  if (mode && mode !== 'off' && !keys) problems.add(name, `${mode} needs ${name}_KEYS (or ${name}_KEYS_FILE)`);
  if (mode === 'off' && keys) problems.add(name, `off contradicts ${name}_KEYS: unset one of them`);
  return { ...(keys && { encryptionKeys: keys }), ...(mode === 'required' && { encryptionRequired: true }) };
}
