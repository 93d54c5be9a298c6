import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Problems } from './env.js';
import { checkedBy, isPredictable, secretProblem, TOO_EASY, unique } from './formats.js';
import type { Settings } from './settings.js';

/** A key that payloads are encrypted with. Its bytes show in no log: a KeyObject prints nothing of itself. */
export interface EncryptionKey {
  /** Stored with every payload, in the clear. */
  id: string;
  key: KeyObject;
}

const ENTRY = /^([A-Za-z0-9_.-]{1,64}):([A-Za-z0-9+/]{43}=)$/;

/** 32 random bytes have 30 different ones, give or take a few. */
const MIN_DIFFERENT_BYTES = 20;

type Entry = readonly [id: string, bytes: Buffer];

/** Returns an entry; undefined for what is none. Bits beyond the 32 bytes would be dropped silently, so they count as a mistake. */
function entryOf(text: string): Entry | undefined {
  const [, id = '', base64 = ''] = ENTRY.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  return id !== '' && bytes.toString('base64') === base64 ? [id, bytes] : undefined;
}

function keysProblem(list: string): string | undefined {
  const problem = secretProblem(list);
  if (problem) return problem;
  const entries = list.split(',').map(entryOf);
  if (entries.includes(undefined)) return 'must be a comma list of id:key, each key the base64 of 32 bytes';
  if (!unique(entries.map((entry) => entry?.[0]))) return 'names the same key id twice';
  if (!unique(entries.map((entry) => entry?.[1].toString('hex')))) return 'names the same key twice';
  return entries.some((entry) => entry && isPredictable(entry[1], MIN_DIFFERENT_BYTES)) ? TOO_EASY : undefined;
}

/** Schema of PAYLOAD_ENCRYPTION_KEYS: the first encrypts, all decrypt. */
export const encryptionKeys = checkedBy(keysProblem).transform((list): readonly EncryptionKey[] =>
  list.split(',').flatMap((text) => {
    const entry = entryOf(text);
    return entry ? [{ id: entry[0], key: createSecretKey(entry[1]) }] : [];
  }),
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
