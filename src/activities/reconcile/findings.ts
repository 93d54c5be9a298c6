import { lookUpAfterEnd } from '../../client/start-options.js';
import { callTemporal } from '../../client/temporal-calls.js';
import { orderWorkflowId, receivedWorkflowId } from '../../contract/names.js';
import { isReceivedType } from '../../contract/order/types.js';
import { dateTimeMs, ZONE_SLACK_MS } from '../../contract/reconcile/input.js';
import type { Finding, ReconcileClass } from '../../contract/reconcile/reconcile.js';
import { isFinal, type OrderListItem } from '../../contract/service-objects.js';
import { mapInOrder } from '../paced-reads.js';
import { type Comparison, compare, compareAge, type OurWord, STUCK } from './compare.js';
import { followReceipt, recover } from './followers.js';
import { findOurRun, type OurRun, wake, wordOf } from './our-runs.js';
import { type Comparing, isOwnId, readIds, ServiceView, shownId, statusOf } from './scan.js';

/** Orders compared at the same time. Each reads its workflow's end from Temporal. */
const CONCURRENCY = 10;

interface BothSides {
  order: OrderListItem;
  run: OurRun;
  word: OurWord;
}

type Ours = Omit<BothSides, 'order'>;

/** Compares both sides, starts followers, wakes runs. `unseen`: runs without a shown order. */
export async function* findings(
  work: Comparing,
  orders: readonly OrderListItem[],
  unseen: readonly OurRun[] = [],
): AsyncGenerator<Finding> {
  const doubts: BothSides[] = [];
  for await (const one of mapInOrder(orders, CONCURRENCY, (order) => findingOrDoubt(work, order))) {
    if ('word' in one) doubts.push(one);
    else yield one;
  }
  yield* mapInOrder(readAgain(work, doubts), CONCURRENCY, (doubt) => findingOf(work, doubt));
  yield* mapInOrder(unseen, CONCURRENCY, (run) => findingOfUnseen(work, run));
}

/**
 * Classes that count only by what is read after our workflow's answer: the order may have changed
 * between.
 */
const DOUBTFUL: readonly ReconcileClass[] = ['verdictDiffers', 'amountDiffers', 'openTooLong'];

async function findingOrDoubt(work: Comparing, order: OrderListItem): Promise<Finding | BothSides> {
  const ours = await wordAbout(work, order);
  const duplicate = await compareDuplicates(work, order, ours);
  if (duplicate) {
    await lookUpIfEnded(work, duplicate, ours);
    return rowOf(order, duplicate, ours);
  }
  if (!ours) return rowOf(order, await follow(work, order));
  const { run, word } = ours;
  const found = compare(order, word, work.input);
  if (isUnfollowed(run, word)) return rowOf(order, await follow(work, order, { found, run }), ours);
  return DOUBTFUL.includes(found.class) ? { order, run, word } : findingOf(work, { order, run, word });
}

async function findingOf(work: Comparing, { order, run, word }: BothSides): Promise<Finding> {
  const found = compare(order, word, work.input);
  if (found.wake) await wake(work.client, run);
  await lookUpIfEnded(work, found, { run, word });
  return rowOf(order, found, { run, word });
}

/** Classes that the order itself reports to an operator. */
const CHANGED: readonly ReconcileClass[] = ['duplicate', 'verdictDiffers', 'amountDiffers'];

/** Starts a look-up of an order whose run ended differently. Sends nothing. */
async function lookUpIfEnded({ client }: Comparing, { class: name }: Comparison, ours?: Ours): Promise<void> {
  if (!ours || !CHANGED.includes(name) || !(ours.word.kind === 'ended' || ours.word.kind === 'noOrder')) return;
  await callTemporal(client, () => lookUpAfterEnd(client, ours.run.workflowId));
}

async function wordAbout(work: Comparing, order: OrderListItem): Promise<Ours | undefined> {
  const run = await runOf(work, order);
  // If several orders fit, only the workflow knows which one it follows.
  const ask = isFinal(order.status) || hasDuplicates(work.view, order);
  return run && { run, word: await wordOf(work.client, run, { ask }) };
}

