import { type Decimal, decimal, larger, roundDown, roundUp, text, ZERO } from './money.js';
import type { Fee, Terms } from './rates.js';

/**
 * What an order is expected to do, in four amounts along its way; decimal strings.
 * from (deposit currency) → credited (to the balance) → received (by the exchange) → to (credited or paid out).
 */
export interface Quote {
  from: string;
  feeFrom: string;
  credited: string;
  /** The rate this order is worked at; for strict orders the pair's rate adjusted to hit amount_to exactly. */
  rate: string | null;
  received: string;
  feeTo: string;
  to: string;
}

/** The commission on an amount: fixed + max(percent, min), rounded up. 0 where there is none or nothing moves. */
export function feeOf(amount: Decimal, fee: Fee | null, precision: number): Decimal {
  if (!fee || amount.lte(0)) return ZERO;
  const share = amount.times(fee.percent).times('0.01');
  return roundUp(larger(share, decimal(fee.min)).plus(fee.fixed), precision);
}

/** What passes a leg: a client's commission comes out of the amount, a merchant's is taken from the balance apart. */
export function afterFee(amount: Decimal, fee: Fee | null, precision: number): Decimal {
  return fee?.payer === 'client' ? amount.minus(feeOf(amount, fee, precision)) : amount;
}

/** The amount of which exactly `wanted` passes the leg. Fees grow slower than amounts, so the search ends. */
function beforeFee(wanted: Decimal, fee: Fee | null, precision: number): Decimal {
  if (fee?.payer !== 'client') return wanted;
  let amount = wanted;
  for (let round = 0; round < 1000; round += 1) {
    const next = wanted.plus(feeOf(amount, fee, precision));
    if (next.eq(amount)) return amount;
    amount = next;
  }
  throw new Error('a commission of 100 % or more');
}

/** The quote for a given source amount. Amounts that do not cover their commission come out as 0 or less. */
export function quoteFrom(amount: string, terms: Terms): Quote {
  const from = decimal(amount);
  const credited = afterFee(from, terms.feeFrom, terms.precisionFrom);
  const received = terms.rate === null ? credited : roundDown(credited.times(terms.rate), terms.precisionTo);
  return complete(terms, from, credited, received, terms.rate);
}

/** The quote for an exact payout amount: the required source amount is rounded up, then the rate fitted to it. */
export function quoteTo(amountTo: string, terms: Terms): Quote {
  const received = beforeFee(decimal(amountTo), terms.feeTo, terms.precisionTo);
  if (terms.rate === null) return complete(terms, received, received, received, null);
  const credited = roundUp(received.div(terms.rate), terms.precisionFrom);
  const from = beforeFee(credited, terms.feeFrom, terms.precisionFrom);
  return complete(terms, from, credited, received, text(received.div(credited).prec(18)));
}

function complete(terms: Terms, from: Decimal, credited: Decimal, received: Decimal, rate: string | null): Quote {
  return {
    from: text(from),
    feeFrom: text(feeOf(from, terms.feeFrom, terms.precisionFrom)),
    credited: text(credited),
    rate,
    received: text(received),
    feeTo: text(feeOf(received, terms.feeTo, terms.precisionTo)),
    to: text(afterFee(received, terms.feeTo, terms.precisionTo)),
  };
}
