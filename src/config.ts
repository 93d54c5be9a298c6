import { type AccountConfig, readAccounts } from './config/accounts.js';
import { isLoopback } from './config/addresses.js';
import { type Approvers, readApprovers } from './config/approvers.js';
import { type Directories, folder, readDirectories } from './config/directories.js';
import { type Encryption, type EncryptionKey, encryptionOf } from './config/encryption-keys.js';
import { type Env, Problems, type Reader } from './config/env.js';
import { allowedBy, checkNames } from './config/names.js';
import { readSettings } from './config/read-settings.js';
import { checkRuntime } from './config/runtime.js';
import type { Secret } from './config/secret.js';
import type { Settings } from './config/settings.js';
import { readTemporalTarget } from './config/temporal-connection.js';
import type { Pace } from './contract/order/activities.js';

export type { AccountConfig } from './config/accounts.js';
export { loadApproverKey } from './config/approver-key.js';
export type { Approvers } from './config/approvers.js';
export type { Directories } from './config/directories.js';
export type { Encryption, EncryptionKey } from './config/encryption-keys.js';
export { ConfigError } from './config/env.js';
export { Secret } from './config/secret.js';

/** How the worker makes callback URLs; absent = every order is followed by polling alone. */
export interface CallbackConfig {
  baseUrl: string;
  /** Secret keys. The first signs, all verify. */
  tokenKeys: string[];
}

/** What a process logs at least. */
export type LogLevel = NonNullable<Settings['LOG_LEVEL']>;

/** What shows how a process is. */
export interface Monitoring {
  logLevel: LogLevel;
  /** Where metrics and health are served; absent = nowhere. */
  metricsAddress?: { host: string; port: number };
}

/** A version of the worker in a deployment of Temporal's. */
export interface Version {
  deploymentName: string;
  buildId: string;
}

/** Everything a worker needs, checked. */
export interface WorkerConfig extends Encryption {
  accounts: ReadonlyMap<string, AccountConfig>;
  pace: Pace;
  /** Since when a restored Temporal runs, in ms since the epoch: nothing sent before counts as absent until a settle window later. */
  restoredAtMs?: number;
  callback?: CallbackConfig;
  /** Amounts above which an order waits for a person, by currency. */
  caps?: ReadonlyMap<string, string>;
  /** Refuse orders that the balance does not cover. */
  checkBalance?: boolean;
  /** Whose signatures count, by account; an account that is not here takes what is unsigned. Absent = none asks. */
  approvers?: ReadonlyMap<string, Approvers>;
  /** Where batch files are and reports go; {} when there are none. */
  directories?: Directories;
  /** The ALLOW_… variables in force; absent = none. */
  allowed?: readonly string[];
  /** Where the audit record goes; absent = none is kept. */
  auditDir?: string;
  /** Absent = the usual log, and no metrics. */
  monitoring?: Monitoring;
  /** Absent = one version at a time. */
  version?: Version;
  /** Absent = no traces. */
  traced?: boolean;
  /** Settings that are no secret, as they count, for the line `ready` and `doctor`. */
  shown?: Readonly<Record<string, string>>;
}

const DEPOSIT_SETTLE_WINDOW_MS = 15_000;
const PAYOUT_SETTLE_WINDOW_MS = 10 * 60_000;

/** Services execute and list what they were sent within seconds, if not always: less would prove nothing. */
const MIN_WINDOW_MS = 60_000;

function paceOf(settings: Settings, problems: Problems): Pace {
  const { ORDER_POLL_INITIAL: pollInitialMs, ORDER_POLL_MAX: pollMaxMs } = settings;
  if (pollMaxMs < pollInitialMs) problems.add('ORDER_POLL_MAX', 'must not be shorter than ORDER_POLL_INITIAL');
  const short = 'must not be shorter than 1m: what is read so soon is no proof';
  for (const name of ['ORDER_SETTLE_WINDOW', 'ORDER_CONFIRM_DELAY'] as const)
    if ((settings[name] ?? MIN_WINDOW_MS) < MIN_WINDOW_MS) problems.weak('ALLOW_SHORT_WINDOWS', name, short);
  const { ORDER_SETTLE_WINDOW: windowMs } = settings;
  return {
    pollInitialMs,
    pollMaxMs,
    settleWindowMs: {
      atOnce: windowMs ?? PAYOUT_SETTLE_WINDOW_MS,
      deposit: windowMs ?? DEPOSIT_SETTLE_WINDOW_MS,
    },
    confirmDelayMs: settings.ORDER_CONFIRM_DELAY,
  };
}

function callbackOf(settings: Settings): CallbackConfig | undefined {
  const { CALLBACK_BASE_URL: baseUrl, CALLBACK_TOKEN_KEY: tokenKeys } = settings;
  return baseUrl === undefined ? undefined : { baseUrl, tokenKeys };
}

function monitoringOf({ LOG_LEVEL: logLevel, METRICS_ADDRESS: metricsAddress }: Settings): Monitoring {
  return { logLevel, ...(metricsAddress && { metricsAddress }) };
}

function versionOf(settings: Settings, problems: Problems): Version | undefined {
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = settings;
  if (deploymentName && buildId) return { deploymentName, buildId };
  if (deploymentName) problems.add('TEMPORAL_WORKER_BUILD_ID', 'is required beside TEMPORAL_DEPLOYMENT_NAME');
  if (buildId) problems.add('TEMPORAL_DEPLOYMENT_NAME', 'is required beside TEMPORAL_WORKER_BUILD_ID');
  return undefined;
}

