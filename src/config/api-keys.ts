import { z } from 'zod';
import { ACCOUNT_FORMAT } from '../contract/names.js';
import { holdsWallet, NO_WALLET } from '../contract/wallets.js';
import { person } from './approvers.js';
import type { Problems } from './env.js';
import { amounts, unique } from './formats.js';
import { IS_PUBLISHED, isHashOfPublished } from './published-keys.js';
import { parseJson, readSettingsFile } from './secret-files.js';

/** All verbs of a key. */
const VERBS = ['start', 'read', 'decide', 'approve'] as const;

/** One of the verbs. */
export type Verb = (typeof VERBS)[number];

const NAME = 'API_KEYS_FILE';

const key = z.strictObject({
  name: person.refine((name) => !holdsWallet(name), NO_WALLET),
  // Shows no text, because somebody may have pasted the key.
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of the key, in 64 digits 0-9a-f')
    .refine((hash) => !isHashOfPublished(hash), IS_PUBLISHED),
  accounts: z.array(z.string().regex(ACCOUNT_FORMAT)).min(1).refine(unique, 'names an account twice').optional(),
  verbs: z.array(z.enum(VERBS)).min(1).refine(unique, 'names a verb twice'),
  maxAmount: amounts.optional(),
});

const keysFile = z
  .array(key)
  .min(1)
  .refine((keys) => unique(keys.map(({ sha256 }) => sha256)), 'holds the same key twice');

const keyOf = ({ name, sha256, accounts, verbs, maxAmount }: z.output<typeof key>) => ({
  name,
  digest: Buffer.from(sha256, 'hex'),
  /** Absent = all accounts. */
  accounts: accounts && new Set(accounts),
  verbs: new Set(verbs),
  /** Highest amount of one request by currency; absent = no limit. */
  maxAmount: maxAmount && new Map(Object.entries(maxAmount)),
});

/** Caller's key as a hash, and its rights. Several keys may share a name. */
export type ApiKey = ReturnType<typeof keyOf>;

/** Reads the callers' keys; undefined after it has reported each mistake. */
export function readApiKeys(path: string, problems: Problems): readonly ApiKey[] | undefined {
  const text = readSettingsFile(path, problems, { variable: NAME });
  return parseJson(text, keysFile, (reason) => problems.add(NAME, reason))?.map(keyOf);
}
