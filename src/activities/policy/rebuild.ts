import { getClient, heartbeat, sleep } from '@temporalio/activity';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { readFirstInput } from '../../client/history.js';
import { OrderHandle } from '../../client/order-handle.js';
import type { Policy } from '../../config.js';
import { searchAttribute } from '../../contract/names.js';
import { windowOf } from '../../contract/order/activities.js';
import { isOrderType, orderTypeOf } from '../../contract/order/types.js';
import { type Ledger, openLedger, reserveOrder, settle } from '../../contract/policy/ledger.js';
import { prune } from '../../contract/policy/prune.js';
import { spendsOf } from '../../contract/policy/rules.js';
import { AHEAD_OF_UTC_MS, DAY_MS, dateTimeMs, ZONE_SLACK_MS } from '../../contract/reconcile/input.js';
import { isFinal, type OrderListItem } from '../../contract/service-objects.js';
import { orderWindows } from '../../payment-service/paging.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';
import { retryLater } from '../failures.js';
import { mapInOrder, PacedReads } from '../paced-reads.js';
import { isOtherPolicy, protectionsIn } from '../protections.js';
import { type OurRun, ourRuns } from '../reconcile/our-runs.js';
import { keyOf } from './ask.js';
import { askedAmounts, isJudged, payoutOf } from './payout.js';
import { isMasked, shownAs } from './settle.js';

const COUNTED_MS = 31 * DAY_MS;
/** Time in which Temporal's list and the service's list show what is new. */
const LISTED_AFTER_MS = 3_000;
const BEAT_EVERY_MS = 2_000;
/** Descriptions of runs at once. */
const AT_ONCE = 20;

/**
 * Reads what an account sent within the longest period: from the service's order list, and from our
 * orders that it may not show yet. Counts an order in doubt in full.
 */
export function rebuildPolicyActivity(deps: ActivityDeps) {
  return async function rebuildPolicy({ account: name }: { account: string }): Promise<Ledger> {
    const account = accountOf(deps, name);
    const policy: Partial<Policy> = deps.policies?.get(name) ?? {};
    if (isOtherPolicy(deps, name)) throw new Error('another worker of the account has other rules: it reads the sums');
    const beat = setInterval(() => heartbeat(), BEAT_EVERY_MS);
    try {
      await sleep(LISTED_AFTER_MS);
      const ledger = { ...openLedger(), ...keyOf(policy) };
      const client = getClient();
      // First, so that the list shows what is created meanwhile.
      const open = await openRuns(client, name);
      const { listed, isWhole } = await takeListed(account, policy, ledger);
      const rates = await account.rates.current();
      const lateMs = windowOf(protectionsIn(deps, account).pace, 'withdraw');
      // An entry that cannot be read may be of any order.
      const ended = await endedRuns(client, name, Date.now() - (isWhole ? lateMs : COUNTED_MS), listed);
      const unlisted: Unlisted[] = [...open, ...ended].filter(({ orderId }) => !listed.has(orderId));
      const payouts = mapInOrder(unlisted, AT_ONCE, async (run) => {
        if (run.isUnclear && !(await mayHaveSent(client, run))) return undefined;
        const { workflowType, input } = await readFirstInput(client, run.workflowId, run.runId);
        const type = orderTypeOf(workflowType);
        if (!type || !isJudged(type) || !input.order) return undefined;
        return { run, payout: payoutOf(policy, type, input.order, askedAmounts(type, input.order, rates)) };
      });
      for await (const one of payouts) {
        const isUnseen = one?.run.standing?.kind === 'open';
        if (one) reserveOrder(ledger, one.run.orderId, spendsOf(one.payout), Date.now(), isUnseen ? { isUnseen } : {});
      }
      return prune(ledger, Date.now());
    } catch (error) {
      throw retryLater(error);
    } finally {
      clearInterval(beat);
    }
  };
}

/** Adds the listed orders to the ledger. Returns their ids, and whether all were readable. */
async function takeListed(account: Account, policy: Partial<Policy>, ledger: Ledger) {
  const reads = new PacedReads(account);
  const nowMs = Date.now();
  const listed = new Map<string, OrderListItem>();
  let isWhole = true;
  // A day more on both ends: the service's time zone is unknown.
  for await (const { page } of orderWindows(reads.orders(), {
    fromMs: nowMs - COUNTED_MS - DAY_MS,
    toMs: nowMs + DAY_MS,
  })) {
    for (const item of page.items) listed.set(item.order_uuid, item);
    isWhole &&= page.malformed.length === 0;
  }
  for (const item of listed.values()) countListed(policy, ledger, item, nowMs);
  return { listed: new Set([...listed.values()].map(({ user_order_id: id }) => id)), isWhole };
}

