import Big from 'big.js';
import { execute } from '../../../sandbox/execution.js';
import { Ledger } from '../../../sandbox/ledger.js';
import { createOrderObject, finalFields, type NewOrder } from '../../../sandbox/orders.js';
import type { Plan } from '../../../sandbox/plan.js';
import { quoteFrom, quoteTo } from '../../../sandbox/quote.js';
import type { Terms } from '../../../sandbox/rates.js';
import type { Payers } from '../../../src/contract/order/activities.js';
import type { CreateRequest } from '../../../src/contract/order/request.js';
import type { OrderType } from '../../../src/contract/order/types.js';
import type { BalanceChange, Order } from '../../../src/contract/service-objects.js';
import type { Case, Figures } from '../../../src/workflows/compensation/figures.js';
import { orderFor, REQUESTS } from '../../contract/inputs.fixture.js';

/** A change of a balance of 1,000,000 that adds up. */
export function change(currency: string, amount: string): BalanceChange {
  return {
    currency,
    amount_before: '1000000',
    amount_change: amount,
    amount_after: new Big('1000000').plus(amount).toFixed(),
    created_at: '2026-01-02 03:04:05',
  };
}

/** Changes written as `usd -10, btc 0.1`. */
const changesOf = (written: string): BalanceChange[] =>
  [...written.matchAll(/(\w+) (\S+?)(?:, |$)/g)].map(([, currency = '', amount = '']) => change(currency, amount));

/** What a hand-made case says; everything else is an order without any of it. */
export interface CaseFacts {
  request?: Record<string, unknown>;
  order?: Partial<Order>;
  /** As `usd -10, btc 0.1`, or as whole changes. */
  changes?: string | BalanceChange[];
  payers?: Payers | null;
  laterPayers?: Payers;
}

/** A final order of a type made by hand; both payers are 'merchant' unless said otherwise. */
export function caseOf(
  type: OrderType,
  status: string,
  { request, order, changes = '', payers, laterPayers }: CaseFacts = {},
): Case {
  const asked = { ...REQUESTS[type], ...request } as CreateRequest;
  return {
    type,
    request: asked,
    order: orderFor(type, asked as (typeof REQUESTS)[OrderType], { status, ...order }),
    changes: typeof changes === 'string' ? changesOf(changes) : changes,
    payers: payers === null ? undefined : (payers ?? { from: 'merchant', to: 'merchant' }),
    laterPayers,
  };
}

/** Figures as decimal strings, a side that the type does not have left out. */
export const written = ({ unexchanged, unpaid }: Figures) => ({
  ...(unexchanged && { unexchanged: unexchanged.toFixed() }),
  ...(unpaid && { unpaid: unpaid.toFixed() }),
});

/** How the rates write a rate: units of T for one of F, as the sandbox does, or the other way round. */
type RateDirection = 'times' | 'divided';

/** The create request of a pair; exactly one of amount and amountTo. */
export function requestOf(terms: Terms, amount: { amount: string } | { amountTo: string }): CreateRequest {
  const { orderType, currencyFrom, networkFrom, currencyTo, networkTo } = terms;
  const sides =
    orderType === 'deposit' || orderType === 'withdraw'
      ? { currency: currencyFrom, network: networkFrom ?? networkTo }
      : {
          currency_from: currencyFrom,
          currency_to: currencyTo,
          ...(networkFrom && { network_from: networkFrom }),
          ...(networkTo && { network_to: networkTo }),
        };
  const asked = 'amount' in amount ? { amount: amount.amount } : { amount_to: amount.amountTo };
  const paid = 'amount' in amount ? amount.amount : amount.amountTo;
  const cards = networkTo === 'multiple_cards' && { wallet_details: [{ amount: paid, wallet: 'card' }] };
  const target = terms.feeTo && { wallet: 'wallet', ...cards };
  return { order_id: 'made', ...sides, ...asked, ...target } as unknown as CreateRequest;
}

/**
 * An order worked by the sandbox's own rules without its server: the case as the product would see it, and the truth.
 * 'divided' publishes the same rate as units of F for one of T, to 18 digits.
 */
export function workedCase(
  terms: Terms,
  amount: { amount: string } | { amountTo: string },
  plan: Plan,
  direction: RateDirection = 'times',
): { c: Case; truth: { unexchanged: string; unpaid: string } } {
  const quote = 'amount' in amount ? quoteFrom(amount.amount, terms) : quoteTo(amount.amountTo, terms);
  const made = { orderId: 'made', terms, quote, plan, strict: 'amountTo' in amount } as NewOrder;
  const order = createOrderObject({ ...made, wallet: null, walletMemo: null, walletDetails: null }, 0, 0);
  const done = execute(terms, quote, plan);
  const stored = { order, terms, quote, plan } as Parameters<typeof finalFields>[0];
  const final = { ...order, ...finalFields(stored, done, 0) };
  const turned = (rate: string | null) => (rate && direction === 'divided' ? inverse(rate) : rate);
  return {
    c: {
      type: terms.orderType,
      request: requestOf(terms, amount),
      order: {
        ...final,
        exchange_rate_initial: turned(final.exchange_rate_initial),
        exchange_rate_actual: turned(final.exchange_rate_actual),
      } as Order,
      changes: new Ledger({}, 0).changes(done.movements, 0),
      payers: { from: terms.feeFrom?.payer ?? null, to: terms.feeTo?.payer ?? null },
    },
    truth: { unexchanged: done.unexchanged, unpaid: done.unpaid },
  };
}

const Exact = Big();
Exact.DP = 60;
const inverse = (rate: string): string => new Exact(1).div(rate).prec(18).toFixed();
