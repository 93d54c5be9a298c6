import { durationText } from '../config/env.js';
import type { AccountConfig, WorkerConfig } from '../config.js';
import { lookupsCapacity, ordersCapacity } from './capacity.js';

/** One word, whatever stands in it: the line `ready` is read by machines, too. */
const word = (value: unknown): string => String(value).replace(/\s/g, (blank) => encodeURIComponent(blank)) || 'none';

const list = (values: Iterable<unknown> = []): string => [...values].join(',');

/** What a worker goes by, defaults included, by the names of its variables. Of secrets only the names of payload keys. */
export function settingsText(config: WorkerConfig): string {
  const all = { ...ofAccounts([...config.accounts.values()]), ...ofOrders(config), ...ofProcess(config) };
  return Object.entries(all)
    .map(([name, value]) => `${name}=${word(value)}`)
    .join(' ');
}

function ofAccounts(accounts: readonly AccountConfig[]): Record<string, unknown> {
  const each = (shown: (account: AccountConfig) => unknown): string =>
    list(accounts.map((account) => `${account.name}:${shown(account) ?? 'none'}`));
  const [{ proxy } = { proxy: undefined }] = accounts;
  return {
    PAYMENT_BASE_URL: each(({ baseUrl }) => baseUrl),
    PAYMENT_SIGNER: each(({ signer }) => signer),
    PAYMENT_API_KEY_PREDECESSORS: each(({ predecessors }) => predecessors?.join('+')),
    PAYMENT_REQUESTS_PER_SECOND: each(({ requestsPerSecond }) => requestsPerSecond),
    PAYMENT_NOT_EXECUTED_STATUSES: each(({ notExecutedStatuses }) => notExecutedStatuses?.join('+')),
    PAYMENT_FORMAT_CHECKS: each(({ formatChecks = 'refuse' }) => formatChecks),
    PAYMENT_CLIENT_CERT_FILE: each(({ clientCertificate }) => clientCertificate && 'given'),
    PAYMENT_CA_FILE: each(({ caCertificates }) => caCertificates && 'given'),
    PAYMENT_PROXY_URL: proxy ? `${proxy.host}:${proxy.port}` : '',
  };
}

function ofOrders({
  pace,
  caps,
  checkBalance,
  callback,
  rollout,
  restoredAtMs,
}: WorkerConfig): Record<string, unknown> {
  const { atOnce, deposit } = pace.settleWindowMs;
  return {
    PAYMENT_ORDER_CAPS: list([...(caps ?? [])].map(([currency, amount]) => `${currency}:${amount}`)),
    PAYMENT_CHECK_BALANCE: checkBalance ?? false,
    ORDER_POLL_INITIAL: durationText(pace.pollInitialMs),
    ORDER_POLL_MAX: durationText(pace.pollMaxMs),
    ORDER_SETTLE_WINDOW: [...new Set([atOnce, deposit])].map(durationText).join('/deposits:'),
    ORDER_CONFIRM_DELAY: durationText(pace.confirmDelayMs),
    ORDER_PATCHES_HELD: list(rollout?.heldPatches),
    TEMPORAL_RESTORED_AT: restoredAtMs === undefined ? '' : new Date(restoredAtMs).toISOString(),
    CALLBACK_BASE_URL: callback?.baseUrl ?? '',
  };
}

function ofProcess({ accounts, capacity = {}, directories, auditDir, encryptionKeys, monitoring }: WorkerConfig) {
  const { maxCachedWorkflows, activityTaskPollerBehavior } = ordersCapacity(capacity);
  return {
    ORDER_CACHE_SIZE: maxCachedWorkflows,
    ORDER_LOOKUPS_AT_ONCE: lookupsCapacity(capacity, accounts.size).maxConcurrentActivityTaskExecutions,
    ORDER_QUEUE_POLLERS: activityTaskPollerBehavior.maximum,
    BATCH_DIR: directories?.batchDir ?? '',
    REPORT_DIR: directories?.reportDir ?? '',
    AUDIT_DIR: auditDir ?? '',
    PAYLOAD_ENCRYPTION_KEYS: list(encryptionKeys?.map(({ id }) => id)),
    LOG_LEVEL: monitoring?.logLevel ?? 'info',
  };
}
