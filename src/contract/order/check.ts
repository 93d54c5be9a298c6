import type { OrderAttention } from '../attention.js';
import type { FieldError } from '../failures.js';
import type { Amount } from '../money.js';
import type { OnlyByCommand } from '../signature.js';

/** Amount of one currency, as a decimal string. */
export interface CurrencyAmount {
  currency: string;
  amount: Amount;
}

/** Amount that leaves the merchant's balance. Balances are null if they could not be read. */
export interface LeavingAmount extends CurrencyAmount {
  balanceBefore: Amount | null;
  balanceAfter: Amount | null;
  /** Missing amount. Absent if the balance suffices. */
  shortfall?: Amount;
}

/** State of an order's id. `fields` differ; `reason`: why a start would send nothing. */
export interface IdCheck<State extends string> {
  state: State | 'unknown';
  fields?: readonly string[];
  reason?: string;
}

/** Findings of a worker about an order that is only checked. */
export interface OrderFindings {
  /** Errors by field, as a start would give them. */
  fields: readonly FieldError[];
  /** Findings that refuse nothing. */
  warnings?: string[];
  /** Limits of the pair for `amount`; `max` null: none. */
  limits?: { currency: string; min: Amount; max: Amount | null };
  /** Commissions; `payer` is `merchant` (beside the amount) or `client` (out of it). */
  fees?: (CurrencyAmount & { payer: string | null })[];
  /** Paid out, exchanged or credited, after the client's commissions. */
  arrives?: CurrencyAmount;
  /** From the merchant's balance, with the merchant's commissions. */
  leaves?: LeavingAmount[];
  /** The rate may change until the exchange. */
  estimated?: true;
  /** Why a start would wait for a person. */
  wouldPark?: { code: OrderAttention; reason: string; onlyByCommand?: OnlyByCommand };
  /** Why nothing is sent now. */
  notNow?: string;
  /** Findings that are missing, and why. */
  unknown?: string[];
  /** The service's order with this id. */
  atService?: IdCheck<'none' | 'same' | 'conflict'> & { order_uuid?: string; status?: string };
}

/** Report of a dry run. Bad input leaves out every look-up. */
export interface OrderCheck extends OrderFindings {
  /** Absent if the input has none. */
  orderId?: string;
  account: string;
  /** A start would send it now, without a person. */
  wouldBeSent: boolean;
  /** Why it would not be sent, one sentence each. */
  reasons: string[];
  /** Temporal's run of this id: none, open or ended with the same input, or with another one. */
  id?: IdCheck<'free' | 'same' | 'conflict' | 'ended'>;
}
