import { activityInfo } from '@temporalio/activity';
import { sameAmount } from '../../contract/money.js';
import { extendedOrderId, followUpOrderIds, isFormOfId, orderWorkflowId } from '../../contract/names.js';
import type {
  CreateVerdict,
  OutcomeAnswer,
  OutcomeReading,
  ReadOutcomeInput,
} from '../../contract/order/activities.js';
import { FINAL_AMOUNTS } from '../../contract/order/after-end.js';
import { type Basis, basisDifferences, basisOf } from '../../contract/order/basis.js';
import { isReceivedType } from '../../contract/order/types.js';
import { dateTimeMs, serviceTime, ZONE_SLACK_MS } from '../../contract/reconcile/input.js';
import type { Order, OrderListItem } from '../../contract/service-objects.js';
import type { PaymentService } from '../../payment-service/client.js';
import { allPages } from '../../payment-service/paging.js';
import { DEFAULT_PAGE_SIZE, MAX_ORDERS_PER_PAGE, type OrderListQuery } from '../../payment-service/queries.js';
import type { CallOptions } from '../../payment-service/transport.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';
import { noReading, retryOrTell } from '../failures.js';
import { ordersOfForms, ordersOfIds } from '../orders-of-ids.js';
import { tooSoonAfterRestore } from '../protections.js';
import { notSentBecause } from './create-attempt.js';
import { ordersOfOtherRuns } from './other-runs.js';
import { elsewhereOf, isOtherEndpoint } from './sent-to.js';

/** Fields that a compensation calculates with. */
const FIGURES = [
  ...FINAL_AMOUNTS,
  'exchange_rate_initial',
  'exchange_rate_actual',
  'strict_withdrawal_amount',
  'currency_from_precision',
  'currency_to_precision',
  'balance_changes',
] as const satisfies (keyof OrderListItem)[];

/** Reads a final order by the status and by the list, which alone shows balance changes. */
export function readOutcomeActivity(deps: ActivityDeps) {
  return async function readOutcome(input: ReadOutcomeInput): Promise<OutcomeAnswer> {
    const account = accountOf(deps, input.account);
    try {
      if (isOtherEndpoint(account, input.sentTo)) return { elsewhere: true };
      const read = () => shownOutcome(account.service, input);
      const { followUps } = input;
      const isTooSoon = followUps && (await tooSoonAfterRestore(deps, account, 'withdraw'));
      const first = await read();
      if (first.reading?.unreadFollowUps && activityInfo().attempt < UNREAD_FROM_ATTEMPT) throw unreadItem();
      // Earlier attempts may have failed for another reason: a person sees what was read twice in a
      // row.
      const { reading, said } = first.reading?.unreadFollowUps ? await read() : first;
      const runId = activityInfo().workflowExecution?.runId;
      if (reading) {
        const named = await namedAfterEnd(account, followUps?.ended ?? [], reading);
        const disagreements = [...reading.disagreements, ...named];
        return { ...reading, disagreements, runId, ...(isTooSoon && { isTooSoon: true }) };
      }
      if (elsewhereOf(account, input.sentTo)) return { elsewhere: true };
      throw notShown(said);
    } catch (error) {
      throw retryOrTell(error, account);
    }
  };
}

/** Returns orders that callbacks named for follow-ups after their end, and that are not shown. */
async function namedAfterEnd(
  { name }: Account,
  ended: readonly string[],
  { followUpBases = [] }: OutcomeReading,
): Promise<string[]> {
  const unseen = ended.filter((id) => followUpBases.every(({ user_order_id }) => user_order_id !== id));
  if (unseen.length === 0) return [];
  const named = await ordersOfOtherRuns(unseen.map((id) => orderWorkflowId(name, id)));
  const shown = followUpBases.map(({ order_uuid }) => order_uuid);
  return [...named.shown, ...named.calledBack]
    .filter((uuid) => !shown.includes(uuid))
    .map((uuid) => `a callback named order ${uuid} for ${unseen.join(' or ')}, which ended without an order`);
}

/** Attempt from which an unreadable item is reported to a person. */
const UNREAD_FROM_ATTEMPT = 4;

/**
 * Returns both views of an order, or none if the status does not show it. `said`: the answer. One
 * list shows possible follow-ups of a lost run, too, so "none" counts only beside the order itself.
 */
async function shownOutcome(
  service: PaymentService,
  { orderId, orderUuid, followUps: { of, known } = { of: '', known: [] } }: ReadOutcomeInput,
): Promise<{ reading?: OutcomeReading; said: string }> {
  const { order, said } = await service.orderStatus({ order_uuid: orderUuid });
  if (!order) return { said };
  const asked = of === '' ? [] : followUpOrderIds(of).filter((id) => !known.includes(id));
  const isOurs = isOurId(orderId, of || extendedOrderId(orderId));
  const { items, malformed } = await listOfIds(service, [isOurs ? orderId : '', of, ...asked]);
  const item = isOurs ? itemOf(items, order) : await readListItem(service, order, orderId);
  if (!item) throw notListed();
  const lost = asked.flatMap((id) => items.find(({ user_order_id }) => user_order_id === id) ?? []);
  const twins = items.filter((other) => other.order_uuid !== orderUuid && !lost.includes(other));
  const reading = {
    order,
    changes: item.balance_changes,
    disagreements: [
      ...disagreementsOf(order, item),
      ...twins.map((twin) => `the service shows another order ${shownAs(twin)}, which may have paid, too`),
    ],
    ...(lost.length > 0 && {
      followUpBases: lost.map((of) => basisOf({ order: of, changes: of.balance_changes })),
    }),
    ...(malformed.length > 0 && { unreadFollowUps: true as const }),
  };
  return { reading, said };
}

