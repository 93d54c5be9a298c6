import type {
  CardShape,
  ClientInfoShape,
  DetailsShape,
  PayoutShape,
  RequestShapes,
} from '../../validation/request-schemas.js';
import type { Amount } from '../money.js';
import type { OrderType } from './types.js';

/** Data about the merchant's client; all optional strings. */
export type ClientInfo = ClientInfoShape;

/** One card of a `multiple_cards` payout; `amount` is a decimal string. */
export type CardPart = CardShape;

/** Payout details, by network: bank, bank_ua, sepa (objects) or multiple_cards (array). */
export type WalletDetails = DetailsShape | CardPart[];

/** What an order with exchange and payout is by: exactly one of `amount` (what it starts from) and `amount_to` (payout). */
type EitherAmount = { amount: Amount; amount_to?: undefined } | { amount?: undefined; amount_to: Amount };

type ShapeOf<T> = T extends keyof RequestShapes ? RequestShapes[T] : never;

/** Create requests by order type, without `callback_url` (the worker makes it). */
export type CreateRequests = {
  [T in OrderType]: ShapeOf<T> & ('amount_to' extends keyof ShapeOf<T> ? EitherAmount : unknown);
};

/** Any create request. */
export type CreateRequest = CreateRequests[OrderType];

/** Create request of a payout; `amount` is what is paid out. */
export type WithdrawRequest = CreateRequests['withdraw'];

type AnyShape = RequestShapes[keyof RequestShapes];
type KeysOfAny<Shape> = Shape extends unknown ? keyof Shape : never;
type ValueOf<Name, Shape = AnyShape> = Shape extends unknown ? (Name extends keyof Shape ? Shape[Name] : never) : never;

/** Every field a create request may have, seen without its type: lets one function read requests of all six types. */
export type RequestFields = { order_id: string } & { [Name in KeysOfAny<AnyShape>]?: ValueOf<Name> };

/** 'wallet': its last four characters at most; wallets and e-mails may not even stand in an id or a description. */
export type Privacy = 'public' | 'wallet' | 'email' | 'private';

/**
 * Kind of a field's text. 'id', 'code' and 'name' identify an order or a payee, 'figure' is a
 * number, 'free' is any text; 'parts' has no text of its own.
 */
export type TextKind = 'id' | 'code' | 'name' | 'figure' | 'free' | 'parts';

/** What must be known about a field before it may be taken. */
export interface FieldRule {
  privacy: Privacy;
  text: TextKind;
}

/** The fields of `client_info`. */
export const CLIENT_FIELDS = {
  client_id: { privacy: 'private', text: 'free' },
  client_ip: { privacy: 'private', text: 'free' },
  client_email: { privacy: 'email', text: 'free' },
} as const satisfies Record<keyof ClientInfo, FieldRule>;

/** The fields of one card. */
export const CARD_FIELDS = {
  amount: { privacy: 'public', text: 'figure' },
  wallet: { privacy: 'wallet', text: 'code' },
} as const satisfies Record<keyof CardPart, FieldRule>;

/** The fields of all shapes of `wallet_details` that are no list. */
export const DETAILS_FIELDS = {
  bank_code: { privacy: 'private', text: 'code' },
  recipient_bank: { privacy: 'private', text: 'name' },
  recipient_name: { privacy: 'private', text: 'name' },
  taxpayer_number: { privacy: 'private', text: 'code' },
  recipient_email: { privacy: 'email', text: 'code' },
} as const satisfies Record<KeysOfAny<DetailsShape>, FieldRule>;

/** 'apart': compared by rules of its own in `differences/echo.ts`; 'none': the service's orders do not carry it. */
interface EchoRule {
  echo: 'code' | 'wallet' | 'memo' | 'details' | 'apart' | 'none';
}

/** `target`: it says where a payout goes, its network apart; follow-ups and refunds hand all of these on. */
interface TargetRule<Name> {
  target: Name extends keyof PayoutShape ? true : boolean;
}

/** The fields of create requests. */
export const REQUEST_FIELDS = {
  order_id: { privacy: 'public', text: 'id', echo: 'apart', target: false },
  description: { privacy: 'private', text: 'free', echo: 'none', target: false },
  client_info: { privacy: 'private', text: 'parts', echo: 'none', target: false },
  currency: { privacy: 'public', text: 'code', echo: 'code', target: false },
  network: { privacy: 'public', text: 'code', echo: 'code', target: false },
  currency_from: { privacy: 'public', text: 'code', echo: 'code', target: false },
  network_from: { privacy: 'public', text: 'code', echo: 'code', target: false },
  currency_to: { privacy: 'public', text: 'code', echo: 'code', target: false },
  network_to: { privacy: 'public', text: 'code', echo: 'code', target: false },
  amount: { privacy: 'public', text: 'figure', echo: 'apart', target: false },
  amount_to: { privacy: 'public', text: 'figure', echo: 'apart', target: false },
  wallet: { privacy: 'wallet', text: 'code', echo: 'wallet', target: true },
  wallet_memo: { privacy: 'private', text: 'code', echo: 'memo', target: true },
  wallet_details: { privacy: 'private', text: 'parts', echo: 'details', target: true },
  delay_order_for_minutes: { privacy: 'public', text: 'figure', echo: 'none', target: false },
} as const satisfies { [Name in keyof RequestFields]-?: FieldRule & EchoRule & TargetRule<Name> };

type RuleOf = typeof REQUEST_FIELDS;

/** Fields that are compared, one by one, with what an order of the service shows. */
export type EchoedField = {
  [Name in keyof RuleOf]: RuleOf[Name]['echo'] extends 'apart' | 'none' ? never : Name;
}[keyof RuleOf];

/** Fields that say where a payout goes, its network apart. */
export type TargetField = {
  [Name in keyof RuleOf]: RuleOf[Name]['target'] extends true ? Name : never;
}[keyof RuleOf];

/** Where a payout goes, without what is empty: all that a follow-up or refund hands on of `from`. */
export function targetOf(from: RequestFields | Pick<RequestFields, TargetField>): Pick<RequestFields, TargetField> {
  const isTarget = ([name, value]: [string, unknown]) => value && REQUEST_FIELDS[name as keyof RuleOf]?.target;
  return Object.fromEntries(Object.entries(from).filter(isTarget));
}
