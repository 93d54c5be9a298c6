import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { ACCOUNT_FORMAT } from '../contract/names.js';
import { keyIdOf } from '../contract/signed-together.js';
import { ConfigError, type Env, type Problems } from './env.js';
import { readBy, unique } from './formats.js';
import { IS_PUBLISHED, isPublished } from './published-keys.js';
import { parseJson, readOpened, UNREADABLE } from './secret-files.js';

/** Person with one key at one account. */
interface Approver {
  person: string;
  key: KeyObject;
  /** Rights at this account; empty for a person of other accounts. */
  may: ReadonlySet<Right>;
}

/** 'decide': on parked orders. 'approve': plans of batches, and the resume of a batch. */
export type Right = 'decide' | 'approve';

/** Approvers of one account by key id. */
export type Approvers = ReadonlyMap<string, Approver>;

const NAME = 'APPROVERS_FILE';
const RIGHTS: readonly Right[] = ['decide', 'approve'];

/** Reads the base64 between the dashes of a PEM file. */
function ed25519Key(text: string): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
    const exact = key.export({ format: 'der', type: 'spki' }).toString('base64') === text;
    return exact && key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}

// Shows no text, because somebody may have pasted the private key.
const publicKey = z
  .string()
  .refine((text) => !isPublished(text), IS_PUBLISHED)
  .pipe(readBy(ed25519Key, 'must be an Ed25519 public key, the base64 line of its PEM file'));

/** Schema of the name of a person or a caller, as decisions show it. */
export const person = z
  .string()
  .max(120)
  .regex(/^[^\s\p{C}]+( [^\s\p{C}]+)*$/u);

/** A batch needs two persons, so that no single key moves its money. */
const rights = z.strictObject({
  decide: z.array(z.string()).min(1).refine(unique, 'names a person twice'),
  approve: z.array(z.string()).min(2).refine(unique, 'names a person twice'),
});

const approversFile = z.strictObject({
  persons: z.record(person, z.array(publicKey).min(1)),
  accounts: z.record(z.string().regex(ACCOUNT_FORMAT), z.union([z.literal('unsigned'), rights])),
});

/** Returns one form of names that look the same. */
const folded = (name: string): string => name.normalize('NFKC').toLowerCase();

/** Reads who may decide and approve. Leaves out accounts that the file calls unsigned. */
export function readApprovers(
  path: string,
  served: Iterable<string>,
  problems: Problems,
): ReadonlyMap<string, Approvers> | undefined {
  const refuse = (reason: string): void => problems.add(NAME, reason);
  const file = readOpened(path);
  // A writer of this file could approve.
  if (file && file.stats.mode & 0o022) refuse('is writable by other users: run chmod go-w');
  const content = parseJson(file?.text, approversFile, refuse);
  if (!content) return undefined;
  const persons = Object.keys(content.persons);
  if (!unique(persons.map(folded))) refuse('persons: one is there under another spelling');
  const keys = Object.entries(content.persons).flatMap(([name, own]) => own.map((key) => ({ person: name, key })));
  if (!unique(keys.map(({ key }) => keyIdOf(key)))) refuse('persons: the same key stands there twice');
  const approvers = new Map<string, Approvers>();
  for (const account of served) {
    const given = content.accounts[account];
    if (!given) refuse(`accounts: names no ${account}, which this worker serves; say who may, or "unsigned"`);
    if (!given || given === 'unsigned') continue;
    for (const right of RIGHTS)
      if (given[right].some((name) => !persons.includes(name)))
        refuse(`accounts.${account}.${right}: names somebody who is not in persons`);
    const withRights = keys.map((approver) => {
      const may = new Set(RIGHTS.filter((right) => given[right].includes(approver.person)));
      return [keyIdOf(approver.key), { ...approver, may }] as const;
    });
    approvers.set(account, new Map(withRights));
  }
  return approvers;
}

const KEY_NAME = 'APPROVER_KEY_FILE';

/** Reads a person's private Ed25519 key (PEM): of the file given, else of APPROVER_KEY_FILE. */
export function loadApproverKey(given: string | undefined, env: Env = process.env): KeyObject | undefined {
  const path = given ?? env[KEY_NAME];
  if (path === undefined) return undefined;
  const refuse = (reason: string) => new ConfigError([`${given === undefined ? KEY_NAME : '--key'}: ${reason}`]);
  const file = readOpened(path);
  if (!file) throw refuse(UNREADABLE);
  // A reader of this file could sign as its owner.
  if (file.stats.mode & 0o077) throw refuse('may be read by others than its owner: chmod 600');
  const key = privateKey(file.text);
  if (key?.asymmetricKeyType !== 'ed25519') throw refuse('must be a private Ed25519 key in PEM, without passphrase');
  return key;
}

function privateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
