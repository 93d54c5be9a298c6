import { z } from 'zod';
import { FORMAT_CHECKS } from '../validation/field-errors.js';
import { encryptionKeys } from './encryption-keys.js';
import type { Env, Problems, Reader } from './env.js';
import * as format from './formats.js';
import { proxy } from './route.js';
import { readSecretFile, UNREADABLE } from './secret-files.js';

/** Setting, the source of its check, its row in docs/running.md and its part of `ready`. */
interface Setting {
  /** Readers, by the letters of Reader. */
  by: string;
  /** Also accepted as a file, by NAME_FILE. */
  file?: true;
  /** Parses the text. The message of an issue is the reason. */
  type: z.ZodType<unknown, string>;
  /** Text that counts if the setting is unset. */
  default?: string;
  /** Description of the unset state, if there is no default text. */
  unset?: string;
  /** Returns true if required. */
  required?: (reader: Reader, env: Env) => boolean;
  /** Field of the environment's account, without PAYMENT_ACCOUNTS_FILE. */
  ofAccount?: string;
  /** Its value is never shown. */
  secret?: true;
  example?: string;
  about: string;
}

const text = z.string();
const required = () => true;
const versionName = (letters: string) =>
  text.regex(new RegExp(`^[A-Za-z0-9][A-Za-z0-9${letters}-]{0,199}$`), `must match [A-Za-z0-9${letters}-]{1,200}`);

const ALLOWED = { type: format.flag, default: 'false', about: 'see below' } as const;

