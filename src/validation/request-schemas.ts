import * as z from 'zod';
import type { OrderType } from '../contract/order/types.js';
import {
  amountSchema,
  checkedString,
  clientInfoSchema,
  currencySchema,
  delaySchema,
  descriptionSchema,
  emailSchema,
  memoSchema,
  nameSchema,
  networkSchema,
} from './field-schemas.js';
import { walletProblem } from './wallet-formats.js';

/**
 * The shapes of requests. `contract/order/request.ts` names the types that are inferred from them, and holds for every
 * field how it may be shown and how it is compared: a field without that does not compile.
 */

/** One card of a payout to several. */
export const cardPartSchema = z.strictObject({
  amount: amountSchema,
  wallet: checkedString((value) => walletProblem('card', value)),
});

/** Shapes of `wallet_details` by network; `multiple_cards` takes a list of cards, every other network none. */
export const detailsSchemas = {
  bank: z.strictObject({ bank_code: nameSchema }),
  bank_ua: z.strictObject({
    recipient_bank: nameSchema,
    recipient_name: nameSchema,
    // 8 digits for companies, 10 for persons, 9 for persons who have only an identity card.
    taxpayer_number: z.string().regex(/^\d{8,10}$/, 'must be 8 to 10 digits'),
  }),
  sepa: z.strictObject({ recipient_email: emailSchema, recipient_name: nameSchema }),
};

const common = {
  order_id: z.string(),
  description: descriptionSchema,
  client_info: clientInfoSchema,
};
/** Where a payout goes, its network apart. */
export const payoutSchemas = {
  // Wallet and details depend on the network: payout-target checks them.
  wallet: z.string(),
  wallet_memo: memoSchema,
  wallet_details: z.custom<DetailsShape | CardShape[]>().nullish(),
};
const single = { currency: currencySchema, network: networkSchema, amount: amountSchema };
const eitherAmount = { amount: amountSchema.optional(), amount_to: amountSchema.optional() };

/** Create requests by order type, strict; without `callback_url`, which the worker makes. */
export const orderSchemas = {
  deposit: z.strictObject({ ...common, ...single }),
  deposit_exchange: z.strictObject({
    ...common,
    currency_from: currencySchema,
    network_from: networkSchema,
    amount: amountSchema,
    currency_to: currencySchema,
  }),
  deposit_exchange_withdraw: z.strictObject({
    ...common,
    ...payoutSchemas,
    ...eitherAmount,
    currency_from: currencySchema,
    network_from: networkSchema,
    currency_to: currencySchema,
    network_to: networkSchema,
  }),
  exchange: z.strictObject({
    ...common,
    currency_from: currencySchema,
    currency_to: currencySchema,
    amount: amountSchema,
  }),
  exchange_withdraw: z.strictObject({
    ...common,
    ...payoutSchemas,
    ...eitherAmount,
    currency_from: currencySchema,
    currency_to: currencySchema,
    network_to: networkSchema,
    delay_order_for_minutes: delaySchema,
  }),
  withdraw: z.strictObject({ ...common, ...payoutSchemas, ...single, delay_order_for_minutes: delaySchema }),
} satisfies Record<OrderType, z.ZodObject>;

/** What the schemas admit, by order type. */
export type RequestShapes = { [T in keyof typeof orderSchemas]: z.infer<(typeof orderSchemas)[T]> };

/** What the schemas admit as `wallet_details` that are no list. */
export type DetailsShape = z.infer<(typeof detailsSchemas)[keyof typeof detailsSchemas]>;

/** What the schema of a card admits. */
export type CardShape = z.infer<typeof cardPartSchema>;

/** What the schema of `client_info` admits. */
export type ClientInfoShape = NonNullable<z.infer<typeof clientInfoSchema>>;

/** What the schemas admit as the target of a payout, its network apart. */
export type PayoutShape = { [Name in keyof typeof payoutSchemas]: z.infer<(typeof payoutSchemas)[Name]> };
