import type { Order, OrderListItem } from '../service-objects.js';
import type { Circumstances, LookUpInput } from './activities.js';
import type { RunInput } from './input-and-result.js';
import { type CreateRequest, REQUEST_FIELDS, type RequestFields } from './request.js';
import type { SentTo } from './sent-to.js';
import { factsOf, isOrderType, type OrderType, type ReceivedType } from './types.js';

/** Returns the request that an order shows, without its payout target, which may be masked. */
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

/** Looks up a received order. `input`: the whole workflow input, validated by the activity. */
export interface LookUpReceivedInput {
  account: string;
  input: unknown;
  /** Account that showed the order first. */
  sentTo?: SentTo;
}

/** 'foreign': no receipt on this address. 'unplaced': an address is not shown. */
export type ReceivedReading =
  | { kind: 'found'; type: ReceivedType; order: Order }
  | { kind: 'foreign' | 'unplaced'; reason: string }
  /** `said`: answer of the status operation, for operators. */
  | { kind: 'absent'; said: string };

export type LookUpReceivedAnswer = Circumstances & ReceivedReading;

export const receivedRequest = (type: ReceivedType, order: Order): CreateRequest => ({
  ...requestOfOrder(type, order),
  order_id: order.order_uuid,
});

/** Looks up a recovered order. `input`: the whole workflow input, validated by the activity. */
export interface LookUpRecoveredInput extends Omit<LookUpInput, 'request' | 'orderUuid' | 'known'> {
  input: unknown;
}

/** Returns type and input of a run for a listed order; undefined for an unknown type. */
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
