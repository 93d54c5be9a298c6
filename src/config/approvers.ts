import { createPublicKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { keyIdOf } from '../contract/key-id.js';
import { ACCOUNT_FORMAT } from '../contract/names.js';
import { fieldErrors } from '../validation/field-errors.js';
import { readJson } from '../validation/json-input.js';
import type { Problems } from './env.js';
import { readOpened } from './secret-files.js';

/** A person, as one of their keys stands for them at an account. */
export interface Approver {
  person: string;
  key: KeyObject;
  /** What they may do at this account; empty for a person of other accounts. */
  may: ReadonlySet<Right>;
}

/** 'decide': on parked orders. 'approve': plans of batches, and the resume of a batch. */
export type Right = 'decide' | 'approve';

/** Approvers of one account by the ids of their keys. */
export type Approvers = ReadonlyMap<string, Approver>;

const NAME = 'APPROVERS_FILE';

/** Persons whose signatures a batch needs: no single key moves its money, whatever name its starter typed. */
const APPROVALS = 2;

const names = z.array(z.string()).min(1);

const approversFile = z.strictObject({
  persons: z.record(
    z
      .string()
      .max(120)
      .regex(/^[^\s\p{C}]+( [^\s\p{C}]+)*$/u),
    z.array(z.string()).min(1),
  ),
  accounts: z.record(
    z.string().regex(ACCOUNT_FORMAT),
    z.union([z.literal('unsigned'), z.strictObject({ decide: names, approve: names.min(APPROVALS) })]),
  ),
});

type ApproversFile = z.infer<typeof approversFile>;

/** Names that look the same are the same person. */
const folded = (name: string): string => name.normalize('NFKC').toLowerCase();

/** A public key as one line of base64, which is what stands between the dashes of its PEM file. */
function publicKey(text: string): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
    const exact = key.export({ format: 'der', type: 'spki' }).toString('base64') === text;
    return exact && key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}

type Refuse = (reason: string) => undefined;

function readKeys(persons: ApproversFile['persons'], refuse: Refuse): Map<string, Omit<Approver, 'may'>> {
  const seen = new Set<string>();
  const keys = new Map<string, Omit<Approver, 'may'>>();
  for (const [person, texts] of Object.entries(persons)) {
    if (seen.has(folded(person))) refuse(`persons.${person}: is there under another spelling`);
    seen.add(folded(person));
    for (const [index, text] of texts.entries()) {
      const key = publicKey(text);
      const id = key && keyIdOf(key);
      // Never its text: somebody may have pasted the private key.
      if (!key || !id)
        refuse(`persons.${person}[${index}]: must be an Ed25519 public key, the base64 line of its PEM file`);
      else if (keys.has(id)) refuse(`persons.${person}[${index}]: the same key stands there twice`);
      else keys.set(id, { person, key });
    }
  }
  return keys;
}

function readContent(path: string, refuse: Refuse): ApproversFile | undefined {
  const file = readOpened(path);
  if (!file) return refuse('cannot be read');
  // Whoever may write it may approve.
  if (file.stats.mode & 0o022) refuse('may be written by others than its owner: chmod go-w');
  const { value, problem } = readJson(file.text);
  // A name twice is a mistake, too: the later line would win over the one that somebody reads.
  if (problem) return refuse(problem);
  const parsed = approversFile.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const { field, reason } of fieldErrors(parsed.error)) refuse(`${field}: ${reason}`);
  return undefined;
}

/**
 * Who may decide and approve, per account that this worker serves; an account that is not in the map takes unsigned ones.
 * The file says so of each: a misspelt name must not leave an account open.
 */
export function readApprovers(
  path: string,
  served: Iterable<string>,
  problems: Problems,
): ReadonlyMap<string, Approvers> | undefined {
  const refuse: Refuse = (reason) => void problems.add(NAME, reason);
  const content = readContent(path, refuse);
  if (!content) return undefined;
  const keys = readKeys(content.persons, refuse);
  const approvers = new Map<string, Approvers>();
  for (const account of served) {
    const rights = content.accounts[account];
    if (!rights) refuse(`accounts: names no ${account}, which this worker serves; say who may, or "unsigned"`);
    else if (rights !== 'unsigned') approvers.set(account, approversOf(account, rights, keys, refuse));
  }
  return approvers;
}

function approversOf(
  account: string,
  rights: Record<Right, string[]>,
  keys: ReadonlyMap<string, Omit<Approver, 'may'>>,
  refuse: Refuse,
): Approvers {
  const persons = new Set([...keys.values()].map(({ person }) => person));
  const both: Right[] = ['decide', 'approve'];
  for (const right of both) {
    const field = `accounts.${account}.${right}`;
    if (new Set(rights[right]).size < rights[right].length) refuse(`${field}: names a person twice`);
    if (rights[right].some((name) => !persons.has(name))) refuse(`${field}: names somebody who is not in persons`);
  }
  return new Map(
    [...keys].map(([id, approver]) => {
      const may = new Set(both.filter((right) => rights[right].includes(approver.person)));
      return [id, { ...approver, may }];
    }),
  );
}
