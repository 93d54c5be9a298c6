import { Runtime } from '@temporalio/worker';
import { type Account, GroupedLookUps, SharedRates } from '../activities/index.js';
import type { AccountConfig } from '../config.js';
import { Limiter } from '../payment-service/limiter.js';
import { type SmallPage, smallPageNote } from '../payment-service/paging.js';
import { openService, pinOfConfig } from '../preflight/open-service.js';
import { MOST_WAITING } from './capacity.js';

/** Creates do not wait long for rates: without them the checks are skipped. */
const RATES_TIMEOUT_MS = 5_000;

/** Opens every configured account; throws ConfigError when a signer cannot be loaded. */
export async function openAccounts(configs: ReadonlyMap<string, AccountConfig>): Promise<Map<string, Account>> {
  const accounts = await Promise.all([...configs.values()].map((config) => openAccount(config)));
  return new Map(accounts.map((account) => [account.name, account]));
}

async function openAccount(config: AccountConfig): Promise<Account> {
  const limiter = new Limiter(config.requestsPerSecond);
  const onSmallPage = (operation: string, small: SmallPage) =>
    Runtime.instance().logger.warn(`${operation}: ${smallPageNote(small)}`, { account: config.name });
  const service = await openService(config, { limiter, onSmallPage });
  const { notExecutedStatuses, formatChecks } = config;
  const rates = new SharedRates(() => service.rates({ timeoutMs: RATES_TIMEOUT_MS }));
  return {
    service,
    lookUps: new GroupedLookUps(service, { mostWaiting: MOST_WAITING }),
    ...pinOfConfig(config),
    rates,
    limiter,
    ...(notExecutedStatuses && { notExecutedStatuses }),
    ...(formatChecks && { formatChecks }),
  };
}

/** Creates that wait in a worker: so many seconds of the limit. All others wait at the server, which goes by their priority. */
const WAITING_S = 1.5;

/** Options of the create queue's worker; none without a configured limit. */
export const createSlots = (requestsPerSecond: number | undefined): { maxConcurrentActivityTaskExecutions?: number } =>
  requestsPerSecond === undefined
    ? {}
    : { maxConcurrentActivityTaskExecutions: Math.max(2, Math.ceil(requestsPerSecond * WAITING_S)) };
