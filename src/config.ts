import { type AccountConfig, readAccounts } from './config/accounts.js';
import { readApiKeys } from './config/api-keys.js';
import { readApprovers } from './config/approvers.js';
import { type Encryption, encryptionOf } from './config/encryption-keys.js';
import { type Env, Problems, type Reader } from './config/env.js';
import { folder, readDirectories } from './config/folders.js';
import { isLoopback } from './config/formats.js';
import { allowedBy, checkNames } from './config/names.js';
import { readPolicies } from './config/policy.js';
import { readReceivers } from './config/receivers.js';
import { checkRuntime } from './config/runtime.js';
import type { Secret } from './config/secret.js';
import { NAMES, readSettings, type Settings, settingOf } from './config/settings.js';
import { readTemporalTarget, type TemporalTarget } from './config/temporal-connection.js';
import type { Pace } from './contract/order/activities.js';

export type { AccountConfig } from './config/accounts.js';
export type { ApiKey, Verb } from './config/api-keys.js';
export type { Approvers } from './config/approvers.js';
export { loadApproverKey } from './config/approvers.js';
export type { Encryption, EncryptionKey } from './config/encryption-keys.js';
export { ConfigError } from './config/env.js';
export type { Directories } from './config/folders.js';
export type { Policy } from './config/policy.js';
export type { ReceiverConfig } from './config/receivers.js';
export { Secret } from './config/secret.js';

/** Lowest level that a process logs. */
type LogLevel = NonNullable<Settings['LOG_LEVEL']>;

/** Log level and metrics of a process. */
export interface Monitoring {
  logLevel: LogLevel;
  /** Address of metrics and health; absent = none. */
  metricsAddress?: Settings['METRICS_ADDRESS'];
}

const DEPOSIT_SETTLE_WINDOW_MS = 15_000;
const PAYOUT_SETTLE_WINDOW_MS = 10 * 60_000;

/** Services execute and list requests within seconds, so less would prove nothing. */
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

/** Settings of callback URLs: the first key signs, all keys verify. */
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

/** Worker version in a Temporal deployment. */
export type Version = NonNullable<ReturnType<typeof versionOf>>;

/** Returns the settings to show, with those of each account by name. */
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

/** Input of a build: settings, their sources, and the collected mistakes. */
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
    const { APPROVERS_FILE: approversFile, AUDIT_DIR: auditDir } = settings;
    const { EVENTS_FILE: eventsFile, POLICY_FILE: policyFile } = settings;
    const approvers = approversFile ? readApprovers(approversFile, accounts.keys(), problems) : undefined;
    return {
      accounts,
      /** If absent, every order is only polled. */
      callback: callbackOf(settings),
      ...encryption,
      /** Approvers by account. An account without an entry accepts unsigned choices. */
      approvers,
      /** Rules by account. An account without an entry has no policy. */
      policies: policyFile ? readPolicies(policyFile, accounts.keys(), approvers, problems) : undefined,
      /** Receivers of events by name. Absent = no events. */
      receivers: eventsFile ? readReceivers(eventsFile, problems) : undefined,
      pace: paceOf(settings, problems),
      /** Start of a restored Temporal: earlier absence counts only after a settle window. */
      restoredAtMs: settings.TEMPORAL_RESTORED_AT,
      /** Absent without versioned deployments. */
      version: versionOf(settings, problems),
      /** Amounts above which an order waits for a person, by currency. */
      caps: settings.PAYMENT_ORDER_CAPS,
      /** Folders of batch files and reports; {} without any. */
      directories: readDirectories(settings, problems),
      /** Folder of the audit record; absent = none is kept. */
      auditDir: auditDir ? folder(auditDir, 'AUDIT_DIR', problems, { create: true }) : undefined,
      /** Absent = default log level, no metrics. */
      monitoring: monitoringOf(settings),
      traced: loadTracing(env),
      /** ALLOW_… variables in force. */
      allowed: allowedBy(env, 'W'),
      /** Effective settings that are not secret, for the `ready` line and `doctor`. */
      shown: shownOf(shown, accounts, encryption),
    };
  });

type LoadedWorkerConfig = ReturnType<typeof loadWorkerConfig>;

