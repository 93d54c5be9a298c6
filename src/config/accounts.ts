import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { fieldErrors } from '../contract/field-errors.js';
import { ACCOUNT_FORMAT, DEFAULT_ACCOUNT } from '../contract/ids.js';
import type { Problems } from './problems.js';
import { Secret } from './secret.js';
import { baseUrl, rate, readSecretFile, secret, secretProblem, urlProblem } from './values.js';

type Env = Readonly<Record<string, string | undefined>>;

/** One account at the payment service. */
export interface AccountConfig {
  name: string;
  /** Without trailing slash. */
  baseUrl: string;
  apiKey: Secret;
  apiSecret: Secret;
  /** `hmac-sha256`, `hmac-sha512` or a module path. */
  signer: string;
  /** The account's total over all workers; undefined = no limit. */
  requestsPerSecond?: number;
}

const url = z.string().superRefine((text, context) => {
  const problem = urlProblem(text);
  if (problem) context.addIssue({ code: 'custom', message: problem });
});

const accountsFile = z.record(
  z.string().regex(ACCOUNT_FORMAT, 'account names are [a-z0-9-]{1,32}'),
  z.strictObject({
    baseUrl: url,
    apiKey: z.string().optional(),
    apiKeyFile: z.string().optional(),
    apiSecret: z.string().optional(),
    apiSecretFile: z.string().optional(),
    signer: z.string().min(1),
    requestsPerSecond: z.number().positive().optional(),
  }),
);

type AccountEntry = z.infer<typeof accountsFile>[string];

/** The one account of PAYMENT_BASE_URL and its companions. */
function accountFromEnv(env: Env, problems: Problems): AccountConfig {
  const signer = secret(env, 'PAYMENT_SIGNER', problems);
  return {
    name: DEFAULT_ACCOUNT,
    baseUrl: env.PAYMENT_BASE_URL_FILE
      ? baseUrl({ PAYMENT_BASE_URL: readSecretFile(env.PAYMENT_BASE_URL_FILE) }, 'PAYMENT_BASE_URL', problems)
      : baseUrl(env, 'PAYMENT_BASE_URL', problems),
    apiKey: new Secret(secret(env, 'PAYMENT_API_KEY', problems)),
    apiSecret: new Secret(secret(env, 'PAYMENT_API_SECRET', problems)),
    signer,
    requestsPerSecond: rate(env, 'PAYMENT_REQUESTS_PER_SECOND', problems),
  };
}

function secretOfEntry(account: string, entry: AccountEntry, key: 'apiKey' | 'apiSecret', problems: Problems): Secret {
  const path = entry[`${key}File`];
  const value = entry[key] ?? (path ? readSecretFile(path) : undefined);
  const problem = secretProblem(value);
  if (problem) problems.add('PAYMENT_ACCOUNTS_FILE', `${account}.${key} (or ${key}File) ${problem}`);
  return new Secret(value ?? '');
}

function accountsFromFile(path: string, problems: Problems): AccountConfig[] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    problems.add('PAYMENT_ACCOUNTS_FILE', 'cannot be read as JSON');
    return [];
  }
  const parsed = accountsFile.safeParse(content);
  if (!parsed.success) {
    for (const { field, reason } of fieldErrors(parsed.error))
      problems.add('PAYMENT_ACCOUNTS_FILE', `${field}: ${reason}`);
    return [];
  }
  const entries = Object.entries(parsed.data);
  if (entries.length === 0) problems.add('PAYMENT_ACCOUNTS_FILE', 'names no account');
  return entries.map(([name, entry]) => ({
    name,
    baseUrl: entry.baseUrl.replace(/\/+$/, ''),
    apiKey: secretOfEntry(name, entry, 'apiKey', problems),
    apiSecret: secretOfEntry(name, entry, 'apiSecret', problems),
    signer: entry.signer,
    requestsPerSecond: entry.requestsPerSecond,
  }));
}

/** All accounts a worker serves, by name. */
export function readAccounts(env: Env, problems: Problems): ReadonlyMap<string, AccountConfig> {
  const path = env.PAYMENT_ACCOUNTS_FILE;
  if (path && env.PAYMENT_BASE_URL) {
    problems.add('PAYMENT_ACCOUNTS_FILE', 'cannot be combined with PAYMENT_BASE_URL: use one of them');
  }
  const accounts = path ? accountsFromFile(path, problems) : [accountFromEnv(env, problems)];
  return new Map(accounts.map((account) => [account.name, account]));
}