async function* readAgain(work: Comparing, doubts: readonly BothSides[]): AsyncGenerator<BothSides> {
  const view = new ServiceView();
  const ids = doubts.flatMap(({ order }) => order.user_order_id || []);
  await readIds(work, view, ids);
  for (const doubt of doubts) {
    const { order_uuid: uuid, balance_changes } = doubt.order;
    // Uses the status operation: receipts may have no id for the list.
    const order = view.orders.get(uuid) ?? (await statusOf(work, uuid)) ?? doubt.order;
    yield { ...doubt, order: { balance_changes, ...order } };
  }
}

/**
 * Returns true for a run that no longer follows its order: terminated, closed in doubt or conflict,
 * or a receipt's without an order.
 */
const isUnfollowed = (run: OurRun, word: OurWord): boolean =>
  word.kind === 'unresolved' || (word.kind === 'noOrder' && (run.received || word.failure === 'OrderConflict'));

/** Starts a follower if allowed. `ended`: a run that no longer follows the order. */
async function follow(
  work: Comparing,
  order: OrderListItem,
  ended?: { found: Comparison; run: OurRun },
): Promise<Comparison> {
  const { client, input } = work;
  const receipt = await work.receiptOf(order);
  if (receipt) return followReceipt(client, { account: input.account, ref: receipt, order_uuid: order.order_uuid });
  if (receipt === null && ended?.found.class !== 'unresolved') return FOREIGN_RECEIPT;
  // After a conflict, only for this very order.
  const isConflict = ended?.found.class === 'foreign' && !ended.run.received;
  const mayRunAgain = !ended || ended.found.class === 'unresolved' || isConflict;
  if (input.recover && !isFinal(order.status) && mayRunAgain) {
    return recover(work, order, { again: ended !== undefined });
  }
  return ended?.found ?? { class: 'foreign', detail: 'nobody here follows it' };
}

const FOREIGN_RECEIPT: Comparison = {
  class: 'foreign',
  detail:
    'a receipt on an address that no run here created, and whose callback URL no key of CALLBACK_TOKEN_KEY made; ' +
    'if it is ours, put the key back that made it',
};

async function findingOfUnseen(work: Comparing, run: OurRun): Promise<Finding> {
  const word = await wordOf(work.client, run, { ask: true });
  const orderUuid = uuidOf(word);
  const id = run.received ? '' : run.orderId;
  const row = { order_id: id, ...(orderUuid && { order_uuid: orderUuid }), ...referenceOf(run) };
  if (word.kind === 'noOrder') return { ...row, class: 'noOrder' };
  if (word.kind === 'running' && word.stuck) return { ...row, ...STUCK };
  if (word.kind === 'unresolved') {
    const next = 'if it is still wanted, start it again under this id, with again and sentUntil (docs/repairing.md)';
    const detail = `our workflow was ${word.how}; the service lists no such order: ${next}`;
    return { ...row, class: 'unresolved', detail };
  }
  // A callback claimed this receipt, which proves nothing. Its follower ends by itself.
  if (orderUuid === undefined || (word.kind === 'running' && word.unfound)) {
    return { ...row, ...compareAge(work.input.atMs - run.startedAtMs, work.input.openTooLongMs) };
  }
  const shown = await statusOf(work, orderUuid);
  if (!shown) return { ...row, ...endIn(word), class: 'missingAtService', detail: 'neither list nor status show it' };
  return findingOf(work, { order: { balance_changes: [], ...shown }, run, word });
}

const endIn = (word?: OurWord) => (word?.kind === 'ended' ? { verdict: word.end.outcome } : {});

const referenceOf = (run?: OurRun) => (run?.reference === undefined ? {} : { reference: run.reference });

/** Maximum length of a quoted type or status. Documented ones are shorter. */
const MAX_WORD = 40;

const rowOf = (order: OrderListItem, { class: name, detail }: Comparison, ours?: Ours): Finding => ({
  class: name,
  order_id: shownId(order.user_order_id),
  order_uuid: order.order_uuid,
  ...referenceOf(ours?.run),
  order_type: order.order_type.slice(0, MAX_WORD),
  status: order.status.slice(0, MAX_WORD),
  ...endIn(ours?.word),
  ...(detail && { detail }),
});

/** Returns true if the service shows several orders under an id that may be ours. */
const hasDuplicates = (view: ServiceView, { user_order_id: id }: OrderListItem): boolean =>
  isOwnId(id) && (view.uuidsById.get(id)?.size ?? 0) > 1;

