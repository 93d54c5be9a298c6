import { type Decimal, decimal, larger, roundDown, smaller, text, unit, ZERO } from './money.js';
import type { Plan, Stage } from './plan.js';
import { afterFee, feeOf, type Quote } from './quote.js';
import type { Terms } from './rates.js';

/*
 * How an order's steps change the merchant's balances, and why the published figures give back what is left.
 *
 *   D  deposit made (amount_from)          feeF, feeT  commissions actually charged (amount_from_fee, amount_to_fee)
 *   C  what of it reached the balance      X  exchanged part of C (C = A for types that begin on the balance)
 *   Y  what the exchange gave              G  part of Y that was paid, its commission included when the client bears it
 *
 *   step      payer client               payer merchant (withheld separately)
 *   deposit   F +(D − feeF) ; C = D−feeF  F +D, F −feeF ; C = D
 *   exchange  F −X, T +Y
 *   payout    T −G ; wallet gets G−feeT   T −G, T −feeT ; wallet gets G
 *
 * R_F = C − X (unexchanged), R_T = Y − G (unpaid; for withdraw Y is the requested amount, which is on the balance).
 *
 *   exchange, exchange_withdraw    net[F] = −X                        ⇒ A + net[F] = A − X = R_F
 *   deposit_exchange(_withdraw)    client:   net[F] = D − feeF − X     ⇒ net[F] + 0    = C − X = R_F
 *                                  merchant: net[F] = D − feeF − X     ⇒ net[F] + feeF = D − X = R_F
 *   exchange_withdraw, d_e_w       client:   net[T] = Y − G            ⇒ net[T] + 0    = Y − G = R_T
 *                                  merchant: net[T] = Y − G − feeT     ⇒ net[T] + feeT = Y − G = R_T
 *   withdraw                       client:   net[T] = −G               ⇒ A + net[T]        = A − G = R_T
 *                                  merchant: net[T] = −G − feeT        ⇒ A + net[T] + feeT = A − G = R_T
 *
 * For this to hold a commission that was not charged must be reported as 0, so final orders carry the actual ones.
 * The other published figures follow: amount_from = D or X (G for withdraw), amount_to = C, Y or what the wallet got;
 * hence at = net[T] for exchange and deposit_exchange, and at + feeT = −net[T] for withdraw with either payer.
 */

/** A signed change of one balance. */
export interface Movement {
  currency: string;
  amount: Decimal;
}

/** What an executed order did; decimal strings, null where a step never ran. */
export interface Execution {
  amountFrom: string | null;
  amountTo: string | null;
  feeFrom: string;
  feeTo: string;
  rate: string | null;
  movements: Movement[];
  /** The truth about what is left: unexchanged in F, unpaid in T. */
  unexchanged: string;
  unpaid: string;
  deposited: boolean;
  paidOut: boolean;
}

const REACHED: Readonly<Record<Stage, number>> = {
  clean: 0,
  'after-deposit': 1,
  'after-exchange': 2,
  'after-payout': 3,
};

/** The part that stays behind: at least one unit when any was asked for, never more than all. */
function leftBehind(whole: Decimal, fraction: string, precision: number): Decimal {
  if (decimal(fraction).lte(0)) return ZERO;
  return smaller(whole, larger(roundDown(whole.times(fraction), precision), unit(precision)));
}

/** The steps that ran; a step that never ran is missing. */
interface Steps {
  deposit?: DepositStep;
  exchange?: ExchangeStep;
  payout?: PayoutStep;
  /** What the payout can draw on: the exchange's result, or the credited amount where nothing is exchanged. */
  received: Decimal;
}

/** Works an order by its plan. Pure: what the balances allow is decided by the caller. */
export function execute(terms: Terms, quote: Quote, plan: Plan): Execution {
  const steps = runSteps(terms, quote, plan);
  const { deposit, exchange, payout } = steps;
  return {
    ...amounts(terms, steps),
    ...leftovers(terms, steps),
    feeFrom: text(deposit?.fee ?? ZERO),
    feeTo: text(payout?.fee ?? ZERO),
    rate: exchange?.rate ?? quote.rate,
    movements: [deposit, exchange, payout]
      .flatMap((step) => step?.movements ?? [])
      .filter(({ amount }) => !amount.eq(0)),
    deposited: terms.feeFrom !== null && deposit !== undefined,
    paidOut: payout?.net.gt(0) ?? false,
  };
}

