import { createSecretKey, type KeyObject } from 'node:crypto';
import { type Env, oneOf, type Problems } from './env.js';
import { secretProblem, sourceOf, valueOrFile } from './sources.js';
import { isPredictable, TOO_EASY } from './strength.js';

/** A key that payloads are encrypted with. Its bytes show in no log: a KeyObject prints nothing of itself. */
export interface EncryptionKey {
  /** Stored with every payload, in the clear. */
  id: string;
  key: KeyObject;
}

const NAME = 'PAYLOAD_ENCRYPTION_KEYS';
const ENTRY = /^([A-Za-z0-9_.-]{1,64}):([A-Za-z0-9+/]{43}=)$/;

/** Bits beyond the 32 bytes would be dropped silently: a damaged key must not pass for another one. */
const isExact = (base64: string): boolean => Buffer.from(base64, 'base64').toString('base64') === base64;

function entriesOf(list: string): [id: string, base64: string][] | undefined {
  const entries = list.split(',').map((entry) => ENTRY.exec(entry));
  const wellFormed = entries.flatMap((entry): [string, string][] => (entry ? [[entry[1] ?? '', entry[2] ?? '']] : []));
  return wellFormed.length === entries.length && wellFormed.every(([, key]) => isExact(key)) ? wellFormed : undefined;
}

function keysProblem(list: string): string | undefined {
  const problem = secretProblem(list);
  if (problem) return problem;
  const entries = entriesOf(list);
  if (!entries) return 'must be a comma list of id:key, each key the base64 of 32 bytes';
  const [ids, keys] = [new Set(entries.map(([id]) => id)), new Set(entries.map(([, key]) => key))];
  if (ids.size < entries.length) return 'names the same key id twice';
  if (keys.size < entries.length) return 'names the same key twice';
  return entries.some(([, key]) => isGuessable(Buffer.from(key, 'base64'))) ? TOO_EASY : undefined;
}

/** 32 random bytes have 30 different ones, give or take a few, and are no text. */
const isGuessable = (key: Buffer): boolean =>
  isPredictable(key, 20) || key.every((byte) => byte >= 0x20 && byte < 0x7f);

/**
 * The comma list PAYLOAD_ENCRYPTION_KEYS (or the file PAYLOAD_ENCRYPTION_KEYS_FILE): the first encrypts, all decrypt.
 * Undefined when neither is set. Set but empty is a mistake: encryption must not go off because a secret got lost.
 */
export function readEncryptionKeys(env: Env, problems: Problems): readonly EncryptionKey[] | undefined {
  const unset = env[NAME] === undefined && env[`${NAME}_FILE`] === undefined;
  return unset ? undefined : requireEncryptionKeys(env, problems);
}

/** The same list where there is no doing without it. */
export function requireEncryptionKeys(env: Env, problems: Problems): readonly EncryptionKey[] {
  const entries = entriesOf(valueOrFile(env, NAME, problems, keysProblem)) ?? [];
  for (const [, base64] of entries) problems.secret(base64, 'payload key', sourceOf(env, NAME));
  return entries.map(([id, base64]) => ({ id, key: createSecretKey(base64, 'base64') }));
}

/** How payloads are protected. Without keys they are plain. */
export interface Encryption {
  /** Payloads are encrypted with the first and decrypted with any; absent = no encryption. */
  encryptionKeys?: readonly EncryptionKey[];
  /** Payloads that are plain, or written for another workflow, are refused wherever they are read. */
  encryptionRequired?: boolean;
}

/** PAYLOAD_ENCRYPTION (`off` without keys, `on` with keys, or `required`) and the keys. A word that the keys contradict is a mistake. */
export function readEncryption(env: Env, problems: Problems): Encryption {
  const encryptionKeys = readEncryptionKeys(env, problems);
  const mode = oneOf(env, 'PAYLOAD_ENCRYPTION', ['off', 'on', 'required'], problems);
  if (mode && mode !== 'off' && !encryptionKeys) {
    problems.add('PAYLOAD_ENCRYPTION', `${mode} needs ${NAME} (or ${NAME}_FILE)`);
  }
  if (mode === 'off' && encryptionKeys)
    problems.add('PAYLOAD_ENCRYPTION', `off contradicts ${NAME}: unset one of them`);
  return { ...(encryptionKeys && { encryptionKeys }), ...(mode === 'required' && { encryptionRequired: true }) };
}
