import { createHash } from 'node:crypto';
import { type Amount, covers, decimal, sum, toAmount } from '../money.js';
import type { BreachedRule } from '../order/activities.js';
import { maskWallets } from '../wallets.js';
import { type FailedLimit, type Limit, type MadePayout, MOST_MADE, type Spend } from './ledger.js';

const DAY_MS = 86_400_000;

/** Periods of sums, in ms. Both roll: they end now. */
const PERIODS = { day: DAY_MS, '30 days': 30 * DAY_MS } as const;

type Period = keyof typeof PERIODS;

export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/** Effect of a breach: a person decides, the order ends without a send, or it is only shown. */
type BreachEffect = 'park' | 'refuse' | 'warn';

/** One rule of POLICY_FILE. Amounts are decimal strings, times are `hh:mm` in UTC. */
export type PolicyRule =
  /** Highest sum of a currency, of the account or of each payee. */
  | { rule: 'sum'; per: Period; currency: string; of?: 'payee'; max: Amount; breach: BreachEffect }
  /** Highest number of payouts to one payee within a day. */
  | { rule: 'count'; max: number; breach: BreachEffect }
  /** Payees that may be paid, as keyed hashes. */
  | { rule: 'payees'; allowed: readonly string[]; breach: BreachEffect }
  /** Highest payout to a payee that was never paid before. */
  | { rule: 'new-payee'; currency: string; above: Amount; breach: BreachEffect }
  /** A larger amount needs the approvals of so many persons. */
  | { rule: 'tier'; currency: string; above: Amount; approvers: number }
  | { rule: 'hours'; open: readonly OpenHours[]; breach: BreachEffect }
  /** Shows payouts of the same amount to the same payee, made within these days. */
  | { rule: 'paid-before'; days: number; breach: 'warn' };

/** Hours in UTC on which orders are sent: `from` counts, `to` does not. */
interface OpenHours {
  days: readonly (typeof WEEKDAYS)[number][];
  from: string;
  to: string;
}

/** Amounts and payees of an order, for rules. A missing amount cannot be estimated. */
export interface Payout {
  orderId: string;
  /** First what leaves the balance, if any. */
  amounts: readonly { currency: string; amount?: Amount | undefined }[];
  /**
   * Keyed hashes of payees, and what each gets. `same`: payee and amount in one text, set if a rule
   * compares them. Empty without a payout or a key.
   */
  payees: readonly { payee: string; currency: string; amount?: Amount | undefined; same?: string }[];
}

/** Rule that an order breaches, in words. */
export interface Breach extends BreachedRule {
  effect: BreachEffect;
  says: string;
  paid?: PaidBefore[];
}

/** Payout of another order. `day`: in UTC. */
interface PaidBefore {
  orderId: string;
  day: string;
  amount: Amount;
  currency: string;
}

type Kind = PolicyRule['rule'];
type RuleOf<K extends Kind> = Extract<PolicyRule, { rule: K }>;
type Said = Pick<Breach, 'says' | 'amount'>;
/** Breach with its figure, or a limit that only the ledger can judge. */
type Test = Said | Limit;

interface Row<K extends Kind> {
  name: (rule: RuleOf<K>) => string;
  tests: (rule: RuleOf<K>, payout: Payout, nowMs: number) => Test[];
}

const inCurrency = <T extends { currency: string }>(all: readonly T[], currency: string): T[] =>
  all.filter((one) => one.currency === currency);

const notEstimated = (currency: string) => ({ says: `the amount in ${currency} cannot be estimated from the rates` });

