import Big from 'big.js';
import { expect, test } from 'vitest';
import { chance } from '../../sandbox/chance.js';
import { type Execution, execute } from '../../sandbox/execution.js';
import { Ledger as Balances } from '../../sandbox/ledger.js';
import { createOrderObject, finalFields } from '../../sandbox/orders.js';
import { type Plan, planOrder } from '../../sandbox/plan.js';
import { type Quote, quoteFrom, quoteTo } from '../../sandbox/quote.js';
import { ORDER_TYPES, ratesData, TERMS, type Terms } from '../../sandbox/rates.js';
import type { StoredOrder } from '../../sandbox/stored.js';
import { askedAmounts, isJudged, payeeOf, payoutOf, type SideAmounts } from '../../src/activities/policy/payout.js';
import { countListed } from '../../src/activities/policy/rebuild.js';
import { settlementOf } from '../../src/activities/policy/settle.js';
import { type Policy, Secret } from '../../src/config.js';
import type { OrderResult } from '../../src/contract/order/input-and-result.js';
import type { CreateRequest } from '../../src/contract/order/request.js';
import { judge, openLedger, settle } from '../../src/contract/policy/ledger.js';
import { type Payout, type PolicyRule, spendsOf, testRules } from '../../src/contract/policy/rules.js';
import { AHEAD_OF_UTC_MS, serviceTime, ZONE_SLACK_MS } from '../../src/contract/reconcile/input.js';
import type { FinalStatus, OrderListItem, Rates } from '../../src/contract/service-objects.js';
import { failedChecks } from '../../src/workflows/compensation/checks.js';
import { type Case, figures, remainders } from '../../src/workflows/compensation/figures.js';
import { rowOf } from '../../src/workflows/compensation/table.js';

/* The sums of the policy beside an addition of what moved on the balances of the sandbox. */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 10, 1);
const EVERY_MS = 6 * 60_000;
const KEY = '0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978';
const RATES = ratesData(TERMS.values()) as unknown as Rates;
const SEED = 'paid';
/** The service's clock is as far behind UTC as any, so that its dates name one time. */
const BEHIND_UTC_MS = ZONE_SLACK_MS - AHEAD_OF_UTC_MS;

