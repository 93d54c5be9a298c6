import { activityInfo } from '@temporalio/activity';
import { sameAmount } from '../../contract/money.js';
import { followUpOrderIds, parseFollowUpOrderId } from '../../contract/names.js';
import type {
  CreateVerdict,
  OutcomeAnswer,
  OutcomeReading,
  ReadOutcomeInput,
} from '../../contract/order/activities.js';
import { FINAL_AMOUNTS } from '../../contract/order/after-end.js';
import { type Basis, basisDifferences, basisOf } from '../../contract/order/basis.js';
import { isReceivedType } from '../../contract/order/types.js';
import { serviceTime, ZONE_SLACK_MS } from '../../contract/reconcile/input.js';
import type { Order, OrderListItem } from '../../contract/service-objects.js';
import type { PaymentService } from '../../payment-service/client.js';
import { allPages, wholeList } from '../../payment-service/paging.js';
import { DEFAULT_PAGE_SIZE, MAX_ORDERS_PER_PAGE, type OrderListQuery } from '../../payment-service/queries.js';
import type { CallOptions } from '../../payment-service/transport.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';
import { noReading, retryOrTell } from '../failures.js';
import { ordersOfIds } from '../orders-of-ids.js';
import { notSentBecause } from './create-attempt.js';
import { patience } from './gathering.js';
import type { KnownOrder } from './grouped-look-ups.js';
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
    const { orderId, followUps } = input;
    const readItem = (order: Order) =>
      followUps
        ? readWithFollowUps(account.service, order, { orderId, ...followUps })
        : itemAmongOthers(account, order, input);
    try {
      if (isOtherEndpoint(account, input.sentTo)) return { elsewhere: true };
      const read = () => shownOutcome(account, input, readItem);
      const first = await read();
      if (first.reading?.unreadFollowUps && activityInfo().attempt < UNREAD_FROM_ATTEMPT) throw unreadItem();
      // Earlier attempts may have failed for another reason: a person sees what was read twice in a
      // row.
      const { reading, said } = first.reading?.unreadFollowUps ? await read() : first;
      if (reading) return { ...reading, runId: activityInfo().workflowExecution?.runId };
      if (elsewhereOf(account, input.sentTo)) return { elsewhere: true };
      throw notShown(said);
    } catch (error) {
      throw retryOrTell(error, account);
    }
  };
}

/** Attempt from which an unreadable item is reported to a person. */
const UNREAD_FROM_ATTEMPT = 4;

/** List part of a reading. */
type Listed = { item: OrderListItem } & Pick<OutcomeReading, 'followUpBases' | 'unreadFollowUps'>;

/**
 * Reads an order's list item and possible follow-ups of a lost run in one request, so that "none"
 * counts only if the answer shows the order itself.
 */
async function readWithFollowUps(
  service: PaymentService,
  order: Order,
  { orderId, of, known }: NonNullable<ReadOutcomeInput['followUps']> & Pick<ReadOutcomeInput, 'orderId'>,
  options?: CallOptions,
): Promise<Listed> {
  const asked = of === '' ? [] : followUpOrderIds(of).filter((id) => !known.includes(id));
  if (asked.length === 0) return { item: await readListItem(service, order, orderId, options) };
  const ids = orderId === of ? [of, ...asked] : asked;
  const { items, malformed } = await wholeList(ordersOfIds(ids, service.orders(options)));
  // A receipt has no id to filter by.
  const item = orderId === of ? itemOf(items, order) : await readListItem(service, order, orderId, options);
  if (!item) throw notListed();
  const shown = asked.flatMap((id) => items.find(({ user_order_id }) => user_order_id === id) ?? []);
  return {
    item,
    ...(shown.length > 0 && {
      followUpBases: shown.map((of) => basisOf({ order: of, changes: of.balance_changes })),
    }),
    ...(malformed.length > 0 && { unreadFollowUps: true }),
  };
}

const notListed = () => noReading('the order list does not show the order');

const itemOf = (items: readonly OrderListItem[], { order_uuid: uuid }: Order): OrderListItem | undefined =>
  items.find(({ order_uuid }) => order_uuid === uuid);

const unreadItem = () => noReading('the order list shows an item beside the order that cannot be read');

const notShown = (said: string) => noReading(`the status operation does not show the order (${said})`);