/** Counts an order as the list shows it. */
export function countListed(policy: Partial<Policy>, ledger: Ledger, item: OrderListItem, nowMs: number): void {
  const type = item.order_type;
  if (!isOrderType(type) || !isJudged(type)) return;
  // Two orders of one id both count.
  const orderId = ledger.open[item.user_order_id] ? item.order_uuid : item.user_order_id;
  const counted = { ...shownAs(policy, type, item), orderId };
  const isPaid = counted.spends.some(([key]) => key === item.currency_to);
  const isLost = !counted.spends.some(([key]) => key.startsWith('# ')) || isMasked(item);
  if (policy.payeeKey && isPaid && isLost)
    Object.assign(ledger, { payeesLostUntilMs: nowMs, payoutsLostUntilMs: nowMs });
  reserveOrder(ledger, orderId, counted.spends, Math.min(latestMs(item.created_at), nowMs));
  if (isFinal(item.status)) settle(ledger, counted);
}

/** Returns the latest time that a date may mean: the service's clock may be 12 h behind UTC. */
const latestMs = (date: string): number =>
  (dateTimeMs(date) ?? Number.POSITIVE_INFINITY) + ZONE_SLACK_MS - AHEAD_OF_UTC_MS;

/** Run whose order no list may show. `isUnclear`: only the run itself knows whether it was sent. */
interface Unlisted extends OurRun {
  isUnclear?: boolean;
}

/** Returns open orders that may have been sent: the list may not show them yet. */
async function openRuns(client: Client, account: string): Promise<Unlisted[]> {
  const nowMs = Date.now();
  const runs = ourRuns(client, account, { fromMs: 0, toMs: nowMs + DAY_MS, endedSinceMs: nowMs });
  const open: Unlisted[] = [];
  const described = mapInOrder(runs, AT_ONCE, async (run) => {
    if (run.received || run.standing?.kind !== 'open') return;
    const sent = sentBy(await client.workflow.getHandle(run.workflowId).describe());
    if (sent !== 'no') open.push({ ...run, isUnclear: sent === 'unclear' });
  });
  for await (const _ of described);
  return open;
}

/** Returns whether an open run is past its create. Without its answer, it may be. */
async function mayHaveSent(client: Client, { account, orderId }: OurRun): Promise<boolean> {
  const { phase } = await new OrderHandle(client, account, orderId).state().catch(() => ({ phase: undefined }));
  return phase !== 'creating';
}

/** Returns orders that ended since a time and are not listed. The sums ask later how they ended. */
async function endedRuns(client: Client, account: string, endedSinceMs: number, listed: ReadonlySet<string>) {
  const nowMs = Date.now();
  const newest = new Map<string, OurRun>();
  for await (const run of ourRuns(client, account, { fromMs: nowMs - COUNTED_MS, toMs: nowMs, endedSinceMs })) {
    const { startedAtMs = 0 } = newest.get(run.orderId) ?? {};
    if (!run.received && !listed.has(run.orderId) && run.startedAtMs >= startedAtMs) newest.set(run.orderId, run);
  }
  return [...newest.values()].filter(({ standing, noOrder }) => standing?.kind !== 'open' && !noOrder);
}

/** Attention codes of orders not sent, or proven absent. */
const NOT_SENT = ['policy', 'over-cap', 'held', 'short-of-funds'];
/** State of an activity that no worker has, and events of a run whose first attempt has ended. */
const [SCHEDULED, ATTEMPTED] = [1, 8];

/** Returns whether an open run may have sent its order, by its description. */
export function sentBy({
  raw,
  historyLength,
  typedSearchAttributes: attributes,
}: Pick<WorkflowExecutionDescription, 'raw' | 'historyLength' | 'typedSearchAttributes'>): 'no' | 'maybe' | 'unclear' {
  const status = attributes.get(searchAttribute.orderStatus);
  if (status === 'parked')
    return NOT_SENT.includes(attributes.get(searchAttribute.attentionReason) ?? '') ? 'no' : 'maybe';
  const pending = (name: string) => raw.pendingActivities?.find(({ activityType }) => activityType?.name === name);
  const create = pending('createOrder');
  if (status === 'uncertain' || pending('pollOrder') || (create && create.state !== SCHEDULED)) return 'maybe';
  return create || pending('awaitResume') || historyLength < ATTEMPTED ? 'no' : 'unclear';
}
