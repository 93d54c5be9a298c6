import type { Order, OrderListItem } from '../service-objects.js';
import type { Circumstances, LookUpInput } from './activities.js';
import type { RunInput } from './input-and-result.js';
import { type CreateRequest, REQUEST_FIELDS, type RequestFields } from './request.js';
import type { SentTo } from './sent-to.js';
import { factsOf, isOrderType, type OrderType, type ReceivedType } from './types.js';

/** What the service's own object tells of a request; without where a payout goes, which may be shown masked. */
export function requestOfOrder(type: OrderType, order: Order): CreateRequest {
  const codes = factsOf(type).echoes.filter(([asked]) => REQUEST_FIELDS[asked].echo === 'code');
  const request: RequestFields = {
    order_id: order.user_order_id,
    ...Object.fromEntries(codes.map(([asked, shown]) => [asked, order[shown] ?? ''])),
    ...(order.strict_withdrawal_amount
      ? { amount_to: order.expected_amount_to }
      : { amount: order.expected_amount_from }),
  };
  return request as CreateRequest;
}

/** One signed look-up of a received order. `input`: the whole workflow input, validated inside. */
export interface LookUpReceivedInput {
  account: string;
  input: unknown;
  /** What showed the order first; an answer from another endpoint is no reading. */
  sentTo?: SentTo;
}

/** 'foreign': no receipt on this address. 'unplaced': one of the two addresses is not shown, to compare them. */
export type ReceivedReading =
  | { kind: 'found'; type: ReceivedType; order: Order }
  | { kind: 'foreign' | 'unplaced'; reason: string }
  /** `said`: how the status operation shows no order, for people. */
  | { kind: 'absent'; said: string };

/** Answer of the look-up of a received order. */
export type LookUpReceivedAnswer = Circumstances & ReceivedReading;

/** What a received order would have been asked for. Nobody named it, so its name is the service's own. */
export const receivedRequest = (type: ReceivedType, order: Order): CreateRequest => ({
  ...requestOfOrder(type, order),
  order_id: order.order_uuid,
});

/** One signed look-up of an order whose run was recovered. `input`: the whole workflow input, validated inside. */
export interface LookUpRecoveredInput extends Omit<LookUpInput, 'request' | 'orderUuid' | 'known'> {
  input: unknown;
}

/** Starts what follows a listed order and sends nothing; undefined for an unknown type. The workflow checks it. */
export function recoveredStart(
  account: string,
  { balance_changes, ...listed }: OrderListItem,
  sentTo?: SentTo,
): { type: OrderType; input: RunInput & Required<Pick<RunInput, 'recovered'>> } | undefined {
  const type = listed.order_type;
  if (!isOrderType(type)) return undefined;
  const input = {
    account,
    order: requestOfOrder(type, listed),
    compensation: 'report' as const,
    resend: 'never' as const,
    recovered: { order_uuid: listed.order_uuid, listed, ...(sentTo && { sentTo }) },
  };
  return { type, input };
}
