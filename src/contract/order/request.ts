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

/** Order type, in the service's words. */
export type OrderType = keyof RequestShapes;

/** Create requests by order type. The worker adds `callback_url`. */
export type CreateRequests = {
  [T in OrderType]: RequestShapes[T] & ('amount_to' extends keyof RequestShapes[T] ? EitherAmount : unknown);
};

export type CreateRequest = CreateRequests[OrderType];
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

export interface FieldRule {
  privacy: Privacy;
  text: TextKind;
}

export const CLIENT_FIELDS = {
  client_id: { privacy: 'private', text: 'free' },
  client_ip: { privacy: 'private', text: 'free' },
  client_email: { privacy: 'email', text: 'free' },
} as const satisfies Record<keyof ClientInfo, FieldRule>;

export const CARD_FIELDS = {
  amount: { privacy: 'public', text: 'figure' },
  wallet: { privacy: 'wallet', text: 'code' },
} as const satisfies Record<keyof CardPart, FieldRule>;

export const DETAILS_FIELDS = {
  bank_code: { privacy: 'private', text: 'code' },
  recipient_bank: { privacy: 'private', text: 'name' },
  recipient_name: { privacy: 'private', text: 'name' },
  taxpayer_number: { privacy: 'private', text: 'code' },
  recipient_email: { privacy: 'email', text: 'code' },
} as const satisfies Record<KeysOfAny<DetailsShape>, FieldRule>;

/** Fields of `wallet_details`, of cards and of others. */
export const PART_FIELDS: ReadonlyMap<string, FieldRule> = new Map(
  Object.entries<FieldRule>({ ...DETAILS_FIELDS, ...CARD_FIELDS }),
);

/**
 * The fields of create requests. `echo`: 'apart' is compared by its own rules in
 * `differences/echo.ts`, 'none' is not in the service's orders.
 */
export const REQUEST_FIELDS = {
  order_id: { privacy: 'public', text: 'id', echo: 'apart' },
  description: { privacy: 'private', text: 'free', echo: 'none' },
  client_info: { privacy: 'private', text: 'parts', echo: 'none' },
  currency: { privacy: 'public', text: 'code', echo: 'code' },
  network: { privacy: 'public', text: 'code', echo: 'code' },
  currency_from: { privacy: 'public', text: 'code', echo: 'code' },
  network_from: { privacy: 'public', text: 'code', echo: 'code' },
  currency_to: { privacy: 'public', text: 'code', echo: 'code' },
  network_to: { privacy: 'public', text: 'code', echo: 'code' },
  amount: { privacy: 'public', text: 'figure', echo: 'apart' },
  amount_to: { privacy: 'public', text: 'figure', echo: 'apart' },
  wallet: { privacy: 'wallet', text: 'code', echo: 'wallet' },
  wallet_memo: { privacy: 'private', text: 'code', echo: 'memo' },
  wallet_details: { privacy: 'private', text: 'parts', echo: 'details' },
  delay_order_for_minutes: { privacy: 'public', text: 'figure', echo: 'none' },
} as const satisfies {
  [Name in keyof RequestFields]-?: FieldRule & { echo: 'code' | 'wallet' | 'memo' | 'details' | 'apart' | 'none' };
};

type RuleOf = typeof REQUEST_FIELDS;

export type EchoedField = {
  [Name in keyof RuleOf]: RuleOf[Name]['echo'] extends 'apart' | 'none' ? never : Name;
}[keyof RuleOf];

/** Returns the target of a payout, without empty fields. Follow-ups and refunds take it over. */
export function targetOf({
  wallet,
  wallet_memo,
  wallet_details,
}: RequestFields | Partial<PayoutShape>): Partial<PayoutShape> {
  const target: Record<keyof PayoutShape, unknown> = { wallet, wallet_memo, wallet_details };
  return Object.fromEntries(Object.entries(target).filter(([, value]) => value));
}
