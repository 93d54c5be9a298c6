import { heartbeat } from '@temporalio/activity';
import { extendedOrderId } from '../../contract/names.js';
import type { Limit, MadePayout } from '../../contract/policy/ledger.js';
import { paidTexts } from '../../contract/policy/rules.js';
import type { BatchWarnings } from '../batch/plan/warnings.js';
import type { ActivityDeps } from '../deps.js';
import { reasonOf } from '../failures.js';

/** Payees with amounts in one question, so that an answer fits into one history event. */
const ASKED_AT_ONCE = 2_000;

const NO_ORDER = { orderId: '', spends: [], reserve: false };
const DAY_MS = 86_400_000;

/** Compares the rows of a batch with payouts of other orders. */
export class PaidPlan {
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
    let lostUntilMs: number | undefined;
    for (let at = 0; at < all.length; at += ASKED_AT_ONCE) {
      heartbeat({ comparedPayouts: at });
      const limits = [{ same: all.slice(at, at + ASKED_AT_ONCE), windowMs: this.#windowMs }];
      const [answer] = (await this.deps.policyDesk?.ask(this.account, { ...NO_ORDER, limits })) ?? [];
      yield* answer?.made ?? [];
      lostUntilMs = answer?.lostUntilMs;
    }
    for (const text of paidTexts({ lostUntilMs })) this.warnings.addFirst(`the policy: ${text}`);
  }
}
