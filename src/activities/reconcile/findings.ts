import type { Client } from '@temporalio/client';
import { orderWorkflowId, receivedWorkflowId } from '../../contract/ids.js';
import type { BalanceChange } from '../../contract/orders.js';
import { isReceivedType } from '../../contract/received.js';
import type { ReconcileClass, ReconcileRow } from '../../contract/reconcile.js';
import { isFinal } from '../../contract/status.js';
import { mapInOrder } from '../in-order.js';
import { type Clock, compare, type Finding, type OurWord, openFinding } from './compare.js';
import { AddressBook, followReceipt, recover } from './followers.js';
import { findOurRun, type OurRun, wake, wordOf } from './our-runs.js';
import { belongs, isSeen, type Reconciliation, readIds, type Scan } from './scan.js';
import { isOwnId, type SeenOrder, ServiceView, seen, shownId } from './service-view.js';

/** Orders compared at the same time: each asks Temporal for the end of its workflow. */
const CONCURRENCY = 10;

/** Compares every order of both sides, and mends what is safe to mend: starts followers, wakes workflows that wait. */
export async function* findings(work: Reconciliation, scan: Scan): AsyncGenerator<ReconcileRow> {
  const clock = { nowMs: Date.now(), openTooLongMs: work.input.openTooLongMs };
  const book = new AddressBook(work, scan.view);
  const doubts: Doubt[] = [];
  const judged = mapInOrder(scan.view.orders.values(), CONCURRENCY, (order) => judge(work, scan, book, clock, order));
  for await (const one of judged) {
    if ('word' in one) doubts.push(one);
    else yield one;
  }
  yield* mapInOrder(readAgain(work, doubts), CONCURRENCY, (doubt) => settle(work, clock, doubt));
  const unseen = [...scan.runs.values()].filter((run) => !isSeen(scan.view, run) && belongs(run, work.input));
  yield* mapInOrder(unseen, CONCURRENCY, (run) => judgeUnseen(work, clock, run));
}

/**
 * An order on which both sides seem to differ. It was read before our workflow was asked, and may have changed in
 * between: only what is read after our word counts.
 */
interface Doubt {
  order: SeenOrder;
  run: OurRun;
  word: OurWord;
}

const DOUBTFUL: readonly ReconcileClass[] = ['verdictDiffers', 'amountDiffers', 'openTooLong'];

async function judge(
  work: Reconciliation,
  { view, runs }: Scan,
  book: AddressBook,
  clock: Clock,
  order: SeenOrder,
): Promise<ReconcileRow | Doubt> {
  const run = await runOf(work, runs, order);
  if (!run) return rowOf(order, await follow(work, book, order));
  const word = await wordOf(work.client, run, { ask: isFinal(order.status) });
  if (isTwin(view.uuidsById.get(run.orderId), run, word, order)) {
    return rowOf(order, { class: 'duplicate', detail: 'a second order under an id of ours' }, word);
  }
  const found = compare(order, word, clock);
  if (isUnfollowed(run, word)) return rowOf(order, await follow(work, book, order, found));
  if (DOUBTFUL.includes(found.class)) return { order, run, word };
  if (found.wake) await wake(work.client, run);
  return rowOf(order, found, word);
}

/** The orders in doubt as the service shows them now. */
async function* readAgain(work: Reconciliation, doubts: readonly Doubt[]): AsyncGenerator<Doubt> {
  const view = new ServiceView({ ...work.progress });
  const ids = new Set(doubts.map(({ order }) => order.user_order_id).filter((id) => id !== ''));
  await readIds(work, view, [...ids]);
  for (const doubt of doubts) {
    const { order_uuid: uuid, balance_changes } = doubt.order;
    const listed = view.orders.get(uuid);
    yield listed
      ? { ...doubt, order: listed }
      : { ...doubt, order: (await byUuid(work, uuid, balance_changes)) ?? doubt.order };
  }
}

/** An order by the status operation, which knows no balance changes: for receipts, which may have no id to list them by. */
async function byUuid(
  { reads }: Reconciliation,
  uuid: string,
  balance_changes: BalanceChange[] = [],
): Promise<SeenOrder | undefined> {
  const order = await reads.ask((service, options) => service.orderStatus({ order_uuid: uuid }, options));
  return order?.order_uuid === uuid ? seen({ ...order, balance_changes }) : undefined;
}

async function settle({ client }: Reconciliation, clock: Clock, { order, run, word }: Doubt): Promise<ReconcileRow> {
  const found = compare(order, word, clock);
  if (found.wake) await wake(client, run);
  return rowOf(order, found, word);
}

