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
import { isFinal, type OrderListItem, type Rates } from '../../contract/service-objects.js';
import { orderWindows } from '../../payment-service/paging.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';
import { retryLater } from '../failures.js';
import { lastHeartbeat } from '../only-attempt.js';
import { mapInOrder, PacedReads } from '../paced-reads.js';
import { isOtherPolicy, protectionsIn } from '../protections.js';
import { type OurRun, ourRuns } from '../reconcile/our-runs.js';
import { askedAmounts, isJudged, payoutOf, sumsId } from './payout.js';
import { isMasked, shownAs } from './settle.js';

const COUNTED_MS = 31 * DAY_MS;
/** Time in which Temporal's list and the service's list show what is new. */
const LISTED_AFTER_MS = 3_000;
const BEAT_EVERY_MS = 2_000;
/** Descriptions of runs at once. */
const AT_ONCE = 20;
/** Age from which orders are kept for the next attempt. Newer ones may still change. */
const KEPT_FROM_MS = 2 * DAY_MS;
/** Time in which a reading may be continued. Temporal keeps the runs that ended since. */
const CONTINUED_WITHIN_MS = DAY_MS / 2;
/** Most bytes of a heartbeat. Temporal fails an activity whose heartbeat exceeds 2 MiB. */
const MOST_BYTES = 1_900_000;

/** Finished part of a reading. The heartbeat keeps it for the next attempt. */
interface Progress {
  /** See `sumsId`: another one reads from the beginning. */
  of: string;
  /** Time before the first attempt asked for open runs. */
  begunAtMs: number;
  /** Sums of the orders that the list showed up to a time. */
  ledger: Ledger;
  upToMs: number;
  /** Uuids in the last window, which shares a second with the next one. */
  last: readonly string[];
  /** Ids of counted orders whose runs were open or had just ended. */
  counted: readonly string[];
}

/**
 * Reads what an account sent within the longest period: from the service's order list, and from our
 * orders that it may not show yet. Counts an order in doubt in full.
 */
export function rebuildPolicyActivity(deps: ActivityDeps) {
  return async function rebuildPolicy({ account: name }: { account: string }): Promise<Ledger> {
    const account = accountOf(deps, name);
    const policy: Partial<Policy> = deps.policies?.get(name) ?? {};
    if (isOtherPolicy(deps, name)) throw new Error('another worker of the account has other rules: it reads the sums');
    const of = sumsId(account.id, policy);
    const before = lastHeartbeat<Progress>();
    const isCurrent = before?.of === of && Date.now() - before.begunAtMs < CONTINUED_WITHIN_MS;
    const begunAtMs = isCurrent ? before.begunAtMs : Date.now();
    const reading: Reading = { account, policy, of, begunAtMs, kept: isCurrent ? before : undefined };
    const beat = setInterval(() => heartbeat(reading.kept), BEAT_EVERY_MS);
    try {
      await sleep(LISTED_AFTER_MS);
      const client = getClient();
      const sinceMs = begunAtMs - windowOf(protectionsIn(deps, account).pace, 'withdraw');
      // First, so that the list shows what is created meanwhile.
      const open = await openRuns(client, name);
      const runs = [...open, ...(await endedRuns(client, name, sinceMs, new Set()))];
      const { ledger, listed, isWhole } = await takeListed(reading, runs);
      const rates = await account.rates.current();
      // An entry that cannot be read may be of any order.
      const ended = await endedRuns(client, name, isWhole ? sinceMs : Date.now() - COUNTED_MS, listed);
      const unlisted = [...open, ...ended].filter(({ orderId, sent }) => !listed.has(orderId) && sent !== 'no');
      await countUnlisted(client, { policy, ledger, rates }, unlisted);
      return prune(ledger, Date.now());
    } catch (error) {
      throw retryLater(error);
    } finally {
      clearInterval(beat);
    }
  };
}

/** Reading of an attempt. The heartbeat sends `kept`. */
interface Reading extends Pick<Progress, 'of' | 'begunAtMs'> {
  account: Account;
  policy: Partial<Policy>;
  kept: Progress | undefined;
}

/** Sums of the listed orders, and their ids. `isWhole`: all entries were readable. */
interface Listed {
  ledger: Ledger;
  listed: Set<string>;
  isWhole: boolean;
}

/**
 * Counts the listed orders, from where the last attempt ended. `runs`: our orders that a later
 * attempt may read again.
 */