function runSteps(terms: Terms, quote: Quote, plan: Plan): Steps {
  const ended = plan.outcome === 'completed' || plan.outcome === 'completed_partially';
  const reached = ended ? 3 : REACHED[plan.stage];
  // Types that begin on the balance have their amount there already, whatever becomes of them.
  const deposit = terms.feeFrom === null || reached >= 1 ? depositStep(terms, quote, plan) : undefined;
  const credited = deposit?.credited ?? ZERO;
  const exchange = terms.rate !== null && reached >= 2 ? exchangeStep(terms, quote, plan, credited) : undefined;
  const received = terms.rate === null ? credited : (exchange?.received ?? ZERO);
  const payout = terms.feeTo && reached >= 3 ? payoutStep(terms, plan, received) : undefined;
  return { deposit, exchange, payout, received };
}

function leftovers(terms: Terms, { deposit, exchange, payout, received }: Steps) {
  const unexchanged = (deposit?.credited ?? ZERO).minus(exchange?.exchanged ?? ZERO);
  return {
    unexchanged: text(terms.rate === null ? ZERO : unexchanged),
    unpaid: text(terms.feeTo ? received.minus(payout?.gross ?? ZERO) : ZERO),
  };
}

interface DepositStep {
  amount: Decimal;
  fee: Decimal;
  credited: Decimal;
  movements: Movement[];
}

function depositStep(terms: Terms, quote: Quote, plan: Plan): DepositStep {
  const { feeFrom, precisionFrom, currencyFrom: currency } = terms;
  if (!feeFrom) return { amount: ZERO, fee: ZERO, credited: decimal(quote.credited), movements: [] };
  const amount = roundDown(decimal(quote.from).times(plan.paid), precisionFrom);
  const fee = smaller(feeOf(amount, feeFrom, precisionFrom), amount);
  const credited = feeFrom.payer === 'client' ? amount.minus(fee) : amount;
  const movements = [{ currency, amount: credited }];
  if (feeFrom.payer === 'merchant') movements.push({ currency, amount: fee.neg() });
  return { amount, fee, credited, movements };
}

interface ExchangeStep {
  exchanged: Decimal;
  received: Decimal;
  rate: string;
  movements: Movement[];
}

function exchangeStep(terms: Terms, quote: Quote, plan: Plan, credited: Decimal): ExchangeStep {
  const exchanged = credited.minus(leftBehind(credited, plan.unexchanged, terms.precisionFrom));
  const rate = text(decimal(quote.rate ?? '0').times(plan.rateFactor));
  // At the quoted rate the quoted amount is given exactly: for strict orders the rate's last digit would else show.
  const asQuoted = exchanged.eq(quote.credited) && plan.rateFactor === '1';
  const received = asQuoted ? decimal(quote.received) : roundDown(exchanged.times(rate), terms.precisionTo);
  const movements = [
    { currency: terms.currencyFrom, amount: exchanged.neg() },
    { currency: terms.currencyTo, amount: received },
  ];
  return { exchanged, received, rate, movements };
}

interface PayoutStep {
  gross: Decimal;
  fee: Decimal;
  net: Decimal;
  movements: Movement[];
}

function payoutStep(terms: Terms, plan: Plan, received: Decimal): PayoutStep {
  const { feeTo, precisionTo, currencyTo: currency } = terms;
  const gross = received.minus(leftBehind(received, plan.unpaid, precisionTo));
  const net = afterFee(gross, feeTo, precisionTo);
  // What does not cover its own commission cannot be paid out at all.
  if (net.lte(0)) return { gross: ZERO, fee: ZERO, net: ZERO, movements: [] };
  const fee = feeOf(gross, feeTo, precisionTo);
  const movements = [{ currency, amount: gross.neg() }];
  if (feeTo?.payer === 'merchant') movements.push({ currency, amount: fee.neg() });
  return { gross, fee, net, movements };
}

/** amount_from and amount_to as published. */
function amounts({ feeFrom, feeTo, rate }: Terms, { deposit, exchange, payout }: Steps) {
  const begun = rate === null ? payout?.gross : exchange?.exchanged;
  const gained = rate === null ? deposit?.credited : exchange?.received;
  const from = feeFrom ? deposit?.amount : begun;
  const to = feeTo ? payout?.net : gained;
  return { amountFrom: from ? text(from) : null, amountTo: to ? text(to) : null };
}
