import { orderWorkflowId, receivedWorkflowId } from '../../contract/names.js';
import { isReceivedType } from '../../contract/order/types.js';
import { dateTimeMs, ZONE_SLACK_MS } from '../../contract/reconcile/input.js';
import type { OrderListItem } from '../../contract/service-objects.js';
import type { Comparison, OurWord } from './compare.js';
import { findOurRun, type OurRun } from './our-runs.js';
import { type Comparing, isOwnId, type ServiceView } from './scan.js';

/** Returns true where the service shows several orders under an id that may be one of ours. */
export const hasDuplicates = (view: ServiceView, { user_order_id: id }: OrderListItem): boolean =>
  isOwnId(id) && (view.uuidsById.get(id)?.size ?? 0) > 1;

/** The order_uuid that one of our workflows follows, or followed to its end; undefined where it tells none. */
export const uuidOf = (word: OurWord): string | undefined => {
  if (word.kind === 'ended') return word.end.orderUuid;
  return word.kind === 'running' ? (word.known?.orderUuid ?? word.orderUuid) : undefined;
};

/** The run that follows an order, or did. What Temporal's list does not show may only be very new. */
export async function runOf(work: Comparing, order: OrderListItem): Promise<OurRun | undefined> {
  const { client, input, receiptOf, view, runs } = work;
  // A receipt may share its id with an order of ours, whose run knows nothing of it.
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

/** The ids of the workflows that may follow an order. */
export const workflowIdsOf = (
  account: string,
  { order_uuid: uuid, user_order_id: id, order_type: type }: OrderListItem,
): string[] => [
  ...(isReceivedType(type) ? [receivedWorkflowId(account, uuid)] : []),
  ...(isOwnId(id) ? [orderWorkflowId(account, id)] : []),
];

/** Returns true where none of these runs names this very order: then only a look-up by its id shows what else is under that. */
export const isUnnamed = (account: string, runs: Comparing['runs'], order: OrderListItem): boolean =>
  isOwnId(order.user_order_id) &&
  !workflowIdsOf(account, order).some((id) => runs.get(id)?.orderUuid === order.order_uuid);

/** Temporal's list may be two hours behind. */
const LIST_LAG_MS = 2 * 3_600_000;

function isNew({ created_at: at }: OrderListItem, nowMs: number): boolean {
  const createdMs = dateTimeMs(at ?? '');
  return createdMs === undefined || createdMs >= nowMs - ZONE_SLACK_MS - LIST_LAG_MS;
}

/** False for a run that found no receipt: a forged callback may have claimed that an order of ours is one. */
const isOfOrder = ({ received, noOrder }: OurRun): boolean => !(received && noOrder);

/** Returns `duplicate` for an order under our id that our run does not follow. */
export async function compareDuplicates(
  work: Comparing,
  order: OrderListItem,
  ours?: { run: OurRun; word: OurWord },
): Promise<Comparison | undefined> {
  if (ours?.run.received && isOfOrder(ours.run)) return undefined;
  // A workflow that was stopped tells nothing any more, but may have left the order among its search attributes.
  const followed = ours?.word.kind === 'unresolved' ? ours.run.orderUuid : ours && uuidOf(ours.word);
  const first = followed ?? (await firstUnderId(work, order));
  if (first === order.order_uuid) return undefined;
  return { class: 'duplicate', detail: `another order under the id of ${first}` };
}

/** The order that was created first, so that every reconciliation names the same one. */
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

/** Receipts were never asked for, so that the service may give several of them one id. */
async function isReceipt({ client, input, receiptOf, runs }: Comparing, order: OrderListItem): Promise<boolean> {
  if (!isReceivedType(order.order_type)) return false;
  if ((await receiptOf(order)) !== undefined) return true;
  const workflowId = receivedWorkflowId(input.account, order.order_uuid);
  const run = runs.get(workflowId) ?? (await findOurRun(client, workflowId));
  return run !== undefined && isOfOrder(run);
}