/** Returns both views of an order, or none if the status does not show it. `said`: the answer. */
async function shownOutcome(
  { service }: Account,
  { orderUuid }: Pick<ReadOutcomeInput, 'orderUuid'>,
  readItem: (order: Order) => Promise<Listed>,
  options?: CallOptions,
): Promise<{ reading?: OutcomeReading; said: string }> {
  const { order, said } = await service.orderStatus({ order_uuid: orderUuid }, options);
  if (!order) return { said };
  const { item, ...beside } = await readItem(order);
  const reading = { order, changes: item.balance_changes, disagreements: disagreementsOf(order, item), ...beside };
  return { reading, said };
}

function disagreementsOf(order: Order, item: Order): string[] {
  const amounts = FINAL_AMOUNTS.filter((field) => !sameAmount(order[field], item[field]));
  const fields = order.status === item.status ? amounts : ['status', ...amounts];
  const unreadable = new Set([...(order.unreadable ?? []), ...(item.unreadable ?? [])]);
  return [
    ...fields.map((field) => `status operation and order list differ in ${field}`),
    ...FIGURES.filter((field) => unreadable.has(field)).map((field) => `the service shows no readable ${field}`),
  ];
}

/** Reads the list part together with other orders, after the status. */
const itemAmongOthers = (account: Account, order: Order, known: KnownOrder): Promise<Listed> =>
  account.lookUps.read<Listed>(known, patience(account), {
    shown: (item) => ({ item }),
    alone: async () => ({ item: await readListItem(account.service, order, known.orderId) }),
  });

/**
 * Reads the list item with its balance changes. A receipt is searched among the orders of its time.
 */
async function readListItem(
  service: PaymentService,
  order: Order,
  orderId: string,
  options?: CallOptions,
): Promise<OrderListItem> {
  const list = service.orders(options);
  const pages = orderId === '' ? allPages(sameTime(order), list) : ordersOfIds([orderId], list, DEFAULT_PAGE_SIZE);
  for await (const { items } of pages) {
    const item = itemOf(items, order);
    if (item) return item;
  }
  throw notListed();
}

function sameTime({ order_type: type, created_at: createdAt }: Order): OrderListQuery {
  const createdAtMs = Date.parse(`${createdAt.replace(' ', 'T')}Z`);
  const ofType = { limit: MAX_ORDERS_PER_PAGE, ...(isReceivedType(type) && { order_type: type }) };
  if (Number.isNaN(createdAtMs)) return ofType;
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
  account: Account,
  basis: readonly Basis[],
  orderId: string,
): Promise<CreateVerdict | undefined> {
  // The follow-up already exists, so nothing is sent.
  if (basis.some(({ user_order_id }) => user_order_id === orderId)) {
    return { kind: 'stale', reason: `${orderId} was at the service before this was made: it is taken up, never sent` };
  }
  const options = { signal: AbortSignal.timeout(READ_WITHIN_MS) };
  const { extendsOrderId: of = '' } = parseFollowUpOrderId(orderId) ?? {};
  const known = [orderId, ...basis.map(({ user_order_id }) => user_order_id)];
  for (const [index, was] of basis.entries()) {
    const { order_uuid: orderUuid, user_order_id: id } = was;
    const name = `order ${id || orderUuid}`;
    // The first one is the order that all others follow up.
    const others = { orderId: id, of: index === 0 ? of : '', known };
    try {
      const readItem = (order: Order) => readWithFollowUps(account.service, order, others, options);
      const { reading, said } = await shownOutcome(account, { orderUuid }, readItem, options);
      if (!reading) throw notShown(said);
      if (reading.unreadFollowUps) throw unreadItem();
      const stale = whyStale(was, reading, name);
      if (stale) return { kind: 'stale', reason: stale };
    } catch (error) {
      return notSentBecause(`${name}, which this follows up, could not be read`, error);
    }
  }
  return undefined;
}

function whyStale(was: Basis, reading: OutcomeReading, name: string): string | undefined {
  const others = (reading.followUpBases ?? []).map(({ user_order_id }) => user_order_id);
  if (others.length > 0) return `${others.join(', ')} exists, which is not known to what this was made for`;
  const differences = basisDifferences(was, reading);
  return differences.length > 0
    ? `${name} has changed since this was made for it (${differences.join(', ')})`
    : undefined;
}
