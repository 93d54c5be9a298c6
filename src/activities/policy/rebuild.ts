import { getClient, heartbeat, sleep } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { readFirstInput } from '../../client/history.js';
import type { Policy } from '../../config.js';
import { searchAttribute } from '../../contract/names.js';
import { requestOfOrder } from '../../contract/order/followers.js';
import { isOrderType, ORDER_TYPES, type OrderType, workflowTypeOf } from '../../contract/order/types.js';
import { type Ledger, openLedger, prune, reserveOrder, settle } from '../../contract/policy/ledger.js';
import { type Payout, spendsOf } from '../../contract/policy/rules.js';
import { dateTimeMs } from '../../contract/reconcile/input.js';
import { isFinal, type OrderListItem } from '../../contract/service-objects.js';
import { orderWindows } from '../../payment-service/paging.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';
import { retryLater } from '../failures.js';
import { PacedReads } from '../paced-reads.js';
import { ourRuns } from '../reconcile/our-runs.js';
import { askedAmounts, isJudged, payoutOf } from './payout.js';

const DAY_MS = 86_400_000;
const COUNTED_MS = 31 * DAY_MS;
/** Time in which Temporal's list and the service's list show what is new. */
const LISTED_AFTER_MS = 3_000;
const BEAT_EVERY_MS = 2_000;
/** Wallet that the service shows in part. */
const MASKED = /[*•…]/;

/**
 * Reads what an account sent within the longest period: from the service's order list, and from
 * open orders whose create may be in flight. Counts an order in doubt in full.
 */
export function rebuildPolicyActivity(deps: ActivityDeps) {
  return async function rebuildPolicy({ account: name }: { account: string }): Promise<Ledger> {
    const account = accountOf(deps, name);
    const policy: Partial<Policy> = deps.policies?.get(name) ?? {};
    const beat = setInterval(() => heartbeat(), BEAT_EVERY_MS);
    try {
      await sleep(LISTED_AFTER_MS);
      const ledger = openLedger();
      const listed = await takeListed(account, policy, ledger);
      await takeOpen(getClient(), account, { policy, ledger, listed });
      return prune(ledger, Date.now());
    } catch (error) {
      throw retryLater(error);
    } finally {
      clearInterval(beat);
    }
  };
}

/** Counts the orders that the service lists. Returns their ids. */
async function takeListed(account: Account, policy: Partial<Policy>, ledger: Ledger): Promise<Set<string>> {
  const reads = new PacedReads(account);
  const nowMs = Date.now();
  const listed = new Map<string, OrderListItem>();
  // A day more on both ends: the service's time zone is unknown.
  for await (const { page } of orderWindows(reads.orders(), {
    fromMs: nowMs - COUNTED_MS - DAY_MS,
    toMs: nowMs + DAY_MS,
  })) {
    for (const item of page.items) listed.set(item.order_uuid, item);
  }
  for (const item of listed.values()) {
    const type = item.order_type;
    if (!isOrderType(type) || !isJudged(type)) continue;
    const atMs = Math.min(dateTimeMs(item.created_at ?? '') ?? nowMs, nowMs);
    if (policy.payeeKey && MASKED.test(item.wallet_to ?? ''))
      Object.assign(ledger, { payeesLostUntilMs: nowMs, payoutsLostUntilMs: nowMs });
    // Two orders of one id both count.
    const orderId = ledger.open[item.user_order_id] ? item.order_uuid : item.user_order_id;
    const spends = spendsOf(listedPayout(policy, type, item));
    reserveOrder(ledger, orderId, spends, atMs);
    if (isFinal(item.status)) settle(ledger, { orderId, spends });
  }
  return new Set([...listed.values()].map(({ user_order_id: id }) => id));
}

const NOT_EXECUTED: readonly string[] = ['canceled', 'error'];

/** Returns a listed order as rules see it: what it executed or, while it is open, will execute. */
function listedPayout(policy: Partial<Policy>, type: OrderType, item: OrderListItem): Payout {
  const { wallet_to: wallet, wallet_memo_to: wallet_memo, wallet_to_details: wallet_details } = item;
  const asked = type === 'withdraw' && { amount: item.expected_amount_to };
  const request = { ...requestOfOrder(type, item), ...asked, wallet, wallet_memo, wallet_details };
  const executed = (side: 'from' | 'to') => (isFinal(item.status) ? item[`amount_${side}`] : null);
  const from = executed('from') ?? item.expected_amount_from;
  const to = executed('to') ?? item.expected_amount_to;
  const payout = payoutOf(policy, type, request as never, { from: type === 'withdraw' ? to : from, to });
  const isUnpaid = item.amount_to === null ? NOT_EXECUTED.includes(item.status) : Number(to) === 0;
  return isUnpaid ? { ...payout, payees: [] } : payout;
}

/** Counts open orders that the service does not list, if a create may be in flight. */
async function takeOpen(
  client: Client,
  account: Account,
  { policy, ledger, listed }: { policy: Partial<Policy>; ledger: Ledger; listed: ReadonlySet<string> },
): Promise<void> {
  const nowMs = Date.now();
  const span = { fromMs: 0, toMs: nowMs + DAY_MS, endedSinceMs: nowMs };
  const rates = await account.rates.current();
  for await (const run of ourRuns(client, account.name, span)) {
    if (run.received || run.standing?.kind !== 'open' || listed.has(run.orderId)) continue;
    const { workflowType, input } = await readFirstInput(client, run.workflowId, run.runId);
    const type = ORDER_TYPES.find((one) => workflowTypeOf(one) === workflowType);
    if (!type || !isJudged(type) || !input.order || !(await mayBeInFlight(client, run.workflowId))) continue;
    const payout = payoutOf(policy, type, input.order, askedAmounts(type, input.order, rates));
    reserveOrder(ledger, run.orderId, spendsOf(payout), nowMs);
  }
}

/** Questions that wait before a send. */
const NOT_SENT = ['policy', 'over-cap', 'not-sent'];

async function mayBeInFlight(client: Client, workflowId: string): Promise<boolean> {
  const { raw, typedSearchAttributes } = await client.workflow.getHandle(workflowId).describe();
  const status = typedSearchAttributes.get(searchAttribute.orderStatus);
  if (status === 'parked') return !NOT_SENT.includes(typedSearchAttributes.get(searchAttribute.attentionReason) ?? '');
  const STARTED = 2;
  const creates = raw.pendingActivities?.filter(({ activityType }) => activityType?.name === 'createOrder') ?? [];
  return status === 'uncertain' || creates.some(({ state }) => state === STARTED);
}
