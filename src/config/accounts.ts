import { z } from 'zod';
import { ACCOUNT_FORMAT, DEFAULT_ACCOUNT } from '../contract/names.js';
import { holdsWallet, NO_WALLET } from '../contract/wallets.js';
import { FORMAT_CHECKS, type FormatChecks, fieldErrors } from '../validation/field-errors.js';
import { readJson } from '../validation/json-input.js';
import type { Env, Problems } from './env.js';
import * as format from './formats.js';
import { sourceOf } from './read-settings.js';
import { type ProxyConfig, type RouteConfig, readTls } from './route.js';
import { Secret } from './secret.js';
import { readSecretFile, readSettingsFile } from './secret-files.js';
import type { Settings } from './settings.js';

/** One account at the payment service. */
export interface AccountConfig extends RouteConfig {
  name: string;
  /** Without trailing slash. */
  baseUrl: string;
  apiKey: Secret;
  apiSecret: Secret;
  /** Fingerprints of earlier keys of the same account, as `doctor` shows them. */
  predecessors?: readonly string[];
  /** `hmac-sha256`, `hmac-sha512` or a module path. */
  signer: string;
  /** The account's total over all workers; undefined = no limit. */
  requestsPerSecond?: number;
  /** Statuses of creates that the service guarantees, in writing, to have executed nothing; none unless they are named. */
  notExecutedStatuses?: readonly number[];
  /** What becomes of rules of ours that the service may not have; undefined = 'refuse'. */
  formatChecks?: FormatChecks;
}

const accountsFile = z.record(
  z
    .string()
    .regex(ACCOUNT_FORMAT)
    .refine((name) => !holdsWallet(name), NO_WALLET),
  z.strictObject({
    baseUrl: format.baseUrl,
    apiKey: z.string().optional(),
    apiKeyFile: z.string().optional(),
    apiSecret: z.string().optional(),
    apiSecretFile: z.string().optional(),
    apiKeyPredecessors: z.array(format.fingerprint).optional(),
    signer: format.signer,
    requestsPerSecond: format.requestRate.optional(),
    notExecutedStatuses: format.notExecutedStatuses.optional(),
    formatChecks: z.enum(FORMAT_CHECKS).optional(),
    clientCertFile: z.string().min(1).optional(),
    clientKeyFile: z.string().min(1).optional(),
    caFile: z.string().min(1).optional(),
  }),
  { error: ({ code }) => (code === 'invalid_key' ? 'account names are [a-z0-9-]{1,32}' : undefined) },
);

type AccountEntry = z.infer<typeof accountsFile>[string];

const FILE = 'PAYMENT_ACCOUNTS_FILE';

/** Returns the one account of PAYMENT_BASE_URL and its companions. */
function accountFromEnv(settings: Settings): AccountConfig {
  return {
    name: DEFAULT_ACCOUNT,
    baseUrl: settings.PAYMENT_BASE_URL,
    apiKey: settings.PAYMENT_API_KEY,
    apiSecret: settings.PAYMENT_API_SECRET,
    predecessors: settings.PAYMENT_API_KEY_PREDECESSORS,
    signer: settings.PAYMENT_SIGNER,
    requestsPerSecond: settings.PAYMENT_REQUESTS_PER_SECOND,
    notExecutedStatuses: settings.PAYMENT_NOT_EXECUTED_STATUSES,
    formatChecks: settings.PAYMENT_FORMAT_CHECKS,
  };
}

/** Returns a secret of the accounts file, which holds it or names the file that does. */
function secretOfEntry(account: string, entry: AccountEntry, key: 'apiKey' | 'apiSecret', problems: Problems): Secret {
  const name = `${account}.${key}`;
  const refuse = (reason: string) => problems.add(FILE, `${name} ${reason}`);
  const path = entry[`${key}File`];
  const value = path === undefined ? entry[key] : readSecretFile(path, problems, FILE, `${name} (file) `);
  if (entry[key] !== undefined && path !== undefined) refuse(`is given twice: leave out ${key} or ${key}File`);
  else if (entry[key] === undefined && path === undefined) refuse(`is required (or ${name}File)`);
  else if (value === undefined) refuse('(file) cannot be read');
  else {
    const problem = format.secretProblem(value);
    if (problem) refuse(`${path === undefined ? '' : '(file) '}${problem}`);
  }
  return new Secret(value ?? '');
}

/** Under two names of one key the same order id would be two orders. Names the accounts, never the key. */
function refuseSharedKeys(accounts: readonly AccountConfig[], problems: Problems): void {
  const keys = new Set(accounts.map(({ apiKey }) => apiKey.reveal()).filter((key) => key !== ''));
  for (const key of keys) {
    const names = accounts.filter(({ apiKey }) => apiKey.reveal() === key).map(({ name }) => name);
    if (names.length === 1) continue;
    problems.add(FILE, `${names.join(' and ')} have the same apiKey: one account, one name`);
  }
}

/** Returns what the accounts file holds; undefined if it cannot be read. */
function readAccountsFile(path: string, problems: Problems): unknown {
  const holdsSecret = (text: string) => /"api(Key|Secret)"\s*:/.test(text);
  const text = readSettingsFile(path, problems, { variable: FILE }, holdsSecret);
  const { value, problem } = readJson(text ?? '');
  if (problem) problems.add(FILE, problem.startsWith('names') ? problem : 'cannot be read as JSON');
  return problem ? undefined : value;
}

function accountsFromFile(path: string, problems: Problems): AccountConfig[] {
  const content = readAccountsFile(path, problems);
  if (content === undefined) return [];
  const parsed = accountsFile.safeParse(content);
  if (!parsed.success) {
    for (const { field, reason } of fieldErrors(parsed.error)) problems.add(FILE, `${field}: ${reason}`);
    return [];
  }
  const entries = Object.entries(parsed.data);
  if (entries.length === 0) problems.add(FILE, 'names no account');
  const accounts = entries.map(([name, entry]) => ({
    name,
    baseUrl: entry.baseUrl,
    ...readTls(entry, entry.baseUrl, name, problems),
    apiKey: secretOfEntry(name, entry, 'apiKey', problems),
    apiSecret: secretOfEntry(name, entry, 'apiSecret', problems),
    predecessors: entry.apiKeyPredecessors,
    signer: entry.signer,
    requestsPerSecond: entry.requestsPerSecond,
    notExecutedStatuses: entry.notExecutedStatuses,
    formatChecks: entry.formatChecks,
  }));
  refuseSharedKeys(accounts, problems);
  return accounts;
}

/** Returns all accounts that a worker serves, by name. */
export function readAccounts(settings: Settings, env: Env, problems: Problems): ReadonlyMap<string, AccountConfig> {
  const path = settings.PAYMENT_ACCOUNTS_FILE;
  const accounts = path ? accountsFromFile(path, problems) : [accountFromEnv(settings)];
  const proxy: ProxyConfig | undefined = settings.PAYMENT_PROXY_URL;
  const source = sourceOf(env, 'PAYMENT_PROXY_URL');
  for (const { name } of accounts.filter(({ baseUrl }) => proxy && baseUrl.startsWith('http:')))
    problems.add(source, `is for https only: account ${name} is asked by plain http`);
  return new Map(accounts.map((account) => [account.name, { ...account, ...(proxy && { proxy }) }]));
}
