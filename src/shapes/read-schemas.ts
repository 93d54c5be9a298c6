import * as z from 'zod';
import { ATTENTION_CODES, type OrderAttention } from '../contract/attention.js';
import { balanceEntry, depositAddressSchema, rateEntry } from '../payment-service/schemas.js';
import { amount, onlyByCommand } from './parts.js';

/* Answers of reads and of a dry run. The contract derives its types from them. */

/** Errors by field, as a start would give them. */
export const fieldErrors = z.array(z.object({ field: z.string(), reason: z.string() }));

/** An entry of the service, or why it cannot be read. */
export const orMalformed = <T extends z.ZodType>(entry: T) =>
  z.union([entry, z.object({ malformed: z.string(), wallet_uuid: z.string().optional() })]);

/** Rates by order type and pair. */
export const shownRates = z.record(z.string(), z.record(z.string(), orMalformed(rateEntry)));
/** Balances by currency. */
export const shownBalances = z.record(z.string(), orMalformed(balanceEntry));
/** Permanent addresses. */
export const shownAddresses = z.array(orMalformed(depositAddressSchema));

/** Amount of one currency, as a decimal string. */
const currencyAmount = z.object({ currency: z.string(), amount });

/** Amount that leaves the merchant's balance. Balances are null if they could not be read. */
const leavingAmount = currencyAmount.extend({
  balanceBefore: amount.nullable(),
  balanceAfter: amount.nullable(),
  /** Missing amount. Absent if the balance suffices. */
  shortfall: amount.optional(),
});

/** State of an order's id. `fields` differ; `reason`: why a start would send nothing. */
const idCheck = <const S extends string>(...states: S[]) =>
  z.object({
    state: z.enum([...states, 'unknown']),
    fields: z.array(z.string()).readonly().optional(),
    reason: z.string().optional(),
  });

/** Findings of a worker about an order that is only checked. */
export const orderFindings = z.object({
  fields: fieldErrors.readonly(),
  /** Findings that refuse nothing. */
  warnings: z.array(z.string()).optional(),
  /** Other orders that paid the same amount to the same payee; `day` in UTC. Newest first. */
  paidBefore: z.array(currencyAmount.extend({ orderId: z.string(), day: z.string() })).optional(),
  /** Limits of the pair for `amount`; `max` null: none. */
  limits: z.object({ currency: z.string(), min: amount, max: amount.nullable() }).optional(),
  /** Commissions; `payer` is `merchant` (beside the amount) or `client` (out of it). */
  fees: z.array(currencyAmount.extend({ payer: z.string().nullable() })).optional(),
  /** Paid out, exchanged or credited, after the client's commissions. */
  arrives: currencyAmount.optional(),
  /** From the merchant's balance, with the merchant's commissions. */
  leaves: z.array(leavingAmount).optional(),
  /** The rate may change until the exchange. */
  estimated: z.literal(true).optional(),
  /** Why a start would wait for a person. */
  wouldPark: z
    .object({
      code: z.enum(ATTENTION_CODES as readonly OrderAttention[]),
      reason: z.string(),
      onlyByCommand: onlyByCommand.optional(),
    })
    .optional(),
  /** Why nothing is sent now. */
  notNow: z.string().optional(),
  /** Findings that are missing, and why. */
  unknown: z.array(z.string()).optional(),
  /** The service's order with this id. */
  atService: idCheck('none', 'same', 'conflict')
    .extend({ order_uuid: z.string().optional(), status: z.string().optional() })
    .optional(),
});

/** Report of a dry run. Bad input leaves out every look-up. */
export const orderCheck = orderFindings.extend({
  /** Absent if the input has none. */
  orderId: z.string().optional(),
  account: z.string(),
  /** A start would send it now, without a person. */
  wouldBeSent: z.boolean(),
  /** Why it would not be sent, one sentence each. */
  reasons: z.array(z.string()),
  /** Temporal's run of this id: none, open or ended with the same input, or with another one. */
  id: idCheck('free', 'same', 'conflict', 'ended').optional(),
});

/** Amount (decimal string) of a currency. */
export type CurrencyAmount = z.output<typeof currencyAmount>;
/** Amount that leaves the balance (decimal string), with the balance before and after. */
export type LeavingAmount = z.output<typeof leavingAmount>;
/** Findings of the workers about an order that was not started. */
export type OrderFindings = z.output<typeof orderFindings>;
/** Report of a dry run: `wouldBeSent`, and `reasons` if not. */
export type OrderCheck = z.output<typeof orderCheck>;
