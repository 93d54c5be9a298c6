import { type AccountConfig, readAccounts } from './config/accounts.js';
import { addressList, host, isLoopback, origin, urlProblem, withoutTrailingSlash } from './config/addresses.js';
import { type Approvers, readApprovers } from './config/approvers.js';
import { type Capacity, readCapacity } from './config/capacity.js';
import { type Directories, folder, readDirectories } from './config/directories.js';
import { type Encryption, readEncryption, requireEncryptionKeys } from './config/encryption-keys.js';
import {
  amountsByCurrency,
  duration,
  durationMs,
  type Env,
  oneOf,
  Problems,
  port,
  tokenKeys,
  tokenProblem,
} from './config/env.js';
import { type LogLevel, type Monitoring, readLogLevel, readMonitoring } from './config/monitoring.js';
import { readRestoredAt } from './config/restored-at.js';
import { type Rollout, readRollout } from './config/rollout.js';
import { checkRuntime, refuseUnusedProxy } from './config/runtime.js';
import { Secret } from './config/secret.js';
import { sourceOf, valueOrFile } from './config/sources.js';
import { readTemporalTarget } from './config/temporal-connection.js';
import { isTraced, readTracing } from './config/tracing.js';
import { allowedBy, checkNames, type Reader } from './config/variables.js';
import type { Pace } from './contract/order/activities.js';

export type { AccountConfig } from './config/accounts.js';
export { loadApproverKey } from './config/approver-key.js';
export type { Approvers } from './config/approvers.js';
export type { Capacity } from './config/capacity.js';
export type { Directories } from './config/directories.js';
export type { Encryption, EncryptionKey } from './config/encryption-keys.js';
export { ConfigError } from './config/env.js';
export type { LogLevel, Monitoring } from './config/monitoring.js';
export type { Rollout } from './config/rollout.js';
export { Secret } from './config/secret.js';

/** How the worker makes callback URLs; absent = every order is followed by polling alone. */
export interface CallbackConfig {
  baseUrl: string;
  /** Secret keys. The first signs, all verify. */
  tokenKeys: string[];
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
  /** Absent = that of a process of 512 MB. */
  capacity?: Capacity;
  /** Absent = the usual log, and no metrics. */
  monitoring?: Monitoring;
  /** Absent = one version at a time. */
  rollout?: Rollout;
  /** Absent = no traces. */
  traced?: boolean;
}

const DEPOSIT_SETTLE_WINDOW_MS = 15_000;
const PAYOUT_SETTLE_WINDOW_MS = 10 * 60_000;

/** Services execute and list what they were sent within seconds, if not always: less would prove nothing. */
const MIN_WINDOW_MS = 60_000;

/** A wait that money depends on. */
function safeWindow(env: Env, name: 'ORDER_SETTLE_WINDOW' | 'ORDER_CONFIRM_DELAY', fallbackMs: number, to: Problems) {
  const ms = duration(env, name, fallbackMs, to);
  if ((durationMs(env[name] ?? '') ?? MIN_WINDOW_MS) < MIN_WINDOW_MS) {
    to.weak('ALLOW_SHORT_WINDOWS', name, 'must not be shorter than 1m: what is read so soon is no proof');
  }
  return ms;
}

function readPace(env: Env, problems: Problems): Pace {
  const pollInitialMs = duration(env, 'ORDER_POLL_INITIAL', 5_000, problems);
  const pollMaxMs = duration(env, 'ORDER_POLL_MAX', 5 * 60_000, problems);
  if (pollMaxMs < pollInitialMs) problems.add('ORDER_POLL_MAX', 'must not be shorter than ORDER_POLL_INITIAL');
  return {
    pollInitialMs,
    pollMaxMs,
    settleWindowMs: {
      atOnce: safeWindow(env, 'ORDER_SETTLE_WINDOW', PAYOUT_SETTLE_WINDOW_MS, problems),
      deposit: safeWindow(env, 'ORDER_SETTLE_WINDOW', DEPOSIT_SETTLE_WINDOW_MS, problems),
    },
    confirmDelayMs: safeWindow(env, 'ORDER_CONFIRM_DELAY', 10 * 60_000, problems),
  };
}

function readCallback(env: Env, problems: Problems): CallbackConfig | undefined {
  const baseUrl = env.CALLBACK_BASE_URL;
  if (!baseUrl) return undefined;
  const problem = urlProblem(baseUrl);
  if (problem) problems.add('CALLBACK_BASE_URL', problem);
  return { baseUrl: withoutTrailingSlash(baseUrl), tokenKeys: tokenKeys(env, problems) };
}

/** What `read` makes of an environment without empty or misspelt settings; throws ConfigError with one line per mistake. */
function load<T>(env: Env, reader: Reader, read: (problems: Problems) => T): T {
  const problems = new Problems(env);
  checkNames(env, reader, problems);
  problems.secret(env.TEMPORAL_API_KEY ?? '', 'Temporal key', 'TEMPORAL_API_KEY');
  if (reader !== 'L') checkRuntime(env, problems);
  const config = read(problems);
  problems.throwIfAny();
  return config;
}

