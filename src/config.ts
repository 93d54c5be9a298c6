import { type AccountConfig, readAccounts } from './config/accounts.js';
import { isLoopback } from './config/addresses.js';
import { readApprovers } from './config/approvers.js';
import { folder, readDirectories } from './config/directories.js';
import { type Encryption, encryptionOf } from './config/encryption-keys.js';
import { type Env, Problems, type Reader } from './config/env.js';
import { allowedBy, checkNames } from './config/names.js';
import { readSettings } from './config/read-settings.js';
import { readReceivers } from './config/receivers.js';
import { checkRuntime } from './config/runtime.js';
import type { Secret } from './config/secret.js';
import { NAMES, type Settings, settingOf } from './config/settings.js';
import { readTemporalTarget } from './config/temporal-connection.js';
import type { Pace } from './contract/order/activities.js';

export type { AccountConfig } from './config/accounts.js';
export { loadApproverKey } from './config/approver-key.js';
export type { Approvers } from './config/approvers.js';
export type { Directories } from './config/directories.js';
export type { Encryption, EncryptionKey } from './config/encryption-keys.js';
export { ConfigError } from './config/env.js';
export type { ReceiverConfig } from './config/receivers.js';
export { Secret } from './config/secret.js';

/** Lowest level that a process logs. */
export type LogLevel = NonNullable<Settings['LOG_LEVEL']>;

/** What shows how a process is. */
export interface Monitoring {
  logLevel: LogLevel;
  /** Where metrics and health are served; absent = nowhere. */
  metricsAddress?: Settings['METRICS_ADDRESS'];
}

const DEPOSIT_SETTLE_WINDOW_MS = 15_000;
const PAYOUT_SETTLE_WINDOW_MS = 10 * 60_000;

/** Services execute and list what they were sent within seconds, if not always: less would prove nothing. */
const MIN_WINDOW_MS = 60_000;

function paceOf(settings: Settings, problems: Problems): Pace {
  const { ORDER_POLL_INITIAL: pollInitialMs, ORDER_POLL_MAX: pollMaxMs, ORDER_SETTLE_WINDOW: windowMs } = settings;
  if (pollMaxMs < pollInitialMs) problems.add('ORDER_POLL_MAX', 'must not be shorter than ORDER_POLL_INITIAL');
  const short = 'must not be shorter than 1m: what is read so soon is no proof';
  for (const name of ['ORDER_SETTLE_WINDOW', 'ORDER_CONFIRM_DELAY'] as const)
    if ((settings[name] ?? MIN_WINDOW_MS) < MIN_WINDOW_MS) problems.weak('ALLOW_SHORT_WINDOWS', name, short);
  const settleWindowMs = {
    atOnce: windowMs ?? PAYOUT_SETTLE_WINDOW_MS,
    deposit: windowMs ?? DEPOSIT_SETTLE_WINDOW_MS,
  };
  return { pollInitialMs, pollMaxMs, settleWindowMs, confirmDelayMs: settings.ORDER_CONFIRM_DELAY };
}

const callbackOf = ({ CALLBACK_BASE_URL: baseUrl, CALLBACK_TOKEN_KEY: tokenKeys }: Settings) =>
  baseUrl === undefined ? undefined : { baseUrl, tokenKeys };

/** How the worker makes callback URLs: the first key signs, all verify. */
export type CallbackConfig = NonNullable<ReturnType<typeof callbackOf>>;

const monitoringOf = ({ LOG_LEVEL: logLevel, METRICS_ADDRESS: metricsAddress }: Settings): Monitoring => ({
  logLevel,
  metricsAddress,
});

function versionOf(settings: Settings, problems: Problems) {
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = settings;
  if (deploymentName && buildId) return { deploymentName, buildId };
  if (deploymentName) problems.add('TEMPORAL_WORKER_BUILD_ID', 'is required beside TEMPORAL_DEPLOYMENT_NAME');
  if (buildId) problems.add('TEMPORAL_DEPLOYMENT_NAME', 'is required beside TEMPORAL_WORKER_BUILD_ID');
  return undefined;
}