/** Returns the settings to show, those of each account by its name. */
function shownOf(
  shown: Readonly<Record<string, string>>,
  accounts: WorkerConfig['accounts'],
  keys?: readonly EncryptionKey[],
) {
  const each = (value: (account: AccountConfig) => unknown): string =>
    [...accounts.values()].map((account) => `${account.name}:${value(account) ?? 'none'}`).join();
  return {
    ...shown,
    PAYMENT_BASE_URL: each(({ baseUrl }) => baseUrl),
    PAYMENT_SIGNER: each(({ signer }) => signer),
    PAYMENT_API_KEY_PREDECESSORS: each(({ predecessors }) => predecessors?.join('+')),
    PAYMENT_REQUESTS_PER_SECOND: each(({ requestsPerSecond }) => requestsPerSecond),
    PAYMENT_NOT_EXECUTED_STATUSES: each(({ notExecutedStatuses }) => notExecutedStatuses?.join('+')),
    PAYLOAD_ENCRYPTION_KEYS: keys?.map(({ id }) => id).join() ?? 'none',
  };
}

/** What is read for a process: its settings, where they stand, and where mistakes are collected. */
interface Source {
  settings: Settings;
  shown: Readonly<Record<string, string>>;
  env: Env;
  problems: Problems;
}

/**
 * Builds a configuration from settings without mistakes. Throws ConfigError with one line per mistake: first those of each setting
 * by itself, then those between settings and in the files that they name.
 */
function load<T>(env: Env, reader: Reader, build: (source: Source) => T): T {
  const problems = new Problems(env);
  checkNames(env, reader, problems);
  if (reader !== 'L') checkRuntime(env, problems);
  const { settings, shown } = readSettings(env, reader, problems);
  problems.throwIfAny();
  const config = build({ settings, shown, env, problems });
  problems.throwIfAny();
  return config;
}

/** Reads a worker's configuration. Throws ConfigError with one line per mistake. */
export const loadWorkerConfig = (env: Env = process.env): WorkerConfig =>
  load(env, 'W', ({ settings, shown, problems }) => {
    const accounts = readAccounts(settings, env, problems);
    const encryption = encryptionOf(settings, problems);
    const { APPROVERS_FILE: approversFile, AUDIT_DIR: auditDir } = settings;
    return {
      accounts,
      callback: callbackOf(settings),
      ...encryption,
      approvers: approversFile ? readApprovers(approversFile, accounts.keys(), problems) : undefined,
      pace: paceOf(settings, problems),
      restoredAtMs: settings.TEMPORAL_RESTORED_AT,
      version: versionOf(settings, problems),
      caps: settings.PAYMENT_ORDER_CAPS,
      checkBalance: settings.PAYMENT_CHECK_BALANCE,
      directories: readDirectories(settings, problems),
      auditDir: auditDir ? folder(auditDir, 'AUDIT_DIR', problems, { create: true }) : undefined,
      monitoring: monitoringOf(settings),
      traced: loadTracing(env),
      allowed: allowedBy(env, 'W'),
      shown: shownOf(shown, accounts, encryption.encryptionKeys),
    };
  });

/** Reads the receiver's configuration, in which no secret of the payment service is; throws ConfigError. */
export const loadReceiverConfig = (env: Env = process.env) =>
  load(env, 'R', ({ settings, problems }) => ({
    host: settings.CALLBACK_HOST,
    port: settings.CALLBACK_PORT,
    tokenKeys: settings.CALLBACK_TOKEN_KEY,
    ...encryptionOf(settings, problems),
    monitoring: monitoringOf(settings),
    allowed: allowedBy(env, 'R'),
  }));

/** Reads how payloads are encrypted, {} = not at all; throws ConfigError. For clients of Temporal. */
export const loadEncryption = (env: Env = process.env): Encryption =>
  load(env, 'L', ({ settings, problems }) => encryptionOf(settings, problems));

/** Reads where Temporal is and how it is reached; throws ConfigError with one line per mistake. */
export const loadTemporalTarget = (env: Env = process.env) =>
  load(env, 'L', ({ problems }) => readTemporalTarget(env, problems));

/** Variables of OpenTelemetry, which its own packages read, too. */
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

/** Returns true if traces are wanted: somewhere to send them is named, and nothing switches them off. */
export const loadTracing = (env: Env = process.env): boolean =>
  ENDPOINTS.some((name) => env[name]) &&
  env.OTEL_SDK_DISABLED?.toLowerCase() !== 'true' &&
  (env.OTEL_TRACES_EXPORTER || 'otlp') === 'otlp';

/** Reads the codec endpoint's configuration; throws ConfigError with one line per mistake. */
export const loadCodecConfig = (env: Env = process.env) =>
  load(env, 'C', ({ settings, problems }) => {
    const { host, port } = settings.CODEC_ADDRESS;
    // Whoever may ask reads every payload.
    if (!settings.CODEC_TOKEN && !isLoopback(host)) {
      const what = 'is required (or CODEC_TOKEN_FILE) where CODEC_ADDRESS is reached from other machines';
      problems.add('CODEC_TOKEN', what);
    }
    return {
      host,
      port,
      token: settings.CODEC_TOKEN,
      encryptionKeys: settings.PAYLOAD_ENCRYPTION_KEYS,
      uiOrigin: settings.CODEC_UI_ORIGIN,
      logLevel: settings.LOG_LEVEL,
      allowed: allowedBy(env, 'C'),
    };
  });

/**
 * Everything the codec endpoint needs. `token`: undefined = this machine only. `uiOrigin`: of the Temporal UI whose pages may ask,
 * undefined = no web page may.
 */
export type CodecConfig = Omit<ReturnType<typeof loadCodecConfig>, 'allowed' | 'logLevel' | 'token'> & {
  token?: Secret;
  /** Absent = info. */
  logLevel?: LogLevel;
};
