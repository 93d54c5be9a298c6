import type {
  CardPart,
  ClientInfo,
  DetailsShape,
  PayoutShape,
  RequestShapes,
} from '../../validation/request-schemas.js';
import type { TextKind } from '../../validation/text-kinds.js';
import type { Amount } from '../money.js';

export type { CardPart, ClientInfo } from '../../validation/request-schemas.js';

/** Payout details, by network: bank, bank_ua, sepa (objects) or multiple_cards (array). */
export type WalletDetails = DetailsShape | CardPart[];

/** Exactly one of `amount` (what it starts from) and `amount_to` (payout). */
type EitherAmount = { amount: Amount; amount_to?: undefined } | { amount?: undefined; amount_to: Amount };

/** One of the six order types, as the service writes them. */
export type OrderType = keyof RequestShapes;

/** Create requests by order type. The worker adds `callback_url`. */
export type CreateRequests = {
  [T in OrderType]: RequestShapes[T] & ('amount_to' extends keyof RequestShapes[T] ? EitherAmount : unknown);
};

/** Any create request. */
export type CreateRequest = CreateRequests[OrderType];

/** Create request of a payout; `amount` is what is paid out. */
export type WithdrawRequest = CreateRequests['withdraw'];

type AnyShape = RequestShapes[OrderType];
type KeysOfAny<Shape> = Shape extends unknown ? keyof Shape : never;
type ValueOf<Name, Shape = AnyShape> = Shape extends unknown ? (Name extends keyof Shape ? Shape[Name] : never) : never;

/** All fields of create requests, for functions of all six types. */
export type RequestFields = { order_id: string } & { [Name in KeysOfAny<AnyShape>]?: ValueOf<Name> };

/**
 * How much of a field may be shown. 'wallet': its last four characters; wallets and e-mails may not
 * stand in ids or descriptions.
 */
export type Privacy = 'public' | 'wallet' | 'email' | 'private';

/** Rules of a field. */
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

/** The fields of `wallet_details` objects. */
export const DETAILS_FIELDS = {
  bank_code: { privacy: 'private', text: 'code' },
  recipient_bank: { privacy: 'private', text: 'name' },
  recipient_name: { privacy: 'private', text: 'name' },
  taxpayer_number: { privacy: 'private', text: 'code' },
  recipient_email: { privacy: 'email', text: 'code' },
} as const satisfies Record<KeysOfAny<DetailsShape>, FieldRule>;

/**
 * The fields of create requests. `echo`: 'apart' is compared by its own rules in
 * `differences/echo.ts`, 'none' is not in the service's orders. `target`: part of a payout's
 * target, which follow-ups and refunds take over.
 */
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
} as const satisfies {
  [Name in keyof RequestFields]-?: FieldRule & {
    echo: 'code' | 'wallet' | 'memo' | 'details' | 'apart' | 'none';
    target: Name extends keyof PayoutShape ? true : boolean;
  };
};

type RuleOf = typeof REQUEST_FIELDS;

/** Fields that are compared with an order of the service. */
export type EchoedField = {
  [Name in keyof RuleOf]: RuleOf[Name]['echo'] extends 'apart' | 'none' ? never : Name;
}[keyof RuleOf];

/** Fields of a payout's target, without its network. */
export type TargetField = {
  [Name in keyof RuleOf]: RuleOf[Name]['target'] extends true ? Name : never;
}[keyof RuleOf];

/** Returns the target of a payout, without empty fields. */
export function targetOf(from: RequestFields | Pick<RequestFields, TargetField>): Pick<RequestFields, TargetField> {
  const isTarget = ([name, value]: [string, unknown]) => value && REQUEST_FIELDS[name as keyof RuleOf]?.target;
  return Object.fromEntries(Object.entries(from).filter(isTarget));
}