/** A version of the worker in a deployment of Temporal's. */
export type Version = NonNullable<ReturnType<typeof versionOf>>;

/** Returns the settings to show, those of each account by its name. */
function shownOf(
  shown: Source['shown'],
  accounts: ReadonlyMap<string, AccountConfig>,
  encryption: Encryption,
): Source['shown'] {
  const ofAccounts = NAMES.flatMap((name) => {
    const { ofAccount, secret, default: fallback = 'none' } = settingOf(name);
    if (!ofAccount || secret) return [];
    const values = [...accounts.values()].map((account) => {
      const value = account[ofAccount as keyof AccountConfig] ?? fallback;
      return `${account.name}:${Array.isArray(value) ? value.join('+') : value}`;
    });
    return [[name, values.join()]];
  });
  const keys = encryption.encryptionKeys?.map(({ id }) => id).join() ?? 'none';
  return { ...shown, ...Object.fromEntries(ofAccounts), PAYLOAD_ENCRYPTION_KEYS: keys };
}

/** What is read for a process: its settings, where they stand, and where mistakes are collected. */
interface Source {
  settings: Settings;
  shown: Readonly<Record<string, string>>;
  env: Env;
  problems: Problems;
}

/** Builds a configuration. Throws ConfigError with one line per mistake. */
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
export const loadWorkerConfig = (env: Env = process.env) =>
  load(env, 'W', ({ settings, shown, problems }) => {
    const accounts = readAccounts(settings, env, problems);
    const encryption = encryptionOf(settings, problems);
    const { APPROVERS_FILE: approversFile, AUDIT_DIR: auditDir, EVENTS_FILE: eventsFile } = settings;
    return {
      accounts,
      /** Absent = every order is followed by polling alone. */
      callback: callbackOf(settings),
      ...encryption,
      /** Whose signatures count, by account; an account that is not here takes what is unsigned. Absent = none asks. */
      approvers: approversFile ? readApprovers(approversFile, accounts.keys(), problems) : undefined,
      /** Receivers of events by name. Absent = no events. */
      receivers: eventsFile ? readReceivers(eventsFile, problems) : undefined,
      pace: paceOf(settings, problems),
      /** Start of a restored Temporal: nothing sent before counts as absent until a settle window later. */
      restoredAtMs: settings.TEMPORAL_RESTORED_AT,
      /** Absent = one version at a time. */
      version: versionOf(settings, problems),
      /** Amounts above which an order waits for a person, by currency. */
      caps: settings.PAYMENT_ORDER_CAPS,
      /** Refuse orders that the balance does not cover. */
      checkBalance: settings.PAYMENT_CHECK_BALANCE,
      /** Where batch files are and reports go; {} when there are none. */
      directories: readDirectories(settings, problems),
      /** Where the audit record goes; absent = none is kept. */
      auditDir: auditDir ? folder(auditDir, 'AUDIT_DIR', problems, { create: true }) : undefined,
      /** Absent = the usual log, and no metrics. */
      monitoring: monitoringOf(settings),
      traced: loadTracing(env),
      /** The ALLOW_… variables in force. */
      allowed: allowedBy(env, 'W'),
      /** Settings that are no secret, as they count, for the line `ready` and `doctor`. */
      shown: shownOf(shown, accounts, encryption),
    };
  });

type LoadedWorkerConfig = ReturnType<typeof loadWorkerConfig>;

/** Everything a worker needs, checked. */
export type WorkerConfig = Pick<LoadedWorkerConfig, 'accounts' | 'pace'> & Partial<LoadedWorkerConfig>;

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

/** Returns true if OpenTelemetry's own variables name a collector, and nothing switches traces off. */
export const loadTracing = (env: Env = process.env): boolean =>
  Boolean(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT) &&
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

/** What the codec endpoint needs; no `token` = this machine only, no `uiOrigin` = no web page. */
export type CodecConfig = Omit<ReturnType<typeof loadCodecConfig>, 'allowed' | 'logLevel' | 'token'> & {
  token?: Secret;
  /** Absent = info. */
  logLevel?: LogLevel;
};