/** Returns false for a receipt's id, which the service makes, and for one that a person adopted. */
const isOurId = (orderId: string, of: string): boolean => orderId !== '' && isFormOfId(extendedOrderId(orderId), of);

async function listOfIds(service: PaymentService, ids: readonly string[], options?: CallOptions) {
  const named = ids.filter((id) => id !== '');
  // Without ids, the list would show all orders.
  return named.length === 0 ? { items: [], malformed: [] } : ordersOfForms(named, service.orders(options));
}

const shownAs = ({ user_order_id: id, order_uuid: uuid }: Order): string => `${id} (${uuid})`;

const notListed = () => noReading('the order list does not show the order');

const itemOf = (items: readonly OrderListItem[], { order_uuid: uuid }: Order): OrderListItem | undefined =>
  items.find(({ order_uuid }) => order_uuid === uuid);

const unreadItem = () => noReading('the order list shows an item beside the order that cannot be read');

const notShown = (said: string) => noReading(`the status operation does not show the order (${said})`);

function disagreementsOf(order: Order, item: Order): string[] {
  const amounts = FINAL_AMOUNTS.filter((field) => !sameAmount(order[field], item[field]));
  const fields = order.status === item.status ? amounts : ['status', ...amounts];
  const unreadable = new Set([...(order.unreadable ?? []), ...(item.unreadable ?? [])]);
  return [
    ...fields.map((field) => `status operation and order list differ in ${field}`),
    ...FIGURES.filter((field) => unreadable.has(field)).map((field) => `the service shows no readable ${field}`),
  ];
}

/** Reads an order under an id that is not ours. A receipt without one is searched by its time. */
async function readListItem(
  service: PaymentService,
  order: Order,
  orderId: string,
  options?: CallOptions,
): Promise<OrderListItem | undefined> {
  const list = service.orders(options);
  const pages = orderId === '' ? allPages(sameTime(order), list) : ordersOfIds([orderId], list, DEFAULT_PAGE_SIZE);
  for await (const { items } of pages) {
    const item = itemOf(items, order);
    if (item) return item;
  }
  return undefined;
}

function sameTime({ order_type: type, created_at: createdAt }: Order): OrderListQuery {
  const createdAtMs = dateTimeMs(createdAt);
  const ofType = { limit: MAX_ORDERS_PER_PAGE, ...(isReceivedType(type) && { order_type: type }) };
  if (createdAtMs === undefined) return ofType;
  return {
    ...ofType,
    date_from: serviceTime(createdAtMs - ZONE_SLACK_MS),
    date_to: serviceTime(createdAtMs + ZONE_SLACK_MS),
  };
}

/** Time limit of the readings within a create attempt, which also needs rates and the probe. */
const READ_WITHIN_MS = 15_000;

/**
 * Reads the order and follow-ups again that a follow-up depends on. Returns why it may not be sent;
 * undefined if it may.
 */
export async function staleBasis(
  { service }: Account,
  basis: readonly Basis[],
  orderId: string,
): Promise<CreateVerdict | undefined> {
  // The follow-up already exists, so nothing is sent.
  if (basis.some(({ user_order_id }) => user_order_id === orderId)) {
    return { kind: 'stale', reason: `${orderId} was at the service before this was made: it is taken up, never sent` };
  }
  const options = { signal: AbortSignal.timeout(READ_WITHIN_MS) };
  const of = extendedOrderId(orderId);
  const isOurs = ({ user_order_id: id }: Basis) => isOurId(id, of);
  const followed = basis.filter(isOurs).map(({ user_order_id }) => user_order_id);
  // Its own id is probed for.
  const ids = [...followed, of, ...followUpOrderIds(of)].filter((id) => id !== orderId);
  try {
    // The list takes several requests, so each status is read after it.
    const { items, malformed } = await listOfIds(service, ids, options);
    if (malformed.length > 0) throw unreadItem();
    const unknown = items.filter((item) => !basis.some(({ order_uuid }) => order_uuid === item.order_uuid));
    if (unknown.length > 0) {
      const reason = `${unknown.map(shownAs).join(', ')} exists, which is not known to what this was made for`;
      return { kind: 'stale', reason };
    }
    for (const was of basis) {
      const { order, said } = await service.orderStatus({ order_uuid: was.order_uuid }, options);
      if (!order) throw notShown(said);
      const read = () => readListItem(service, order, was.user_order_id, options);
      const item = isOurs(was) ? itemOf(items, order) : await read();
      if (!item) throw notListed();
      const reading = { order, changes: item.balance_changes, disagreements: disagreementsOf(order, item) };
      const differences = basisDifferences(was, reading).join(', ');
      const name = was.user_order_id || was.order_uuid;
      if (differences)
        return { kind: 'stale', reason: `order ${name} has changed since this was made for it (${differences})` };
    }
  } catch (error) {
    return notSentBecause('what this follows up could not be read', error);
  }
  return undefined;
}