/** Checked configuration of a worker. */
export type WorkerConfig = Pick<LoadedWorkerConfig, 'accounts' | 'pace'> & Partial<LoadedWorkerConfig>;

/** Reads the receiver's configuration, which holds no service secret. Throws ConfigError. */
export const loadReceiverConfig = (env: Env = process.env) =>
  load(env, 'R', ({ settings, problems }) => ({
    host: settings.CALLBACK_HOST,
    port: settings.CALLBACK_PORT,
    tokenKeys: settings.CALLBACK_TOKEN_KEY,
    ...encryptionOf(settings, problems),
    monitoring: monitoringOf(settings),
    allowed: allowedBy(env, 'R'),
  }));

/** Reads the API's configuration, without secrets of the payment service. Throws ConfigError. */
export const loadApiConfig = (env: Env = process.env) =>
  load(env, 'A', ({ settings, problems }) => {
    const { API_ADDRESS: address, API_KEYS_FILE: file } = settings;
    if (!file && !isLoopback(address.host)) {
      const why = 'without keys everybody who reaches it may pay';
      problems.add('API_KEYS_FILE', `is required where API_ADDRESS is reached from other machines: ${why}`);
    }
    return {
      ...address,
      /** Absent = every local caller may do everything. */
      keys: file ? readApiKeys(file, problems) : undefined,
      ...encryptionOf(settings, problems),
      monitoring: monitoringOf(settings),
      traced: loadTracing(env),
      allowed: allowedBy(env, 'A'),
    };
  });

/** Reads the payload encryption for Temporal clients; {} = none. Throws ConfigError. */
export const loadEncryption = (env: Env = process.env): Encryption =>
  load(env, 'L', ({ settings, problems }) => encryptionOf(settings, problems));

/** Reads Temporal's address. Throws ConfigError with one line per mistake. */
export const loadTemporalTarget = (env: Env = process.env): TemporalTarget =>
  load(env, 'L', ({ problems }) => readTemporalTarget(env, problems));

/** Reads the namespace, and its pages in the Temporal UI if that is known. Throws ConfigError. */
export const loadUi = (env: Env = process.env): { namespace: string; namespaceUrl?: string } =>
  load(env, 'L', ({ settings: { TEMPORAL_UI_URL: ui }, problems }) => {
    const { namespace } = readTemporalTarget(env, problems);
    return { namespace, ...(ui && { namespaceUrl: `${ui}/namespaces/${encodeURIComponent(namespace)}` }) };
  });

/** Returns true if OpenTelemetry's variables name a collector and do not disable traces. */
export const loadTracing = (env: Env = process.env): boolean =>
  Boolean(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT) &&
  env.OTEL_SDK_DISABLED?.toLowerCase() !== 'true' &&
  (env.OTEL_TRACES_EXPORTER || 'otlp') === 'otlp';

/** Reads the codec endpoint's configuration. Throws ConfigError with one line per mistake. */
export const loadCodecConfig = (env: Env = process.env) =>
  load(env, 'C', ({ settings, problems }) => {
    const { host, port } = settings.CODEC_ADDRESS;
    // A caller can read every payload.
    if (!settings.CODEC_TOKEN && !isLoopback(host)) {
      const what = 'is required (or CODEC_TOKEN_FILE) where CODEC_ADDRESS is reached from other machines';
      problems.add('CODEC_TOKEN', what);
    }
    return {
      host,
      port,
      token: settings.CODEC_TOKEN,
      encryptionKeys: settings.PAYLOAD_ENCRYPTION_KEYS,
      uiOrigin: settings.TEMPORAL_UI_URL && new URL(settings.TEMPORAL_UI_URL).origin,
      logLevel: settings.LOG_LEVEL,
      allowed: allowedBy(env, 'C'),
    };
  });

/** Configuration of the codec. Without `token`: loopback only; without `uiOrigin`: no page. */
export type CodecConfig = Omit<ReturnType<typeof loadCodecConfig>, 'allowed' | 'logLevel' | 'token'> & {
  token?: Secret;
  /** Default: info. */
  logLevel?: LogLevel;
};