/** The run that follows an order, or did. What the list of runs does not show may only be very new or very old. */
async function runOf(
  { client, input }: Reconciliation,
  runs: ReadonlyMap<string, OurRun>,
  { order_uuid: uuid, user_order_id: id, order_type: type }: SeenOrder,
): Promise<OurRun | undefined> {
  const ids = [
    ...(isReceivedType(type) ? [receivedWorkflowId(input.account, uuid)] : []),
    ...(isOwnId(id) ? [orderWorkflowId(input.account, id)] : []),
  ];
  const known = ids.flatMap((workflowId) => runs.get(workflowId) ?? []);
  return known[0] ?? firstOf(client, ids);
}

async function firstOf(client: Client, workflowIds: readonly string[]): Promise<OurRun | undefined> {
  for (const workflowId of workflowIds) {
    const run = await findOurRun(client, workflowId);
    if (run) return run;
  }
  return undefined;
}

/** True for an order that is not the one our workflow follows, though it has its id. */
function isTwin(uuids: ReadonlySet<string> | undefined, run: OurRun, word: OurWord, order: SeenOrder): boolean {
  if (run.received || (word.kind !== 'running' && word.kind !== 'ended')) return false;
  const ours = uuidOf(word) ?? [...(uuids ?? [])][0] ?? order.order_uuid;
  return ours !== order.order_uuid;
}

const uuidOf = (word: OurWord): string | undefined => {
  if (word.kind === 'ended') return word.verdict.orderUuid;
  return word.kind === 'running' ? (word.known?.orderUuid ?? word.orderUuid) : undefined;
};

/** A stopped workflow follows nobody, nor does one of a receipt that ended because the order was not there yet. */
const isUnfollowed = (run: OurRun, word: OurWord): boolean =>
  word.kind === 'unresolved' || (run.received && word.kind === 'noOrder');

/** Starts what follows an order from here on, where that may be done; `found`: what is to be said otherwise. */
async function follow(
  { client, input }: Reconciliation,
  book: AddressBook,
  order: SeenOrder,
  found?: Finding,
): Promise<Finding> {
  const ref = await book.refOf(order);
  if (ref !== undefined) return followReceipt(client, input.account, ref, order.order_uuid);
  const stopped = found === undefined || found.class === 'unresolved';
  if (input.recover && order.item && stopped) {
    return recover(client, input.account, order.item, { again: found !== undefined });
  }
  return found ?? { class: 'foreign', detail: 'nobody here follows it' };
}

/** An order of ours that neither a window nor the look-up by ids showed. */
async function judgeUnseen(work: Reconciliation, clock: Clock, run: OurRun): Promise<ReconcileRow> {
  const word = await wordOf(work.client, run, { ask: true });
  const orderUuid = uuidOf(word);
  const row = { order_id: run.received ? '' : run.orderId, ...(orderUuid && { order_uuid: orderUuid }) };
  if (word.kind === 'noOrder') return { ...row, class: 'noOrder' };
  if (word.kind === 'unresolved') {
    return { ...row, class: 'unresolved', detail: `our workflow was ${word.how}; the service lists no such order` };
  }
  // A receipt that is looked for was claimed by a callback, which proves nothing; its follower ends by itself.
  if (orderUuid === undefined || isUnfound(word)) {
    return { ...row, ...openFinding(clock.nowMs - run.startedAtMs, clock.openTooLongMs) };
  }
  const shown = await byUuid(work, orderUuid);
  if (!shown)
    return { ...row, ...verdictIn(word), class: 'missingAtService', detail: 'neither list nor status show it' };
  const found = compare(shown, word, clock);
  if (found.wake) await wake(work.client, run);
  return rowOf(shown, found, word);
}

const isUnfound = (word: OurWord): boolean => word.kind === 'running' && word.unfound === true;

const verdictIn = (word?: OurWord) => (word?.kind === 'ended' ? { verdict: word.verdict.outcome } : {});

/** Longest type and status that is repeated; those that are documented are shorter. */
const MAX_WORD = 40;

const rowOf = (order: SeenOrder, { class: name, detail }: Finding, word?: OurWord): ReconcileRow => ({
  class: name,
  order_id: shownId(order.user_order_id),
  order_uuid: order.order_uuid,
  order_type: order.order_type.slice(0, MAX_WORD),
  status: order.status.slice(0, MAX_WORD),
  ...verdictIn(word),
  ...(detail && { detail }),
});
