import type Big from 'big.js';
import { decimal, toAmount } from '../../contract/money.js';
import type { WithdrawRequest } from '../../contract/order/request.js';
import type { Limit, Spend } from '../../contract/policy/ledger.js';
import { type Breach, breachesOf, spendsOf, testRules } from '../../contract/policy/rules.js';
import type { BatchWarnings } from '../batch/plan/warnings.js';
import type { ActivityDeps } from '../deps.js';
import { reasonOf } from '../failures.js';
import { PaidPlan } from './paid-plan.js';
import { payoutOf } from './payout.js';

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
      const key = JSON.stringify(one);
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
      orderId: 'batch',
      spends: totals.map(([key, total]): Spend => [key, toAmount(total)]),
      limits: limits.map(({ limit }) => limit),
      reserve: false,
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