/** Returns the order_uuid that a workflow of ours follows or followed; undefined without one. */
const uuidOf = (word: OurWord): string | undefined => {
  if (word.kind === 'ended') return word.end.orderUuid;
  return word.kind === 'running' ? (word.known?.orderUuid ?? word.orderUuid) : undefined;
};

/** Returns the run that follows or followed an order. Temporal's list may lack new runs. */
async function runOf(work: Comparing, order: OrderListItem): Promise<OurRun | undefined> {
  const { client, input, receiptOf, view, runs } = work;
  // A receipt may share the id of our order, whose run does not know it.
  const receipt = hasDuplicates(view, order) && (await receiptOf(order)) !== undefined;
  const ids = workflowIdsOf(input.account, receipt ? { ...order, user_order_id: '' } : order);
  const known = ids.flatMap((workflowId) => runs.get(workflowId) ?? []);
  if (!known.some(isOfOrder) && isNew(order, input.atMs)) {
    for (const workflowId of ids) {
      const run = await findOurRun(client, workflowId);
      if (run) known.push(run);
    }
  }
  return known.find(isOfOrder) ?? known[0];
}

/** Returns the workflow ids that may follow an order. */
export const workflowIdsOf = (
  account: string,
  { order_uuid: uuid, user_order_id: id, order_type: type }: OrderListItem,
): string[] => [
  ...(isReceivedType(type) ? [receivedWorkflowId(account, uuid)] : []),
  ...(isOwnId(id) ? [orderWorkflowId(account, id)] : []),
];

/** Returns true if no run names this order, so that only a look-up by id shows more. */
export const isUnnamed = (account: string, runs: Comparing['runs'], order: OrderListItem): boolean =>
  isOwnId(order.user_order_id) &&
  !workflowIdsOf(account, order).some((id) => runs.get(id)?.orderUuid === order.order_uuid);

/** Maximum delay of Temporal's list. */
const LIST_LAG_MS = 2 * 3_600_000;

function isNew({ created_at: at }: OrderListItem, nowMs: number): boolean {
  const createdMs = dateTimeMs(at ?? '');
  return createdMs === undefined || createdMs >= nowMs - ZONE_SLACK_MS - LIST_LAG_MS;
}

/** Returns false for a run without a receipt: a forged callback may have claimed our order. */
const isOfOrder = ({ received, noOrder }: OurRun): boolean => !(received && noOrder);

/** Returns `duplicate` for an order under our id that our run does not follow. */
async function compareDuplicates(
  work: Comparing,
  order: OrderListItem,
  ours?: { run: OurRun; word: OurWord },
): Promise<Comparison | undefined> {
  if (ours?.run.received && isOfOrder(ours.run)) return undefined;
  // A terminated workflow has no answer, but its search attributes may name the order.
  const followed = ours?.word.kind === 'unresolved' ? ours.run.orderUuid : ours && uuidOf(ours.word);
  const first = followed ?? (await firstUnderId(work, order));
  if (first === order.order_uuid) return undefined;
  return { class: 'duplicate', detail: `another order under the id of ${first}` };
}

/** Returns the order that was created first, so that every reconciliation names the same one. */
async function firstUnderId(work: Comparing, order: OrderListItem): Promise<string> {
  const { view } = work;
  if (!hasDuplicates(view, order) || (await isReceipt(work, order))) return order.order_uuid;
  const uuids = [...(view.uuidsById.get(order.user_order_id) ?? [])];
  const duplicates = uuids.flatMap((uuid) => view.orders.get(uuid) ?? []);
  const keyOf = ({ created_at, order_uuid }: OrderListItem): string => `${created_at}\0${order_uuid}`;
  for (const duplicate of duplicates.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))) {
    if (!(await isReceipt(work, duplicate))) return duplicate.order_uuid;
  }
  return order.order_uuid;
}

/** Returns true for a receipt. The service may give several receipts one id. */
async function isReceipt({ client, input, receiptOf, runs }: Comparing, order: OrderListItem): Promise<boolean> {
  if (!isReceivedType(order.order_type)) return false;
  if ((await receiptOf(order)) !== undefined) return true;
  const workflowId = receivedWorkflowId(input.account, order.order_uuid);
  const run = runs.get(workflowId) ?? (await findOurRun(client, workflowId));
  return run !== undefined && isOfOrder(run);
}
