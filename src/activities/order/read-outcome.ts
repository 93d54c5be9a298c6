import { sameAmount } from '../../contract/money.js';
import { followUpOrderIds, parseFollowUpOrderId } from '../../contract/names.js';
import type {
  CreateVerdict,
  OutcomeAnswer,
  OutcomeReading,
  ReadOutcomeInput,
} from '../../contract/order/activities.js';
import { type Basis, basisDifferences } from '../../contract/order/basis.js';
import { isReceivedType } from '../../contract/order/types.js';
import type { Order, OrderListItem } from '../../contract/service-objects.js';
import type { PaymentService } from '../../payment-service/client.js';
import { serviceDateTime, ZONE_SLACK_MS } from '../../payment-service/paging.js';
import { MAX_ORDERS_PER_PAGE, type OrderListQuery } from '../../payment-service/queries.js';
import type { CallOptions } from '../../payment-service/transport.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';
import { noReading, retryLater } from '../failures.js';
import { notSentBecause } from './create-attempt.js';
import type { KnownOrder } from './grouped-look-ups.js';
import { patience } from './patience.js';
import { elsewhereOf, isOtherEndpoint } from './sent-to.js';

/** Fields on which status and list item must agree before money is moved by what they say. */
const COMPARED_AMOUNTS = ['amount_from', 'amount_to', 'amount_from_fee', 'amount_to_fee'] as const;

/** Reads a final order twice: by the status operation, and by the order list, which alone shows the balance changes. */
export function readOutcomeActivity(deps: ActivityDeps) {
  return async function readOutcome(input: ReadOutcomeInput): Promise<OutcomeAnswer> {
    const account = accountOf(deps, input.account);
    try {
      if (isOtherEndpoint(account, input.sentTo)) return { elsewhere: true };
      const { reading, said } = await shownOutcome(account, input, (order) => itemAmongOthers(account, order, input));
      const followUps = reading ? await unknownFollowUps(account.service, input.followUps) : [];
      if (reading) return { ...reading, ...(followUps.length > 0 && { followUps }) };
      if (await elsewhereOf(account, input.sentTo)) return { elsewhere: true };
      throw notShown(said);
    } catch (error) {
      throw retryLater(error);
    }
  };
}

/**
 * Follow-ups that exist beside those that are known. A run that Temporal lost, or that a backup forgot, may have sent them: what they
 * moved is no longer left.
 */
async function unknownFollowUps(
  service: PaymentService,
  { of, known }: NonNullable<ReadOutcomeInput['followUps']> = { of: '', known: [] },
  options?: CallOptions,
): Promise<string[]> {
  const asked = of === '' ? [] : followUpOrderIds(of).filter((id) => !known.includes(id));
  if (asked.length === 0) return [];
  const { items, malformed } = await service.listOrders({ order_ids: asked }, options);
  if (malformed.length > 0) throw noReading('the order list shows an item that cannot be read');
  return asked.filter((id) => items.some((item) => item.user_order_id === id));
}

const notShown = (said: string) => noReading(`the status operation does not show the order (${said})`);

/** Both views of the order, none where its status does not show it. One that does proves the account. `said`: what it said. */
async function shownOutcome(
  { service }: Account,
  { orderUuid }: Pick<ReadOutcomeInput, 'orderUuid'>,
  readItem: (order: Order) => Promise<OrderListItem>,
  options?: CallOptions,
): Promise<{ reading?: OutcomeReading; said: string }> {
  const { order, said } = await service.orderStatus({ order_uuid: orderUuid }, options);
  if (order?.order_uuid !== orderUuid) return { said };
  const item = await readItem(order);
  const reading = { order, changes: item.balance_changes, disagreements: disagreementsOf(order, item) };
  return { reading, said };
}

function disagreementsOf(order: Order, item: Order): string[] {
  const amounts = COMPARED_AMOUNTS.filter((field) => !sameAmount(order[field], item[field]));
  const fields = order.status === item.status ? amounts : ['status', ...amounts];
  return fields.map((field) => `status operation and order list differ in ${field}`);
}

/**
 * The list's half, with those of other orders: still a request of its own kind, built after the status was answered, so that the
 * two remain two readings. What is read right before money is sent (`staleBasis`) asks for one order alone.
 */
const itemAmongOthers = (account: Account, order: Order, known: KnownOrder): Promise<OrderListItem> =>
  account.lookUps.read(known, patience(account), {
    shown: (item) => item,
    alone: () => readListItem(account.service, order, known.orderId),
  });

/** The list item, which alone has the balance changes; a receipt without an id is searched among the orders of its time. */
async function readListItem(
  service: PaymentService,
  order: Order,
  orderId: string,
  options?: CallOptions,
): Promise<OrderListItem> {
  const pages =
    orderId === ''
      ? service.allOrders(sameTime(order), options)
      : [await service.listOrders({ order_ids: [orderId] }, options)];
  for await (const { items } of pages) {
    const item = items.find(({ order_uuid }) => order_uuid === order.order_uuid);
    if (item) return item;
  }
  throw noReading('the order list does not show the order');
}

function sameTime({ order_type: type, created_at: createdAt }: Order): OrderListQuery {
  const createdAtMs = Date.parse(`${createdAt.replace(' ', 'T')}Z`);
  const ofType = { limit: MAX_ORDERS_PER_PAGE, ...(isReceivedType(type) && { order_type: type }) };
  if (Number.isNaN(createdAtMs)) return ofType;
  return {
    ...ofType,
    date_from: serviceDateTime(createdAtMs - ZONE_SLACK_MS),
    date_to: serviceDateTime(createdAtMs + ZONE_SLACK_MS),
  };
}

/** A part of the create's attempt: rates and the probe must fit into it as well. */
const READ_WITHIN_MS = 15_000;

/**
 * Reads anew what a follow-up was made for: the order before it and the follow-ups before it, of which there must be no other. Answers why nothing may be
 * sent; undefined = all of it still holds. What cannot be read may have changed.
 */
export async function staleBasis(
  account: Account,
  basis: readonly Basis[],
  orderId: string,
): Promise<CreateVerdict | undefined> {
  const options = { signal: AbortSignal.timeout(READ_WITHIN_MS) };
  const { extendsOrderId: of = '' } = parseFollowUpOrderId(orderId) ?? {};
  const known = [orderId, ...basis.map(({ user_order_id }) => user_order_id)];
  try {
    const others = await unknownFollowUps(account.service, { of, known }, options);
    if (others.length > 0) {
      return { kind: 'stale', reason: `${others.join(', ')} exists, which is not known to what this was made for` };
    }
  } catch (error) {
    return notSentBecause(`the follow-ups beside ${orderId} could not be read`, error);
  }
  for (const was of basis) {
    const { order_uuid: orderUuid, user_order_id: orderId } = was;
    const name = `order ${orderId || orderUuid}`;
    try {
      const readItem = (order: Order) => readListItem(account.service, order, orderId, options);
      const { reading, said } = await shownOutcome(account, { orderUuid }, readItem, options);
      if (!reading) throw notShown(said);
      const differences = basisDifferences(was, reading);
      if (differences.length > 0) {
        return { kind: 'stale', reason: `${name} has changed since this was made for it (${differences.join(', ')})` };
      }
    } catch (error) {
      return notSentBecause(`${name}, which this follows up, could not be read`, error);
    }
  }
  return undefined;
}
