import { lookUpAfterEnd } from '../../client/start-options.js';
import { callTemporal } from '../../client/temporal-calls.js';
import type { Finding, ReconcileClass } from '../../contract/reconcile/reconcile.js';
import { isFinal, type OrderListItem } from '../../contract/service-objects.js';
import { mapInOrder } from '../paced-reads.js';
import { type Comparison, compare, compareAge, type OurWord, STUCK } from './compare.js';
import { compareDuplicates, hasDuplicates, runOf, uuidOf } from './duplicates.js';
import { followReceipt, recover } from './followers.js';
import { type OurRun, wake, wordOf } from './our-runs.js';
import { type Comparing, readIds, ServiceView, shownId, statusOf } from './scan.js';

/** Orders compared at the same time: each asks Temporal for the end of its workflow. */
const CONCURRENCY = 10;

/** An order as the service shows it, and what our workflow says about it. */
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

/** The order may have changed between its reading and our word: of these only what is read after our word counts. */
const DOUBTFUL: readonly ReconcileClass[] = ['verdictDiffers', 'amountDiffers', 'openTooLong'];

async function findingOrDoubt(work: Comparing, order: OrderListItem): Promise<Finding | BothSides> {
  const ours = await wordAbout(work, order);
  const duplicate = await compareDuplicates(work, order, ours);
  if (duplicate) {
    await lookUpIfEnded(work, duplicate, ours);
    return rowOf(order, duplicate, ours?.word);
  }
  if (!ours) return rowOf(order, await follow(work, order));
  const { run, word } = ours;
  const found = compare(order, word, work.input);
  if (isUnfollowed(run, word)) return rowOf(order, await follow(work, order, { found, run }));
  return DOUBTFUL.includes(found.class) ? { order, run, word } : findingOf(work, { order, run, word });
}

async function findingOf(work: Comparing, { order, run, word }: BothSides): Promise<Finding> {
  const found = compare(order, word, work.input);
  if (found.wake) await wake(work.client, run);
  await lookUpIfEnded(work, found, { run, word });
  return rowOf(order, found, word);
}

/** Classes of which an operator is told by the order itself, not by the report alone. */
const CHANGED: readonly ReconcileClass[] = ['duplicate', 'verdictDiffers', 'amountDiffers'];

/** Starts a look-up of an order whose run ended otherwise than the service shows; sends nothing. */
async function lookUpIfEnded({ client }: Comparing, { class: name }: Comparison, ours?: Ours): Promise<void> {
  if (!ours || !CHANGED.includes(name) || !(ours.word.kind === 'ended' || ours.word.kind === 'noOrder')) return;
  await callTemporal(client, () => lookUpAfterEnd(client, ours.run.workflowId));
}

async function wordAbout(work: Comparing, order: OrderListItem): Promise<Ours | undefined> {
  const run = await runOf(work, order);
  // Which of several orders it follows only the workflow itself knows.
  const ask = isFinal(order.status) || hasDuplicates(work.view, order);
  return run && { run, word: await wordOf(work.client, run, { ask }) };
}

async function* readAgain(work: Comparing, doubts: readonly BothSides[]): AsyncGenerator<BothSides> {
  const view = new ServiceView();
  const ids = doubts.flatMap(({ order }) => order.user_order_id || []);
  await readIds(work, view, ids);
  for (const doubt of doubts) {
    const { order_uuid: uuid, balance_changes } = doubt.order;
    // By the status operation, which knows no balance changes: receipts may have no id to list them by.
    const order = view.orders.get(uuid) ?? (await statusOf(work, uuid)) ?? doubt.order;
    yield { ...doubt, order: { balance_changes, ...order } };
  }
}

/** Returns true for a run that no longer follows its order: stopped, closed in doubt or in a conflict, or a receipt's without one. */
const isUnfollowed = (run: OurRun, word: OurWord): boolean =>
  word.kind === 'unresolved' || (word.kind === 'noOrder' && (run.received || word.failure === 'OrderConflict'));

/** Starts a follower where that may be done. `ended`: a run that no longer follows the order. */
async function follow(
  work: Comparing,
  order: OrderListItem,
  ended?: { found: Comparison; run: OurRun },
): Promise<Comparison> {
  const { client, input } = work;
  const receipt = await work.receiptOf(order);
  if (receipt) return followReceipt(client, { account: input.account, ref: receipt, order_uuid: order.order_uuid });
  if (receipt === null && ended?.found.class !== 'unresolved') return FOREIGN_RECEIPT;
  // After a conflict only with this very order.
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
  const row = { order_id: run.received ? '' : run.orderId, ...(orderUuid && { order_uuid: orderUuid }) };
  if (word.kind === 'noOrder') return { ...row, class: 'noOrder' };
  if (word.kind === 'running' && word.stuck) return { ...row, ...STUCK };
  if (word.kind === 'unresolved') {
    const next = 'if it is still wanted, start it again under this id, with again and sentUntil (docs/runbook.md)';
    const detail = `our workflow was ${word.how}; the service lists no such order: ${next}`;
    return { ...row, class: 'unresolved', detail };
  }
  // A receipt that is looked for was claimed by a callback, which proves nothing; its follower ends by itself.
  if (orderUuid === undefined || (word.kind === 'running' && word.unfound)) {
    return { ...row, ...compareAge(work.input.atMs - run.startedAtMs, work.input.openTooLongMs) };
  }
  const shown = await statusOf(work, orderUuid);
  if (!shown) return { ...row, ...endIn(word), class: 'missingAtService', detail: 'neither list nor status show it' };
  return findingOf(work, { order: { balance_changes: [], ...shown }, run, word });
}

const endIn = (word?: OurWord) => (word?.kind === 'ended' ? { verdict: word.end.outcome } : {});

/** Longest type and status that is repeated; those that are documented are shorter. */
const MAX_WORD = 40;

const rowOf = (order: OrderListItem, { class: name, detail }: Comparison, word?: OurWord): Finding => ({
  class: name,
  order_id: shownId(order.user_order_id),
  order_uuid: order.order_uuid,
  order_type: order.order_type.slice(0, MAX_WORD),
  status: order.status.slice(0, MAX_WORD),
  ...endIn(word),
  ...(detail && { detail }),
});
