import { z } from 'zod';
import { ACCOUNT_FORMAT, DEFAULT_ACCOUNT } from '../contract/names.js';
import { holdsWallet, NO_WALLET } from '../contract/wallets.js';
import { FORMAT_CHECKS, type FormatChecks, fieldErrors } from '../validation/field-errors.js';
import { readJson } from '../validation/json-input.js';
import { urlProblem, withoutTrailingSlash } from './addresses.js';
import {
  checkStatuses,
  type Env,
  isNotExecutedStatus,
  isRate,
  oneOf,
  type Problems,
  RATE_MISTAKE,
  rate,
  signerProblem,
  statuses,
} from './env.js';
import { type RouteConfig, readProxy, readTls, type TlsFiles } from './route.js';
import { Secret } from './secret.js';
import { readSettingsFile } from './secret-files.js';
import { readSecretFile, secretProblem, sourceOf, valueOrFile } from './sources.js';
import { sourcesOf } from './variables.js';

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

const FINGERPRINT = /^[0-9a-f]{16}$/;
const NO_FINGERPRINT = 'must be as doctor shows it behind # of an account: 16 digits 0-9a-f';

const checkedBy = (problemOf: (text: string) => string | undefined) =>
  z.string().superRefine((text, context) => {
    const problem = problemOf(text);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  });

const notExecutedStatus = z.number().refine(isNotExecutedStatus, {
  error: 'must be a status from 401 to 599: 400 and answers below it say something else',
});

const accountsFile = z.record(
  z
    .string()
    .regex(ACCOUNT_FORMAT)
    .refine((name) => !holdsWallet(name), NO_WALLET),
  z.strictObject({
    baseUrl: checkedBy(urlProblem),
    apiKey: z.string().optional(),
    apiKeyFile: z.string().optional(),
    apiSecret: z.string().optional(),
    apiSecretFile: z.string().optional(),
    apiKeyPredecessors: z.array(z.string().regex(FINGERPRINT, NO_FINGERPRINT)).optional(),
    signer: checkedBy(signerProblem),
    requestsPerSecond: z.number().refine(isRate, { error: RATE_MISTAKE }).optional(),
    notExecutedStatuses: z.array(notExecutedStatus).optional(),
    formatChecks: z.enum(FORMAT_CHECKS).optional(),
    clientCertFile: z.string().min(1).optional(),
    clientKeyFile: z.string().min(1).optional(),
    caFile: z.string().min(1).optional(),
  }),
  { error: ({ code }) => (code === 'invalid_key' ? 'account names are [a-z0-9-]{1,32}' : undefined) },
);

type AccountEntry = z.infer<typeof accountsFile>[string];

/** Variables of the one account's TLS. */
const TLS_VARIABLES = {
  clientCertFile: 'PAYMENT_CLIENT_CERT_FILE',
  clientKeyFile: 'PAYMENT_CLIENT_KEY_FILE',
  caFile: 'PAYMENT_CA_FILE',
} as const satisfies Record<keyof TlsFiles, string>;

/** Variables of the one account without a file; useless, and so a mistake, next to PAYMENT_ACCOUNTS_FILE. */
const ONE_ACCOUNT_VARIABLES = [
  ...(['PAYMENT_BASE_URL', 'PAYMENT_API_KEY', 'PAYMENT_API_SECRET', 'PAYMENT_SIGNER'] as const).flatMap(sourcesOf),
  ...sourcesOf('PAYMENT_API_KEY_PREDECESSORS'),
  'PAYMENT_REQUESTS_PER_SECOND',
  'PAYMENT_NOT_EXECUTED_STATUSES',
  'PAYMENT_FORMAT_CHECKS',
  ...Object.values(TLS_VARIABLES),
];

/** Fingerprints separated by commas; undefined if none are set. */
function predecessors(env: Env, problems: Problems): string[] | undefined {
  const name = 'PAYMENT_API_KEY_PREDECESSORS';
  if (sourcesOf(name).every((source) => env[source] === undefined)) return undefined;
  const split = (text: string) => text.split(/, */);
  const problemOf = (text: string) =>
    split(text).every((each) => FINGERPRINT.test(each)) ? undefined : NO_FINGERPRINT;
  return split(valueOrFile(env, name, problems, problemOf));
}

/** The one account of PAYMENT_BASE_URL and its companions. */
function accountFromEnv(env: Env, problems: Problems): AccountConfig {
  const secretFrom = (name: 'PAYMENT_API_KEY' | 'PAYMENT_API_SECRET'): Secret => {
    const value = valueOrFile(env, name, problems, secretProblem);
    problems.secret(value, name === 'PAYMENT_API_KEY' ? 'apiKey' : 'apiSecret', sourceOf(env, name));
    return new Secret(value);
  };
  const baseUrl = withoutTrailingSlash(valueOrFile(env, 'PAYMENT_BASE_URL', problems, urlProblem));
  const files = {
    clientCertFile: env.PAYMENT_CLIENT_CERT_FILE,
    clientKeyFile: env.PAYMENT_CLIENT_KEY_FILE,
    caFile: env.PAYMENT_CA_FILE,
  };
  return {
    name: DEFAULT_ACCOUNT,
    baseUrl,
    ...readTls(files, baseUrl, (field) => ({ variable: TLS_VARIABLES[field] }), problems),
    apiKey: secretFrom('PAYMENT_API_KEY'),
    apiSecret: secretFrom('PAYMENT_API_SECRET'),
    predecessors: predecessors(env, problems),
    signer: valueOrFile(env, 'PAYMENT_SIGNER', problems, signerProblem),
    requestsPerSecond: rate(env, 'PAYMENT_REQUESTS_PER_SECOND', problems),
    notExecutedStatuses: statuses(env, 'PAYMENT_NOT_EXECUTED_STATUSES', problems),
    formatChecks: oneOf(env, 'PAYMENT_FORMAT_CHECKS', FORMAT_CHECKS, problems),
  };
}