/** THE table of rules: the name of each, and what it tests. */
const TABLE: { [K in Kind]: Row<K> } = {
  sum: {
    name: ({ per, currency, of }) => `${currency} per ${per}${of ? ' and payee' : ''}`,
    tests: ({ per, currency, of, max }, { amounts, payees }) => {
      const parts = inCurrency(of ? payees : amounts, currency);
      if (parts.some(({ amount }) => amount === undefined)) return [notEstimated(currency)];
      const keys = of ? payees.map(({ payee }) => `${currency} ${payee}`) : [currency];
      return parts.length === 0 ? [] : unique(keys).map((key) => ({ key, windowMs: PERIODS[per], max }));
    },
  },
  count: {
    name: () => 'payouts per day and payee',
    tests: ({ max }, { payees }) =>
      unique(payees.map(({ payee }) => countKey(payee))).map((key) => ({ key, windowMs: DAY_MS, max: String(max) })),
  },
  payees: {
    name: () => 'allowed payees',
    tests: ({ allowed }, { payees, amounts: [most] }) =>
      payees.every(({ payee }) => allowed.includes(payee))
        ? []
        : [{ says: 'the payee is not in the list of allowed payees', amount: most?.amount }],
  },
  'new-payee': {
    name: ({ above, currency }) => `new payee above ${above} ${currency}`,
    tests: ({ above, currency }, { payees }) =>
      unique(inCurrency(payees, currency).map(({ payee }) => payee)).flatMap((payee) => {
        const parts = payees.filter((one) => one.payee === payee);
        const isUnknown = parts.some(({ amount }) => amount === undefined);
        const total = sum(parts.map(({ amount = '0' }) => decimal(amount)));
        return isUnknown || total.gt(above) ? [{ paid: payee }] : [];
      }),
  },
  tier: {
    name: ({ above, currency }) => `amount above ${above} ${currency}`,
    tests: ({ above, currency }, { amounts }) =>
      inCurrency(amounts, currency).flatMap(({ amount }) => {
        if (amount === undefined) return [notEstimated(currency)];
        const says = `${amount} ${currency} is above ${above} ${currency}`;
        return decimal(amount).gt(above) ? [{ says, amount }] : [];
      }),
  },
  hours: {
    name: () => 'hours',
    tests: ({ open }, { amounts: [most] }, nowMs) =>
      isOpen(open, nowMs) ? [] : [{ says: `it is ${shownTime(nowMs)} UTC`, amount: most?.amount }],
  },
  'paid-before': {
    name: () => 'paid before',
    tests: ({ days }, { payees }) => {
      const same = payees.flatMap((one) => one.same ?? []);
      return same.length > 0 ? [{ same, windowMs: days * DAY_MS }] : [];
    },
  },
};

const rowOf = (rule: PolicyRule) => TABLE[rule.rule] as Row<Kind>;

const unique = <T>(all: readonly T[]): T[] => [...new Set(all)];

const countKey = (payee: string): string => `# ${payee}`;

/** Returns the name of a rule, unique within an account. Approvals and reasons name it. */
export const ruleName = (rule: PolicyRule): string => rowOf(rule).name(rule as never);

/** Returns true if a rule is about payees, for which the file needs `payeeKey`. */
export const isAboutPayees = (rule: PolicyRule): boolean =>
  rule.rule === 'sum' ? rule.of === 'payee' : rule.rule !== 'tier' && rule.rule !== 'hours';

const shownTime = (ms: number): string =>
  `${WEEKDAYS[new Date(ms).getUTCDay()] ?? ''} ${new Date(ms).toISOString().slice(11, 16)}`;

function isOpen(open: readonly OpenHours[], nowMs: number): boolean {
  const [day = '', time = ''] = shownTime(nowMs).split(' ');
  return open.some(({ days, from, to }) => days.some((one) => one === day) && from <= time && time < to);
}

/** Returns what an order adds to sums and counts. */
export function spendsOf({ orderId, amounts, payees }: Payout): Spend[] {
  const known = <T extends { amount?: Amount | undefined }>(all: readonly T[]) =>
    all.flatMap(({ amount, ...one }) => (amount === undefined ? [] : [{ ...one, amount }]));
  return added([
    ...known(amounts).map(({ currency, amount }): Spend => [currency, amount]),
    ...known(payees).map(({ payee, currency, amount }): Spend => [`${currency} ${payee}`, amount]),
    ...payees.map(({ payee }): Spend => [countKey(payee), '1']),
    ...unique(payees.flatMap(({ same }) => same ?? [])).map((same): Spend => [`= ${same} ${orderId}`, '1']),
  ]);
}

/** Adds up the spends of one key. */
const added = (spends: readonly Spend[]): Spend[] =>
  unique(spends.map(([key]) => key)).map((key) => {
    const [first = '0', ...more] = spends.flatMap(([one, amount]) => (one === key ? [amount] : []));
    return [key, more.length === 0 ? first : toAmount(sum([first, ...more].map(decimal)))];
  });