/** Reads a worker's configuration. Throws ConfigError with one line per mistake. */
export const loadWorkerConfig = (env: Env = process.env): WorkerConfig =>
  load(env, 'W', (problems) => {
    const accounts = readAccounts(env, problems);
    const baseUrls = [...accounts.values()].map(({ baseUrl }) => baseUrl);
    refuseUnusedProxy(env, baseUrls, problems);
    return {
      accounts,
      callback: readCallback(env, problems),
      ...readEncryption(env, problems),
      approvers: readApprovers(env, accounts.keys(), problems),
      pace: readPace(env, problems),
      restoredAtMs: readRestoredAt(env, problems),
      capacity: readCapacity(env, problems),
      rollout: readRollout(env, problems),
      caps: amountsByCurrency(env, 'PAYMENT_ORDER_CAPS', problems),
      checkBalance: oneOf(env, 'PAYMENT_CHECK_BALANCE', ['true', 'false'], problems) === 'true',
      directories: readDirectories(env, problems),
      auditDir: env.AUDIT_DIR ? folder(env.AUDIT_DIR, 'AUDIT_DIR', problems, { create: true }) : undefined,
      monitoring: readMonitoring(env, problems),
      traced: readTracing(env, problems),
      allowed: allowedBy(env, 'W'),
    };
  });

/** Reads the receiver's configuration, in which no secret of the payment service is; throws ConfigError. */
export const loadReceiverConfig = (env: Env = process.env) =>
  load(env, 'R', (problems) => ({
    host: host(env, 'CALLBACK_HOST', '127.0.0.1', problems),
    port: port(env, 'CALLBACK_PORT', 8080, problems),
    tokenKeys: tokenKeys(env, problems),
    ...readEncryption(env, problems),
    trustedProxies: addressList(env, 'CALLBACK_TRUSTED_PROXIES', problems),
    allowedAddresses: addressList(env, 'CALLBACK_ALLOWED_ADDRESSES', problems),
    monitoring: readMonitoring(env, problems),
    traced: readTracing(env, problems),
    allowed: allowedBy(env, 'R'),
  }));

/** Settings as they stand in the environment, for the line `ready`; of those that hold no secret alone. */
export const settingsOf = (...names: string[]): string =>
  names.map((name) => ` ${name}=${process.env[name]?.replace(/\s/g, '') || 'none'}`).join('');

/** Reads how payloads are encrypted, {} = not at all; throws ConfigError. For clients of Temporal. */
export const loadEncryption = (env: Env = process.env): Encryption =>
  load(env, 'L', (problems) => readEncryption(env, problems));

/** Reads where Temporal is and how it is reached; throws ConfigError with one line per mistake. */
export const loadTemporalTarget = (env: Env = process.env) =>
  load(env, 'L', (problems) => readTemporalTarget(env, problems));

/** Whether the command line is traced; throws ConfigError. */
export const loadTracing = (env: Env = process.env): boolean =>
  load(env, 'L', (problems) => readTracing(env, problems));

/** Whether a client traces its calls. In a process of somebody else's their settings of OpenTelemetry are no mistakes of ours. */
export const isClientTraced = (env: Env = process.env): boolean => isTraced(env);

/** Reads the codec endpoint's configuration; throws ConfigError with one line per mistake. */
export const loadCodecConfig = (env: Env = process.env) =>
  load(env, 'C', (problems) => ({
    ...codecAccess(env, problems),
    port: port(env, 'CODEC_PORT', 8081, problems),
    encryptionKeys: requireEncryptionKeys(env, problems),
    uiOrigin: origin(env, 'CODEC_UI_ORIGIN', problems),
    logLevel: readLogLevel(env, problems),
    allowed: allowedBy(env, 'C'),
  }));

/** Whoever may ask reads every payload: from other machines only with a token. `token` undefined: this machine only. */
function codecAccess(env: Env, problems: Problems): { host: string; token?: Secret } {
  const listensOn = host(env, 'CODEC_HOST', '127.0.0.1', problems);
  const name = 'CODEC_TOKEN';
  const isSet = env[name] !== undefined || env[`${name}_FILE`] !== undefined;
  if (isSet) {
    const token = valueOrFile(env, name, problems, tokenProblem);
    problems.secret(token, 'codec token', sourceOf(env, name));
    return { host: listensOn, token: new Secret(token) };
  }
  if (!isLoopback(listensOn)) {
    problems.add(name, `is required (or ${name}_FILE) where CODEC_HOST is reached from other machines`);
  }
  return { host: listensOn };
}

/** Everything the codec endpoint needs; `uiOrigin`: of the Temporal UI whose pages may ask, undefined = no web page may. */
export type CodecConfig = Omit<ReturnType<typeof loadCodecConfig>, 'allowed' | 'logLevel'> & {
  /** Absent = info. */
  logLevel?: LogLevel;
};