/** Every setting. */
const SETTINGS = {
  PAYMENT_BASE_URL: {
    ...{ by: 'W', file: true, ofAccount: 'baseUrl', required, type: format.baseUrl },
    ...{ example: 'https://payments.example', about: 'the service; plain http to a loopback address only' },
  },
  PAYMENT_API_KEY: {
    ...{ by: 'W', file: true, ofAccount: 'apiKey', secret: true, required, type: format.secret },
    about: "the account's key",
  },
  PAYMENT_API_SECRET: {
    ...{ by: 'W', file: true, ofAccount: 'apiSecret', secret: true, required, type: format.secret },
    about: "the account's secret",
  },
  PAYMENT_API_KEY_PREDECESSORS: {
    ...{ by: 'W', file: true, ofAccount: 'apiKeyPredecessors', type: format.fingerprints, example: '0123456789abcdef' },
    about: 'fingerprints of earlier keys of the same account, separated by commas ([rotation](#keys-that-change))',
  },
  PAYMENT_SIGNER: {
    ...{ by: 'W', file: true, ofAccount: 'signer', required, type: format.signer, example: 'hmac-sha256' },
    about: '`hmac-sha256`, `hmac-sha512`, or the path of a [module](#signer)',
  },
  PAYMENT_REQUESTS_PER_SECOND: {
    ...{ by: 'W', ofAccount: 'requestsPerSecond', type: format.requestRateText, unset: 'no limit', example: '40' },
    about: "the account's [limit](#the-accounts-limit) over all workers, 0.1 to 1000",
  },
  PAYMENT_NOT_EXECUTED_STATUSES: {
    ...{ by: 'W', ofAccount: 'notExecutedStatuses', type: format.notExecutedStatusesText, example: '429' },
    about: 'statuses of a create that the service guarantees, in writing, as not executed. A wrong entry pays twice',
  },
  PAYMENT_FORMAT_CHECKS: {
    ...{ by: 'W', ofAccount: 'formatChecks', type: format.oneOf(...FORMAT_CHECKS), default: 'refuse', example: 'warn' },
    about: '`warn` sends, with a note, what only [rules of ours](#keys-and-wallets) refuse',
  },
  PAYMENT_ACCOUNTS_FILE: {
    ...{ by: 'W', type: text, example: 'accounts.json' },
    about: '[several accounts](#several-accounts) in one file, instead of the settings of one',
  },
  PAYMENT_PROXY_URL: {
    ...{ by: 'W', file: true, secret: true, type: proxy, unset: 'none: asked directly' },
    example: 'http://user:pw@proxy:3128',
    about: 'the [proxy](#the-way-to-the-service) (CONNECT) for all accounts',
  },
  APPROVERS_FILE: {
    ...{ by: 'W', type: text, unset: 'none: names are claims', example: 'approvers.json' },
    about: 'whose [signatures](#approvers) decisions and approvals need, per account',
  },
  EVENTS_FILE: {
    ...{ by: 'W', type: text, unset: 'none: nobody is notified', example: 'events.json' },
    about: 'who receives signed [events](events.md), with their secrets',
  },
  APPROVER_KEY_FILE: {
    ...{ by: 'L', type: text, example: 'ann.pem' },
    about: 'private key that decisions and approvals are signed with; `--key` goes before it',
  },
  PAYMENT_ORDER_CAPS: {
    ...{ by: 'W', type: format.amountsByCurrency, example: '{"usd": "2000"}' },
    about: 'a larger order waits for `approve` or `refuse` ([caps](#caps)); at most 400 characters',
  },
  POLICY_FILE: {
    ...{ by: 'W', type: text, unset: 'none: no rules', example: 'policy.json' },
    about: 'sums, payees, approvals and hours that orders are held to ([policy.md](policy.md))',
  },
  ORDER_POLL_INITIAL: {
    ...{ by: 'W', type: format.duration, default: '5s', example: '2s', about: 'first wait between polls' },
  },
  ORDER_POLL_MAX: { by: 'W', type: format.duration, default: '5m', example: '6h', about: 'longest wait between polls' },
  ORDER_SETTLE_WINDOW: {
    ...{ by: 'W', type: format.duration, unset: '10m; 15s for deposit types', example: '20m' },
    about: 'how long an uncertain create must be absent before it is sent again; set, it holds for all types',
  },
  ORDER_CONFIRM_DELAY: {
    ...{ by: 'W', type: format.duration, default: '10m', example: '30m' },
    about: 'time between the two equal readings before compensation moves money',
  },
  TEMPORAL_RESTORED_AT: {
    ...{ by: 'W', type: format.passedInstant, unset: 'none: never restored', example: '2026-01-31T09:30:00Z' },
    about: 'since when a [restored Temporal](restoring.md#temporals-database-is-lost-or-is-an-old-backup) runs',
  },
  TEMPORAL_DEPLOYMENT_NAME: {
    ...{ by: 'W', type: versionName('_/'), unset: 'none: versions are not told apart', example: 'payment-orders' },
    about: 'the [deployment](upgrading.md#by-versions-of-temporal) that the worker belongs to',
  },
  TEMPORAL_WORKER_BUILD_ID: {
    ...{ by: 'W', type: versionName('._+'), unset: 'none; required beside it', example: '1.5.0' },
    about: "the worker's version in that deployment",
  },
  CALLBACK_BASE_URL: {
    ...{ by: 'W', type: format.baseUrl, unset: 'none: orders are polled', example: 'https://hooks.example' },
    about: 'where the service reaches the receiver; permanent addresses need it',
  },
  CALLBACK_HOST: {
    ...{ by: 'R', type: format.host, default: '127.0.0.1', example: '0.0.0.0', about: 'where the receiver listens' },
  },
  CALLBACK_PORT: { by: 'R', type: format.port, default: '8080', example: '9000', about: 'its port' },
  CALLBACK_TOKEN_KEY: {
    ...{ by: 'WR', file: true, secret: true, type: format.tokenKeys },
    unset: 'required at the receiver and beside `CALLBACK_BASE_URL`',
    required: (reader: Reader, env: Env) => reader === 'R' || Boolean(env.CALLBACK_BASE_URL),
    about: 'comma list of keys (`openssl rand -base64 32`), the same for both; the first signs, all verify',
  },
  BATCH_DIR: {
    ...{ by: 'W', type: text, example: '/srv/batches' },
    about:
      'batch files and uploads, the same folder on every worker, closed to others ([batches.md](batches.md#files))',
  },
  REPORT_DIR: {
    ...{ by: 'W', type: text, unset: '`BATCH_DIR/reports`', example: '/srv/reports' },
    about: 'reports of batches and reconciliations; made if it is missing',
  },
  AUDIT_DIR: {
    ...{ by: 'W', type: text, unset: 'none: no record', example: '/var/lib/payments/audit' },
    about: 'folder of the [audit record](audit.md). If it cannot be written, nothing is sent',
  },
  PAYLOAD_ENCRYPTION_KEYS: {
    ...{ by: 'WRCLA', file: true, secret: true, type: encryptionKeys },
    unset: 'none: payloads are plain (the codec needs them)',
    required: (reader: Reader) => reader === 'C',
    example: 'k2:…,k1:…',
    about: 'comma list of `id:key` (`openssl rand -base64 32`); the first [encrypts](#encryption), all decrypt',
  },
  PAYLOAD_ENCRYPTION: {
    ...{ by: 'WRLA', type: format.oneOf('off', 'on', 'required'), unset: '`off` without keys, `on` with keys' },
    ...{
      example: 'required',
      about: '`required`: what is plain or for another workflow is refused ([trust.md](trust.md))',
    },
  },
  LOG_LEVEL: {
    ...{ by: 'WRCA', type: format.oneOf('debug', 'info', 'warn', 'error'), default: 'info', example: 'warn' },
    about: 'what is logged at least. Logs are JSON lines on stderr',
  },
  METRICS_ADDRESS: {
    ...{ by: 'WRA', type: format.listenAddress(9464), unset: 'none: not shown', example: '127.0.0.1:9464' },
    about: 'where [health and metrics](monitoring.md) are shown, in the clear, to everybody who reaches it',
  },
  API_ADDRESS: {
    ...{ by: 'A', type: format.listenAddress(8088), default: '127.0.0.1:8088', example: '0.0.0.0:8088' },
    about: 'where the [API](api.md) listens, in the clear: a TLS proxy belongs in front of it',
  },
  API_KEYS_FILE: {
    ...{ by: 'A', type: text, unset: 'none: everybody on this machine may do everything', example: 'api-keys.json' },
    about: "hashes of the callers' [keys](api.md#keys) and what each may do; required if `API_ADDRESS` is not loopback",
  },
  CODEC_ADDRESS: {
    ...{ by: 'C', type: format.listenAddress(8081), default: '127.0.0.1:8081', example: '0.0.0.0:8081' },
    about: 'where the codec listens',
  },
  CODEC_TOKEN: {
    ...{ by: 'C', file: true, secret: true, type: format.token, unset: 'none: only this machine may ask' },
    about: 'bearer token (`openssl rand -hex 32`) of every question; required if `CODEC_ADDRESS` is not loopback',
  },
  TEMPORAL_UI_URL: {
    ...{ by: 'CL', type: format.pageUrl, unset: 'no links; no web page may ask the codec' },
    example: 'http://localhost:8233',
    about: 'the Temporal UI: commands print links, and its pages may ask the codec',
  },
  ALLOW_DEBUGGING: { ...ALLOWED, by: 'WRCA', about: 'see [below](#allowed-explicitly)' },
  ALLOW_PLAIN_TEMPORAL: { ...ALLOWED, by: 'WRLA' },
  ALLOW_READABLE_FILES: { ...ALLOWED, by: 'WRCLA' },
  ALLOW_SHORT_WINDOWS: { ...ALLOWED, by: 'W' },
} as const satisfies Record<string, Setting>;

