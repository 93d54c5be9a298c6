import { createHmac } from 'node:crypto';
import { type Account, GroupedLookUps, SharedRates } from '../activities/index.js';
import { withoutTrailingSlash } from '../config/addresses.js';
import { type AccountConfig, ConfigError } from '../config.js';
import { createPaymentService } from '../payment-service/client.js';
import type { RouteOptions } from '../payment-service/connection.js';
import { loadSigner, type Signer } from '../payment-service/signers.js';

/** Creates do not wait long for rates: without them the checks are skipped. */
const RATES_TIMEOUT_MS = 5_000;

/** Opens every configured account; throws ConfigError when a signer cannot be loaded. */
export async function openAccounts(configs: ReadonlyMap<string, AccountConfig>): Promise<Map<string, Account>> {
  const accounts = await Promise.all([...configs.values()].map(openAccount));
  return new Map(accounts.map((account) => [account.name, account]));
}

/** Opens one account; throws ConfigError when its signer cannot be loaded. */
export async function openAccount(config: AccountConfig): Promise<Account> {
  const limit = config.requestsPerSecond ? { requestsPerSecond: config.requestsPerSecond } : {};
  const service = createPaymentService({
    baseUrl: config.baseUrl,
    apiKey: config.apiKey.reveal(),
    apiSecret: config.apiSecret.reveal(),
    sign: await signerOf(config),
    ...limit,
    ...routeOf(config),
  });
  const { notExecutedStatuses, formatChecks } = config;
  const rates = new SharedRates(() => service.rates({ timeoutMs: RATES_TIMEOUT_MS }));
  return {
    name: config.name,
    service,
    lookUps: new GroupedLookUps(service),
    ...pinOfConfig(config),
    rates,
    ...limit,
    ...(notExecutedStatuses && { notExecutedStatuses }),
    ...(formatChecks && { formatChecks }),
  };
}

function routeOf({ caCertificates, clientCertificate, proxy }: AccountConfig): RouteOptions {
  const credentials = proxy?.credentials?.reveal();
  return {
    caCertificates,
    ...(clientCertificate && { clientCertificate: { ...clientCertificate, key: clientCertificate.key.reveal() } }),
    ...(proxy && { proxy: { ...proxy, credentials } }),
  };
}

/** What orders are pinned to. The fingerprint is keyed: a key that can be guessed cannot be found by it. */
export function pinOfConfig(config: AccountConfig): Pick<Account, 'endpoint' | 'keyFingerprint'> {
  const { baseUrl, apiKey, apiSecret } = config;
  const { origin, pathname } = new URL(baseUrl);
  const keyed = createHmac('sha256', apiSecret.reveal()).update(`payment-orders api key\0${apiKey.reveal()}`);
  return { endpoint: withoutTrailingSlash(origin + pathname), keyFingerprint: keyed.digest('hex').slice(0, 16) };
}

async function signerOf({ name, signer }: AccountConfig): Promise<Signer> {
  try {
    return await loadSigner(signer);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'cannot be loaded';
    throw new ConfigError([`PAYMENT_SIGNER of account ${name}: ${reason}`]);
  }
}

/**
 * Requests that one task of either queue makes at worst: probe and create; list and status. The create of a follow-up also
 * reads what it was made for (two for each order before it), which is rare enough for the share that is left.
 */
const REQUESTS_PER_TASK = 2;

/**
 * Shares of the account's limit. Together they stay below it: the server's limit is bursty (about a fifth above over a few
 * seconds), and plans, reconciliations and shared rates calls come on top. An order takes one create and as a
 * rule more than one task of the look-up queue, so that the larger share goes there.
 */
const SHARE = { create: 0.33, lookup: 0.55 };

/** Options of the two queues of an account: tasks per second over all workers; none without a configured limit. */
export function queueLimits(requestsPerSecond: number | undefined) {
  if (requestsPerSecond === undefined) return { create: {}, lookup: {} };
  const tasksPerSecond = (share: number) => ({
    maxTaskQueueActivitiesPerSecond: (requestsPerSecond * share) / REQUESTS_PER_TASK,
  });
  return { create: tasksPerSecond(SHARE.create), lookup: tasksPerSecond(SHARE.lookup) };
}