/** A secret of the accounts file, which holds it or names the file that does. */
function secretOfEntry(account: string, entry: AccountEntry, key: 'apiKey' | 'apiSecret', problems: Problems): Secret {
  const name = `${account}.${key}`;
  const refuse = (reason: string) => problems.add('PAYMENT_ACCOUNTS_FILE', `${name} ${reason}`);
  const path = entry[`${key}File`];
  const value =
    path === undefined ? entry[key] : readSecretFile(path, problems, 'PAYMENT_ACCOUNTS_FILE', `${name} (file) `);
  if (entry[key] !== undefined && path !== undefined) refuse(`is given twice: leave out ${key} or ${key}File`);
  else if (entry[key] === undefined && path === undefined) refuse(`is required (or ${name}File)`);
  else if (value === undefined) refuse('(file) cannot be read');
  else {
    const problem = secretProblem(value);
    if (problem) refuse(`${path === undefined ? '' : '(file) '}${problem}`);
    problems.secret(value, key, 'PAYMENT_ACCOUNTS_FILE', name);
  }
  return new Secret(value ?? '');
}

/** Under two names of one key the same order id would be two orders. Names the accounts, never the key. */
function refuseSharedKeys(accounts: readonly AccountConfig[], problems: Problems): void {
  const keys = new Set(accounts.map(({ apiKey }) => apiKey.reveal()).filter((key) => key !== ''));
  for (const key of keys) {
    const names = accounts.filter(({ apiKey }) => apiKey.reveal() === key).map(({ name }) => name);
    if (names.length === 1) continue;
    problems.add('PAYMENT_ACCOUNTS_FILE', `${names.join(' and ')} have the same apiKey: one account, one name`);
  }
}

/** What the accounts file holds; undefined when it cannot be read. */
function readAccountsFile(path: string, problems: Problems): unknown {
  const holdsSecret = (text: string) => /"api(Key|Secret)"\s*:/.test(text);
  const text = readSettingsFile(path, problems, { variable: 'PAYMENT_ACCOUNTS_FILE' }, holdsSecret);
  const { value, problem } = readJson(text ?? '');
  if (problem) problems.add('PAYMENT_ACCOUNTS_FILE', problem.startsWith('names') ? problem : 'cannot be read as JSON');
  return problem ? undefined : value;
}

const tlsPlace = (account: string, field: keyof TlsFiles) => ({
  variable: 'PAYMENT_ACCOUNTS_FILE',
  what: `${account}.${field} `,
});

function accountsFromFile(path: string, problems: Problems): AccountConfig[] {
  const content = readAccountsFile(path, problems);
  if (content === undefined) return [];
  const parsed = accountsFile.safeParse(content);
  if (!parsed.success) {
    for (const { field, reason } of fieldErrors(parsed.error))
      problems.add('PAYMENT_ACCOUNTS_FILE', `${field}: ${reason}`);
    return [];
  }
  const entries = Object.entries(parsed.data);
  if (entries.length === 0) problems.add('PAYMENT_ACCOUNTS_FILE', 'names no account');
  for (const [name, { notExecutedStatuses = [] }] of entries) {
    checkStatuses(notExecutedStatuses, problems, 'PAYMENT_ACCOUNTS_FILE', `${name}.notExecutedStatuses `);
  }
  const accounts = entries.map(([name, entry]) => ({
    name,
    baseUrl: withoutTrailingSlash(entry.baseUrl),
    ...readTls(entry, entry.baseUrl, (field) => tlsPlace(name, field), problems),
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

/** All accounts a worker serves, by name. */
export function readAccounts(env: Env, problems: Problems): ReadonlyMap<string, AccountConfig> {
  const path = env.PAYMENT_ACCOUNTS_FILE;
  if (path) {
    // They would be ignored silently, and orders go to another account than the operator believes.
    for (const name of ONE_ACCOUNT_VARIABLES.filter((variable) => env[variable])) {
      problems.add(name, 'cannot be combined with PAYMENT_ACCOUNTS_FILE: use one of them');
    }
  }
  const accounts = path ? accountsFromFile(path, problems) : [accountFromEnv(env, problems)];
  const proxy = readProxy(env, accounts, problems);
  return new Map(accounts.map((account) => [account.name, { ...account, ...(proxy && { proxy }) }]));
}