/** Breaches that need no sums, and the limits for the ledger by the name of their rule. */
interface Tested {
  breaches: Breach[];
  /** `amount`: of the order itself. */
  limits: { rule: string; limit: Limit; amount?: Amount | undefined }[];
}

/**
 * Tests an order by all rules. What persons approved is no breach up to the order's own amount,
 * whatever other orders have added to a sum since.
 */
export function testRules(
  rules: readonly PolicyRule[],
  payout: Payout,
  approved: readonly BreachedRule[],
  nowMs: number,
): Tested {
  const tested: Tested = { breaches: [], limits: [] };
  const own = new Map(spendsOf(payout));
  const [most] = payout.amounts;
  for (const rule of rules) {
    for (const test of rowOf(rule).tests(rule as never, payout, nowMs)) {
      const about = aboutOf(rule, test);
      const amount = rule.rule === 'count' ? most?.amount : own.get(about);
      const breach = breachOf(rule, 'says' in test ? test : { says: '', amount }, about);
      if (approved.some((one) => one.terms === breach.terms && covers(one.amount, breach.amount))) continue;
      if ('says' in test) tested.breaches.push(breach);
      else tested.limits.push({ rule: breach.rule, limit: test, amount: breach.amount });
    }
  }
  return tested;
}

/** Returns the sum or payee that a test is about, if any. */
function aboutOf(rule: PolicyRule, test: Test): string {
  if ('paid' in test && rule.rule === 'new-payee') return `${rule.currency} ${test.paid}`;
  return 'key' in test ? test.key : '';
}

/** Returns a breach. Its terms are the whole rule, read only if asked for, and what it is about. */
function breachOf(rule: PolicyRule, { says, amount }: Said, about: string): Breach {
  const { breach: effect = 'park', approvers = 1 }: { breach?: BreachEffect; approvers?: number } = rule;
  const needs = approvers > 1 ? `${says}, so ${approvers} persons must approve it` : says;
  return {
    ...{ rule: ruleName(rule), effect, says: needs, approvers, amount },
    get terms() {
      const digest = createHash('sha256').update(JSON.stringify(rule)).digest('base64url');
      return `${digest.slice(0, 8)} ${about}`;
    },
  };
}

/** Returns the breaches of limits that the ledger found exceeded. */
export function breachesOf(
  rules: readonly PolicyRule[],
  { limits }: Pick<Tested, 'limits'>,
  failed: readonly FailedLimit[],
): Breach[] {
  return failed.flatMap((one) => {
    const found = limits[one.index];
    const rule = rules.find((each) => ruleName(each) === found?.rule);
    if (!found || !rule) return [];
    const paid = one.made?.slice(0, MOST_MADE).map(paidBefore);
    const { limit, amount } = found;
    const said = { says: failedText(rule, limit, one), amount };
    return [{ ...breachOf(rule, said, aboutOf(rule, limit)), ...(paid && { paid }) }];
  });
}

function paidBefore([same, orderId, atMs]: MadePayout): PaidBefore {
  const [, amount = '', currency = ''] = same.split(':');
  return { orderId: maskWallets(orderId), day: dayOf(atMs), amount, currency };
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Returns one text for each payout, and one if others are not known. */
export function paidTexts({ made = [], lostUntilMs }: Omit<FailedLimit, 'index'>): string[] {
  const paid = made.slice(0, MOST_MADE).map(paidBefore);
  return [
    ...paid.map((one) => `${one.amount} ${one.currency} were paid to this payee on ${one.day} by ${one.orderId}`),
    ...(lostUntilMs ? [`not all payouts up to ${dayOf(lostUntilMs)} were compared`] : []),
  ];
}

function failedText(rule: PolicyRule, limit: Limit, { total, ...other }: FailedLimit): string {
  if ('paid' in limit) return 'the payee was never paid before';
  if ('same' in limit) return paidTexts(other).join('; ');
  if (total === undefined) return 'more payees were paid than the policy can count';
  const unit = rule.rule === 'sum' ? ` ${rule.currency}` : ' payouts';
  return `the total would be ${total}${unit}, and at most ${limit.max}${unit} are allowed`;
}

/** Returns breaches in words, one for each rule. */
export const breachText = (breaches: readonly Pick<Breach, 'rule' | 'says'>[]): string =>
  unique(breaches.map(({ rule, says }) => `${rule}: ${says}`)).join('; ');