/** About 60 usd of each currency. */
const UNITS: Record<string, string> = { usd: '60', eur: '55', uah: '2500', usdt: '60', trx: '530' };
const WALLETS: Record<string, readonly string[]> = {
  card: ['4111111111111111', '5555555555554444', '4000056655665556'],
  tron: ['TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC', 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE'],
};
const isUsed = (currency: string, network: string | null): boolean =>
  currency in UNITS && (network === null || network in WALLETS);
const PAIRS = [...TERMS.values()].filter(
  (terms) => isUsed(terms.currencyFrom, terms.networkFrom) && isUsed(terms.currencyTo, terms.networkTo),
);

const perDay = (currency: string, units: number, of?: 'payee'): PolicyRule => ({
  ...{ rule: 'sum', per: 'day', currency, max: new Big(UNITS[currency] ?? 0).times(units).toFixed(), breach: 'park' },
  ...(of && { of }),
});
const policy: Policy = {
  rules: [
    ...Object.keys(UNITS).flatMap((currency) => [perDay(currency, 15), perDay(currency, 9, 'payee')]),
    { rule: 'count', max: 16, breach: 'park' },
  ],
  payeeKey: new Secret(KEY),
};

interface Made {
  id: string;
  atMs: number;
  endsAtMs: number;
  terms: Terms;
  quote: Quote;
  plan: Plan;
  request: CreateRequest & { amount?: string; amount_to?: string };
  payee: string | undefined;
  item: OrderListItem;
  /** Amounts that it is judged by. */
  asked: SideAmounts;
  done: Execution;
  isEnded?: true;
}

const draw = <T>(of: readonly T[], key: string): T => of[Math.floor(chance(SEED, key) * of.length)] as T;

/** Makes an order and what the service does with it. A client pays half of a deposit, or three times as much. */
function make(n: number, atMs: number): Made {
  const id = `o${n}`;
  const type = draw(ORDER_TYPES, `type ${n}`);
  const pairs = PAIRS.filter(({ orderType }) => orderType === type);
  const terms = draw(pairs, `pair ${n}`);
  const { currencyFrom, currencyTo, networkFrom, networkTo } = terms;
  const strict = type.endsWith('exchange_withdraw') && chance(SEED, `side ${n}`) < 0.5;
  const unit = new Big(UNITS[strict ? currencyTo : currencyFrom] ?? 0);
  const amount = unit.times(draw(['0.5', '0.77', '1', '1.9'], `amount ${n}`)).toFixed(2);
  const wallet = networkTo && draw(WALLETS[networkTo] ?? [], `wallet ${n}`);
  const sides =
    terms.rate === null
      ? { currency: currencyTo, network: networkTo ?? networkFrom }
      : { currency_from: currencyFrom, network_from: networkFrom, currency_to: currencyTo, network_to: networkTo };
  const named = strict ? { amount_to: amount } : { amount };
  const request = { order_id: id, ...named, ...sides, ...(wallet && { wallet }) } as unknown as Made['request'];
  const marker = {
    outcome: draw(['completed', 'completed', 'completed', 'completed_partially', 'error', 'canceled'], `outcome ${n}`),
    stage: draw(['clean', 'clean', 'after-deposit', 'after-exchange', 'after-payout'], `stage ${n}`),
    paid: draw(['1', '1', '0.5', '3'], `paid ${n}`),
    rate: draw(['1', '1', '0.9', '1.2'], `rate ${n}`),
  };
  const plan = planOrder(type, id, marker, { outcomes: {}, regressions: {}, quotedFees: 0 }, SEED);
  const quote = strict ? quoteTo(amount, terms) : quoteFrom(amount, terms);
  const none = { description: null, callbackUrl: null, clientInfo: {}, walletMemo: null, walletDetails: null };
  const order = createOrderObject({ key: id, orderId: id, terms, quote, plan, strict, wallet, ...none }, atMs, atMs);
  return {
    ...{ id, atMs, endsAtMs: atMs + Math.floor(chance(SEED, `end ${n}`) * 4 * HOUR_MS), terms, quote, plan, request },
    payee: networkTo && wallet ? payeeOf(KEY, networkTo, wallet) : undefined,
    item: { ...order, created_at: serviceTime(atMs - BEHIND_UTC_MS), balance_changes: [] } as unknown as OrderListItem,
    asked: askedAmounts(type, request, RATES),
    done: execute(terms, quote, plan),
  };
}

/** Ends an order as the service does, and returns the result of its workflow. */
function end(made: Made, balances: Balances): Pick<OrderResult, 'outcome' | 'order'> {
  const { item: order, terms, request, plan, done, endsAtMs } = made;
  const changes = balances.changes(done.movements, endsAtMs);
  for (const { currency, amount_after: after } of changes) balances.set(currency, after, endsAtMs);
  const final = finalFields({ order, terms, plan } as unknown as StoredOrder, done, endsAtMs);
  Object.assign(order, final, { balance_changes: changes });
  made.isEnded = true;
  const payers = { from: terms.feeFrom?.payer ?? null, to: terms.feeTo?.payer ?? null };
  const c: Case = { type: terms.orderType, request, order, changes, payers };
  const left = figures(c);
  const doubts = failedChecks(c, left);
  const isPlain = plan.outcome === 'completed' || rowOf(c, left).nothingLeft;
  const about = doubts.length > 0 ? { remainderUnknown: doubts.join('; ') } : { remainder: remainders(c, left) };
  const compensation = { policy: 'report', status: 'none' } as const;
  return { outcome: plan.outcome as FinalStatus, order, ...(!isPlain && about), ...{ compensation } };
}

const NONE = new Big(0);

/** Returns what an order counts for, by the balances alone. `most`: while it is open, its highest estimate. */
function counted(made: Made, key: string, most: boolean): Big {
  const { terms, payee, quote, asked, done, isEnded } = made;
  const [currency = '', ofPayee] = key.split(' ');
  const type = terms.orderType;
  if (!isJudged(type) || (ofPayee && ofPayee !== payee)) return NONE;
  if (currency === '#') return new Big(isEnded && !done.paidOut ? 0 : 1);
  const isPayout = currency === terms.currencyTo && terms.feeTo !== null;
  const isTaken = currency === terms.currencyFrom && terms.feeFrom === null && !ofPayee;
  if (!isPayout && !isTaken) return NONE;
  const isExchanged = isPayout && terms.rate !== null;
  if (isEnded) return moved(made, currency, isExchanged);
  const { from = '0', to = '0' } = most ? asked : quote;
  return new Big(isExchanged ? to : from);
}

/** Returns what an order took or paid out, or what it named of that, if it completed. */
function moved({ terms, request, done, plan }: Made, currency: string, isExchanged: boolean): Big {
  const taken = done.movements.find((one) => one.currency === currency && one.amount.lt(0))?.amount.abs() ?? NONE;
  // The client's commission is part of what was asked for, but not of what an exchange pays out.
  const commission = isExchanged && terms.feeTo?.payer === 'client' ? done.feeTo : '0';
  const paid = new Big(taken.toFixed()).minus(commission);
  const named = new Big((isExchanged ? request.amount_to : request.amount) ?? 0);
  return plan.outcome === 'completed' && named.gt(paid) ? named : paid;
}

/** The sums of the policy beside the balances. */
class World {
  readonly #balances = new Balances({}, START_MS);
  readonly #all: Made[] = [];
  #ledger = openLedger();
  readonly answers = { sent: 0, held: 0 };
  readonly wrong: string[] = [];

  endUntil(nowMs: number): void {
    for (const one of this.#all.filter(({ isEnded, endsAtMs }) => !isEnded && endsAtMs <= nowMs)) {
      const result = end(one, this.#balances);
      const { spends } = this.#ledger.open[one.id] ?? {};
      if (spends) settle(this.#ledger, settlementOf(one.id, spends, result));
    }
  }

  reread(nowMs: number): void {
    this.#ledger = openLedger();
    for (const { item } of this.#all) countListed(policy, this.#ledger, item, nowMs, new Set());
  }

  ask(made: Made): void {
    const { terms, request, asked } = made;
    const type = terms.orderType;
    if (!isJudged(type) || this.#isAllowed(made, payoutOf(policy, type, request, asked))) this.#all.push(made);
  }

  #isAllowed(made: Made, payout: Payout): boolean {
    const { atMs: nowMs } = made;
    const limits = testRules(policy.rules, payout, [], nowMs).limits.flatMap(({ limit }) =>
      'key' in limit ? [limit] : [],
    );
    const failed = judge(this.#ledger, { orderId: made.id, spends: spendsOf(payout), limits, reserve: true }, nowMs);
    const total = (key: string, sinceMs: number, most: boolean) =>
      [...this.#all.filter(({ atMs }) => atMs > sinceMs), made].reduce(
        (sum, one) => sum.plus(counted(one, key, most)),
        NONE,
      );
    for (const { index, total: shown } of failed) {
      const { key = '', max = '0' } = limits[index] ?? {};
      const most = total(key, nowMs - DAY_MS - HOUR_MS, true);
      if (most.lte(max)) this.wrong.push(`${made.id} is held at ${max} ${key}: ${shown} instead of ${most}`);
    }
    this.answers[failed.length > 0 ? 'held' : 'sent'] += 1;
    if (failed.length > 0) return false;
    for (const { key, max } of limits) {
      const least = total(key, nowMs - DAY_MS, false);
      if (least.gt(max)) this.wrong.push(`${made.id} is sent above ${max} ${key}: ${least}`);
    }
    return true;
  }
}

test('sums allow and hold what the balances say, also after they were read again', () => {
  const world = new World();
  for (let n = 0; n < 1_000; n += 1) {
    const nowMs = START_MS + n * EVERY_MS;
    world.endUntil(nowMs);
    if (n === 400 || n === 700) world.reread(nowMs);
    world.ask(make(n, nowMs));
  }
  expect(world.wrong).toEqual([]);
  expect(world.answers.sent).toBeGreaterThan(250);
  expect(world.answers.held).toBeGreaterThan(100);
});