/** The name of a setting. */
type Variable = keyof typeof SETTINGS;

type Value<S extends Setting> = S extends { default: string } | { required: unknown }
  ? z.output<S['type']>
  : z.output<S['type']> | undefined;

/** Values of all settings. A required one has a type without undefined. */
export type Settings = { readonly [K in Variable]: Value<(typeof SETTINGS)[K]> };

/** Names of settings in the order of the table. */
export const NAMES = Object.keys(SETTINGS) as Variable[];

/** Returns the row of a setting. */
export const settingOf = (name: Variable): Setting => SETTINGS[name];

/** Returns the variables of a setting: NAME and NAME_FILE. */
export const sourcesOf = (name: Variable): readonly string[] =>
  settingOf(name).file ? [name, `${name}_FILE`] : [name];

/** Returns the name of the variable that is set: NAME or NAME_FILE. */
export const sourceOf = (env: Env, name: Variable): string => sourcesOf(name).findLast((it) => env[it]) ?? name;

/** Settings of a process: values, and the texts that may be shown. */
interface Read {
  settings: Settings;
  shown: Readonly<Record<string, string>>;
}

/** Reads each setting of a reader. An invalid one is recorded and becomes undefined. */
export function readSettings(env: Env, reader: Reader, problems: Problems): Read {
  const settings: Partial<Record<Variable, unknown>> = {};
  const shown: Record<string, string> = {};
  for (const name of NAMES.filter((it) => settingOf(it).by.includes(reader))) {
    const { type, secret, unset, default: fallback } = settingOf(name);
    const text = textOf(env, name, reader, problems);
    const known = text ?? fallback;
    const result = known === undefined ? undefined : type.safeParse(known);
    if (result && !result.success) problems.add(sourceOf(env, name), result.error.issues[0]?.message ?? 'is not valid');
    settings[name] = result?.data;
    if (!secret && !name.startsWith('ALLOW_')) shown[name] = known ?? unset?.split(/[:;] /)[0] ?? 'none';
  }
  return { settings: settings as Settings, shown };
}

/** Returns the text of NAME or of the file in NAME_FILE; undefined if there is none. */
function textOf(env: Env, name: Variable, reader: Reader, problems: Problems): string | undefined {
  const sources = sourcesOf(name);
  const set = sources.filter((source) => env[source]);
  const { ofAccount, required } = settingOf(name);
  if (ofAccount && env.PAYMENT_ACCOUNTS_FILE) {
    // If it were ignored, orders would go to another account than the operator expects.
    for (const source of set) problems.add(source, 'cannot be combined with PAYMENT_ACCOUNTS_FILE: use one of them');
    return undefined;
  }
  if (set.length > 1) problems.add(name, `is given twice: unset ${set.join(' or ')}`);
  // `checkNames` already reported empty values.
  if (required?.(reader, env) && sources.every((source) => env[source] === undefined))
    problems.add(name, `is required (or ${name}_FILE)`);
  const source = set.at(-1);
  if (source === undefined || source === name) return env[name] || undefined;
  const content = readSecretFile(env[source] ?? '', problems, source);
  if (content === undefined) problems.add(source, UNREADABLE);
  return content;
}