async function takeListed(reading: Reading, runs: readonly OurRun[]): Promise<Listed> {
  const { account, policy, of, kept } = reading;
  const nowMs = Date.now();
  // A copy, because what is kept must not change.
  const ledger = kept ? prune(kept.ledger, nowMs) : { ...openLedger(), of };
  const [seen, listed] = [new Set(kept?.last), new Set(kept?.counted)];
  const open = new Set(runs.flatMap(({ orderId, standing }) => (standing?.kind === 'open' ? orderId : [])));
  const repeated = [...new Set([...listed, ...runs.map(({ orderId }) => orderId)])];
  let isWhole = true;
  // A day more on both ends: the service's time zone is unknown.
  let upToMs = kept?.upToMs ?? nowMs - COUNTED_MS - DAY_MS;
  let last: string[] = [];
  const span = { fromMs: upToMs, toMs: nowMs + DAY_MS };
  for await (const { window, page } of orderWindows(new PacedReads(account, undefined, 'read').orders(), span)) {
    const toMs = dateTimeMs(window.to) ?? upToMs;
    if (toMs > upToMs) {
      // The window before was read to its end.
      const counted = repeated.filter((orderId) => listed.has(orderId));
      if (isWhole) keep(reading, { ledger, upToMs, last, counted }, nowMs);
      [upToMs, last] = [toMs, []];
    }
    for (const item of page.items) {
      if (!seen.has(item.order_uuid)) countListed(policy, ledger, item, nowMs, open);
      seen.add(item.order_uuid);
      listed.add(item.user_order_id);
      last.push(item.order_uuid);
    }
    if (page.malformed.length === 0) continue;
    // An entry that cannot be read may be of any run, so the ids of all orders are needed.
    reading.kept = undefined;
    if (kept) return takeListed(reading, runs);
    isWhole = false;
  }
  return { ledger, listed, isWhole };
}

/** Keeps what is read, once for each day of the list, unless it is too large for a heartbeat. */
function keep(reading: Reading, part: Omit<Progress, 'of' | 'begunAtMs'>, nowMs: number): void {
  const { of, begunAtMs, kept } = reading;
  if (part.upToMs > nowMs - KEPT_FROM_MS || part.upToMs < (kept?.upToMs ?? 0) + DAY_MS) return;
  const progress = { of, begunAtMs, ...part, ledger: prune(part.ledger, nowMs) };
  if (Buffer.byteLength(JSON.stringify(progress)) <= MOST_BYTES) reading.kept = progress;
}

/** Counts our orders that the list does not show. */
async function countUnlisted(
  client: Client,
  { policy, ledger, rates }: { policy: Partial<Policy>; ledger: Ledger; rates: Rates | undefined },
  runs: readonly Unlisted[],
): Promise<void> {
  const payouts = mapInOrder(runs, AT_ONCE, async (run) => {
    if (run.sent === 'unclear' && !(await mayHaveSent(client, run))) return undefined;
    const { workflowType, input } = await readFirstInput(client, run.workflowId, run.runId);
    const type = orderTypeOf(workflowType);
    if (!type || !isJudged(type) || !input.order) return undefined;
    return { run, payout: payoutOf(policy, type, input.order, askedAmounts(type, input.order, rates)) };
  });
  for await (const one of payouts) {
    const isUnseen = one?.run.standing?.kind === 'open';
    if (one) reserveOrder(ledger, one.run.orderId, spendsOf(one.payout), Date.now(), isUnseen ? { isUnseen } : {});
  }
}

/**
 * Counts an order as the list shows it. One whose run is `open` stays reserved until the run ends,
 * because the run may still ask for it to be counted.
 */
export function countListed(
  policy: Partial<Policy>,
  ledger: Ledger,
  item: OrderListItem,
  nowMs: number,
  open: ReadonlySet<string>,
): void {
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
  if (isFinal(item.status) && !open.has(orderId)) settle(ledger, counted);
}

/** Returns the latest time that a date may mean: the service's clock may be 12 h behind UTC. */
const latestMs = (date: string): number =>
  (dateTimeMs(date) ?? Number.POSITIVE_INFINITY) + ZONE_SLACK_MS - AHEAD_OF_UTC_MS;

/** Run whose order no list may show. `sent`: of an open one; only the run knows `unclear`. */
interface Unlisted extends OurRun {
  sent?: ReturnType<typeof sentBy>;
}

/** Returns open orders, with whether they may have been sent: the list may not show them yet. */
async function openRuns(client: Client, account: string): Promise<Unlisted[]> {
  const nowMs = Date.now();
  const runs = ourRuns(client, account, { fromMs: 0, toMs: nowMs + DAY_MS, endedSinceMs: nowMs });
  const open: Unlisted[] = [];
  const described = mapInOrder(runs, AT_ONCE, async (run) => {
    if (run.received || run.standing?.kind !== 'open') return;
    open.push({ ...run, sent: sentBy(await client.workflow.getHandle(run.workflowId).describe()) });
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
async function endedRuns(
  client: Client,
  account: string,
  endedSinceMs: number,
  listed: ReadonlySet<string>,
): Promise<Unlisted[]> {
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
