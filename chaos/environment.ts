import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../scripts/temporal/dev-server.js';
import type { MortalTemporal } from './temporal.js';

/** What no log, history or database may show. */
export interface Secrets {
  /** Of both accounts. */
  apiKeys: readonly string[];
  apiSecret: string;
  tokenKey: string;
  /** Also where payloads are plain: then nobody has it. */
  payloadKey: Buffer;
  codecToken: string;
  /** Of the receiver of events, where there is one. */
  events?: string;
}

/** Quick polls; the settle window is twice as long as any visibility lag. */
const PACE = {
  ORDER_POLL_INITIAL: '1s',
  ORDER_POLL_MAX: '4s',
  ORDER_SETTLE_WINDOW: '20s',
  ORDER_CONFIRM_DELAY: '1s',
  ALLOW_SHORT_WINDOWS: 'true',
};

/** The account of the orders, and the one whose key somebody puts in its place. */
const ACCOUNTS = ['right', 'other'] as const;

const secret = (): string => randomBytes(24).toString('base64url');

/** New ones for every run. */
export const newSecrets = (): Secrets => ({
  ...{ apiKeys: ACCOUNTS.map(secret), apiSecret: secret(), tokenKey: secret() },
  ...{ payloadKey: randomBytes(32), codecToken: secret() },
});

/** Only what a program needs to run; nothing of the caller's own settings, the pace apart. */
export const baseEnv = (): Record<string, string> => ({ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' });

const pace = (): Record<string, string> =>
  Object.fromEntries(Object.entries(PACE).map(([name, value]) => [name, process.env[name] ?? value]));

/** Where a run keeps what; `batches` and `logs` are made at once. */
export async function foldersIn(folder: string) {
  const inside = (name: string) => join(folder, name);
  const folders = {
    ...{ folder, dist: inside('dist'), logs: inside('logs'), dbFile: inside('temporal.db') },
    ...{ accountsFile: inside('accounts.json'), batchDir: inside('batches'), reportDir: inside('reports') },
    auditDir: inside('audit'),
  };
  for (const needed of [folders.logs, folders.batchDir]) await mkdir(needed, { recursive: true, mode: 0o700 });
  return folders;
}

/** Name, key, ports and folder of each account's sandbox. */
export function servicesOf({ apiKeys }: Secrets, folder: string) {
  return Promise.all(
    apiKeys.map(async (apiKey, index) => ({
      ...{ apiKey, name: `sandbox-${ACCOUNTS[index]}`, port: await freePort(), adminPort: await freePort() },
      dataDir: join(folder, 'sandbox', `${ACCOUNTS[index]}`),
    })),
  );
}

/** Base URL of a port of this machine. */
export const loopback = (port: number): string => `http://127.0.0.1:${port}`;

/** What the programs are configured with. Ports and secrets stay the same over all their lives. */
interface Setting {
  temporal: MortalTemporal;
  /** Where workers reach Temporal. */
  workersWay: string;
  secrets: Secrets;
  receiverPort: number;
  codecPort: number;
  seed: string;
  accountsFile: string;
  encrypted: boolean;
  batchDir: string;
  reportDir: string;
  auditDir: string;
}

/** One account's sandbox. */
export interface Service {
  apiKey: string;
  port: number;
  adminPort: number;
  dataDir: string;
}

/** The environment of each program: only workers know the key and the secret. */
export function environments(setting: Setting) {
  const { temporal, secrets, receiverPort, codecPort, seed, accountsFile, encrypted } = setting;
  const { apiSecret, tokenKey, payloadKey, codecToken } = secrets;
  const keys = `chaos:${payloadKey.toString('base64')}`;
  const temporalEnv = {
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    ...(encrypted && { PAYLOAD_ENCRYPTION_KEYS: keys, PAYLOAD_ENCRYPTION: 'required' }),
  };
  return {
    sandbox: ({ apiKey, port, adminPort, dataDir }: Service) => ({
      SANDBOX_PORT: `${port}`,
      SANDBOX_ADMIN_PORT: `${adminPort}`,
      SANDBOX_DATA_DIR: dataDir,
      SANDBOX_SEED: seed,
      SANDBOX_API_KEY: apiKey,
      SANDBOX_API_SECRET: apiSecret,
    }),
    receiver: { ...temporalEnv, CALLBACK_PORT: `${receiverPort}`, CALLBACK_TOKEN_KEY: tokenKey },
    starter: temporalEnv,
    // Where nothing is encrypted it shows nothing either, but it does not start without a key.
    codec: { PAYLOAD_ENCRYPTION_KEYS: keys, CODEC_ADDRESS: `127.0.0.1:${codecPort}`, CODEC_TOKEN: codecToken },
    worker: {
      ...temporalEnv,
      TEMPORAL_ADDRESS: setting.workersWay,
      ...pace(),
      PAYMENT_ACCOUNTS_FILE: accountsFile,
      BATCH_DIR: setting.batchDir,
      REPORT_DIR: setting.reportDir,
      AUDIT_DIR: setting.auditDir,
      CALLBACK_BASE_URL: loopback(receiverPort),
      CALLBACK_TOKEN_KEY: tokenKey,
    },
  };
}
