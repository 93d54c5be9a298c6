import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { ACCOUNT_FORMAT, DEFAULT_ACCOUNT } from '../contract/names.js';
import { accountId, type UsedAccount } from '../contract/order/sent-to.js';
import { holdsWallet, NO_WALLET } from '../contract/wallets.js';
import { FORMAT_CHECKS } from '../validation/field-errors.js';
import type { Env, Problems } from './env.js';
import * as format from './formats.js';
import { type RouteConfig, readTls } from './route.js';
import { Secret } from './secret.js';
import { parseJson, readSecretFile, readSettingsFile, UNREADABLE } from './secret-files.js';
import { NAMES, type Settings, settingOf, sourceOf } from './settings.js';

/** Fields of an account. `SETTINGS` has rows for those of the environment's account. */
const accountFields = z.object({
  /** Without a trailing slash. */
  baseUrl: format.baseUrl,
  /** Fingerprints of earlier keys of this account, as `doctor` shows them. */
  apiKeyPredecessors: z.array(format.fingerprint).optional(),
  /** `hmac-sha256`, `hmac-sha512` or a module path. */
  signer: format.signer,
  /** Limit of the account over all workers; undefined = none. */
  requestsPerSecond: format.requestRate.optional(),
  /** Statuses of creates that the service guarantees, in writing, as not executed. */
  notExecutedStatuses: format.notExecutedStatuses.optional(),
  /** Effect of our own format rules; undefined = 'refuse'. */
  formatChecks: z.enum(FORMAT_CHECKS).optional(),
  /** Deposit that goes first while an order is in doubt; undefined = none. */
  canary: format.canary.optional(),
});

/** One account at the payment service. */
export interface AccountConfig extends RouteConfig, z.infer<typeof accountFields> {
  name: string;
  apiKey: Secret;
  apiSecret: Secret;
}

const accountsFile = z.record(
  z
    .string()
    .regex(ACCOUNT_FORMAT, 'account names are [a-z0-9-]{1,32}')
    .refine((name) => !holdsWallet(name), NO_WALLET),
  z.strictObject({
    ...accountFields.shape,
    apiKey: z.string().optional(),
    apiKeyFile: z.string().optional(),
    apiSecret: z.string().optional(),
    apiSecretFile: z.string().optional(),
    clientCertFile: z.string().min(1).optional(),
    clientKeyFile: z.string().min(1).optional(),
    caFile: z.string().min(1).optional(),
  }),
);

type AccountEntry = z.infer<typeof accountsFile>[string];

const FILE = 'PAYMENT_ACCOUNTS_FILE';

/** Returns the account of PAYMENT_BASE_URL and its companions. */
function accountFromEnv(settings: Settings): AccountConfig {
  const fields = NAMES.flatMap((name) => {
    const { ofAccount } = settingOf(name);
    return ofAccount && settings[name] !== undefined ? [[ofAccount, settings[name]] as const] : [];
  });
  const account: object = Object.fromEntries(fields);
  return { ...(account as AccountConfig), name: DEFAULT_ACCOUNT };
}

/** Returns a secret of the accounts file, given directly or as a file name. */
function secretOfEntry(account: string, entry: AccountEntry, key: 'apiKey' | 'apiSecret', problems: Problems): Secret {
  const [text, path] = [entry[key], entry[`${key}File`]];
  const isInFile = path !== undefined;
  const place = `${account}.${key} ${isInFile ? '(file) ' : ''}`;
  const refuse = (reason: string) => problems.add(FILE, reason);
  const value = isInFile ? readSecretFile(path, problems, FILE, place) : text;
  const problem = value === undefined ? UNREADABLE : format.secretProblem(value);
  if (isInFile && text !== undefined) refuse(`${account}.${key} is given twice: leave out ${key} or ${key}File`);
  else if (!isInFile && text === undefined) refuse(`${place}is required (or ${account}.${key}File)`);
  else if (problem) refuse(place + problem);
  return new Secret(value ?? '');
}

/** Refuses one key under two names: the same order id would be two orders. Names no key. */
function refuseSharedKeys(accounts: readonly AccountConfig[], problems: Problems): void {
  const keys = new Set(accounts.map(({ apiKey }) => apiKey.reveal()).filter((key) => key !== ''));
  for (const key of keys) {
    const names = accounts.filter(({ apiKey }) => apiKey.reveal() === key).map(({ name }) => name);
    if (names.length === 1) continue;
    problems.add(FILE, `${names.join(' and ')} have the same apiKey: one name per account`);
  }
}

function accountsFromFile(path: string, problems: Problems): AccountConfig[] {
  const holdsSecret = (text: string) => /"api(Key|Secret)"\s*:/.test(text);
  const text = readSettingsFile(path, problems, { variable: FILE }, holdsSecret);
  const content = parseJson(text, accountsFile, (reason) => problems.add(FILE, reason));
  if (!content) return [];
  if (Object.keys(content).length === 0) problems.add(FILE, 'names no account');
  const accounts = Object.entries(content).map(([name, entry]) => ({
    ...accountFields.parse(entry),
    name,
    ...readTls(entry, entry.baseUrl, name, problems),
    apiKey: secretOfEntry(name, entry, 'apiKey', problems),
    apiSecret: secretOfEntry(name, entry, 'apiSecret', problems),
  }));
  refuseSharedKeys(accounts, problems);
  return accounts;
}

/** Returns all accounts of a worker by name. */
export function readAccounts(settings: Settings, env: Env, problems: Problems): ReadonlyMap<string, AccountConfig> {
  const path = settings.PAYMENT_ACCOUNTS_FILE;
  const accounts = path ? accountsFromFile(path, problems) : [accountFromEnv(settings)];
  const { PAYMENT_PROXY_URL: proxy } = settings;
  for (const { name } of accounts.filter(({ baseUrl }) => proxy && baseUrl.startsWith('http:')))
    problems.add(sourceOf(env, 'PAYMENT_PROXY_URL'), `is for https only: account ${name} is asked by plain http`);
  return new Map(accounts.map((account) => [account.name, { ...account, ...(proxy && { proxy }) }]));
}

/**
 * Returns the id that orders are pinned to. The fingerprint is keyed, so it cannot confirm a
 * guessed key.
 */
export function pinOfConfig(config: AccountConfig): UsedAccount {
  const { name, baseUrl, apiKey, apiSecret, apiKeyPredecessors: predecessors } = config;
  const { origin, pathname } = new URL(baseUrl);
  const keyed = createHmac('sha256', apiSecret.reveal()).update(`payment-orders api key\0${apiKey.reveal()}`);
  const id = accountId(format.withoutTrailingSlash(origin + pathname), keyed.digest('hex').slice(0, 16));
  return { name, id, ...(predecessors && { predecessors }) };
}
