import { heartbeat } from '@temporalio/activity';
import type Big from 'big.js';
import { decimal, toAmount } from '../../contract/money.js';
import { extendedOrderId } from '../../contract/names.js';
import type { WithdrawRequest } from '../../contract/order/request.js';
import type { Limit, MadePayout, Spend } from '../../contract/policy/ledger.js';
import { type Breach, breachesOf, paidTexts, spendsOf, testRules } from '../../contract/policy/rules.js';
import { DAY_MS } from '../../contract/reconcile/input.js';
import type { BatchWarnings } from '../batch/plan/warnings.js';
import type { ActivityDeps } from '../deps.js';
import { reasonOf } from '../failures.js';
import { payoutOf } from './payout.js';

/** Payees with amounts in one question, so that an answer fits into one history event. */
const ASKED_AT_ONCE = 2_000;

/** A question of no order: any id could be the one of an order that counts. */
const NO_ORDER = { orderId: '', spends: [], reserve: false };

/** Compares the rows of a batch with payouts of other orders. */
class PaidPlan {
  readonly #linesOf = new Map<string, number[]>();
  #windowMs = 0;

  constructor(
    private readonly deps: ActivityDeps,
    private readonly account: string,
    private readonly warnings: BatchWarnings,
  ) {}

  add(line: number, { same, windowMs }: Extract<Limit, { same: unknown }>): void {
    this.#windowMs = windowMs;
    for (const one of same) {
      const lines = this.#linesOf.get(one) ?? [];
      lines.push(line);
      this.#linesOf.set(one, lines);
    }
  }

  /** Warns of rows whose payee got the same amount by an order that no row has. */
  async warn(rowIds: ReadonlyMap<string, number>): Promise<void> {
    const paid = new Map<number, string>();
    try {
      for await (const made of this.#made()) {
        if (rowIds.has(extendedOrderId(made[1]))) continue;
        const [text = ''] = paidTexts({ made: [made] });
        for (const line of this.#linesOf.get(made[0]) ?? []) paid.set(line, paid.get(line) ?? text);
      }
    } catch (error) {
      this.warnings.addFirst(`the policy could not be asked (${reasonOf(error)}): earlier payouts were not compared`);
    }
    const lines = [...paid.keys()].sort((a, b) => a - b);
    for (const line of lines) this.warnings.add(`paid ${line}`, paid.get(line) ?? '', line);
    if (lines.length === 0) return;
    this.warnings.addFirst(
      `${lines.length} of ${rowIds.size} rows pay the same amount to the same payee as an earlier order of the last ${this.#windowMs / DAY_MS} days, and are paid besides it; check first whether they are the same payment`,
      lines,
    );
  }

  /** Returns payouts with the payees and amounts of rows, the newest of each first. */
  async *#made(): AsyncGenerator<MadePayout> {
    const all = [...this.#linesOf.keys()];
    let lostUntilMs = 0;
    for (let at = 0; at < all.length; at += ASKED_AT_ONCE) {
      heartbeat({ comparedPayouts: at });
      const limits = [{ same: all.slice(at, at + ASKED_AT_ONCE), windowMs: this.#windowMs }];
      const [answer] = (await this.deps.policyDesk?.ask(this.account, { ...NO_ORDER, limits })) ?? [];
      yield* answer?.made ?? [];
      lostUntilMs = Math.max(lostUntilMs, answer?.lostUntilMs ?? 0);
    }
    for (const text of paidTexts({ lostUntilMs })) this.warnings.addFirst(`the policy: ${text}`);
  }
}

/** Limits of a batch that are asked for. Each payee has its own. */
const MOST_LIMITS = 2_000;

const EFFECTS: Record<Breach['effect'], string> = {
  park: 'waits for a person',
  refuse: 'ends without being sent',
  warn: 'is sent all the same',
};

/** Judges a batch by the policy: each row, and all rows together. Reserves nothing. */
export class PolicyPlan {
  readonly #limits = new Map<string, { rule: string; limit: Limit }>();
  readonly #totals = new Map<string, Big>();
  #isCut = false;
  readonly paid: PaidPlan;

  constructor(
    private readonly deps: ActivityDeps,
    private readonly account: string,
    private readonly warnings: BatchWarnings,
  ) {
    this.paid = new PaidPlan(deps, account, warnings);
  }

  /** Takes a row. Warns at once of a rule that needs no sums. */
  add(line: number, order: WithdrawRequest): void {
    const policy = this.deps.policies?.get(this.account);
    if (!policy) return;
    const payout = payoutOf(policy, 'withdraw', order, { from: order.amount, to: order.amount });
    const { breaches, limits } = testRules(policy.rules, payout, [], Date.now());
    for (const { rule, effect } of breaches) {
      this.warnings.add(`policy ${rule}`, `the policy, ${rule}: each of these rows ${EFFECTS[effect]}`, line);
    }
    for (const one of limits) {
      if ('same' in one.limit) {
        this.paid.add(line, one.limit);
        continue;
      }
      const key = JSON.stringify([one.rule, one.limit]);
      if (this.#limits.size < MOST_LIMITS) this.#limits.set(key, one);
      else this.#isCut ||= !this.#limits.has(key);
    }
    for (const [key, amount] of spendsOf(payout)) {
      this.#totals.set(key, decimal(amount).plus(this.#totals.get(key) ?? 0));
    }
  }

  /** Warns, with figures, of sums that the whole batch would exceed. */
  async warnOfSums(): Promise<void> {
    const { rules = [] } = this.deps.policies?.get(this.account) ?? {};
    const limits = [...this.#limits.values()];
    if (limits.length === 0) return;
    if (this.#isCut) this.warnings.addFirst(`the policy: the sums of more than ${MOST_LIMITS} payees were not judged`);
    const asked = new Set(limits.flatMap(({ limit }) => ('key' in limit ? [limit.key] : [])));
    const totals = [...this.#totals].filter(([key]) => asked.has(key));
    const question = {
      ...NO_ORDER,
      spends: totals.map(([key, total]): Spend => [key, toAmount(total)]),
      limits: limits.map(({ limit }) => limit),
    };
    try {
      const failed = (await this.deps.policyDesk?.ask(this.account, question)) ?? [];
      const breaches = breachesOf(rules, { limits }, failed);
      for (const name of new Set(breaches.map(({ rule }) => rule))) {
        const own = breaches.filter(({ rule }) => rule === name);
        const [first] = own;
        const more = own.length > 1 ? `, and so for ${own.length - 1} more payees` : '';
        if (first)
          this.warnings.addFirst(`the policy, ${name}: ${first.says}${more}; a row above it ${EFFECTS[first.effect]}`);
      }
    } catch (error) {
      this.warnings.addFirst(`the policy could not be asked (${reasonOf(error)}): its sums were not judged`);
    }
  }
}
