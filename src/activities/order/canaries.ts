import type { Order } from '../../contract/service-objects.js';

/** An order that is known to exist. */
export interface Canary {
  id: string;
  uuid: string;
  createdAt: string;
  notedAtMs: number;
  /** Numbers of the answers that showed it. */
  answers: Set<number>;
}

/** So many are kept, the youngest: they tell most about a list that lags behind. */
const MOST_KEPT = 64;
/** So many that were used are remembered: none of them may be in the answer to a later request. */
const MOST_SPENT = 2_000;
/** One that more answers showed is no canary any more: it would take memory to know with which others. */
const MOST_ANSWERS = 200;

/**
 * Orders of one account that are known to exist. A list without two of them, never asked for or
 * shown together before, is cut off, old, of another account, or of another request.
 */
export class Canaries {
  readonly #known = new Map<string, Canary>();
  readonly #spent = new Set<string>();
  #answers = 0;

  /** Each is used from `lagMs` after it was noted: a list may be so far behind. */
  constructor(private readonly lagMs: number) {}

  /** Notes the orders of one answer of the service. */
  note(orders: readonly Order[]): void {
    const [notedAtMs, answer] = [performance.now(), this.#answers];
    this.#answers += 1;
    for (const { user_order_id: id, order_uuid: uuid, created_at: createdAt } of orders) {
      if (this.#spent.has(id)) continue;
      const known = this.#known.get(id) ?? { id, uuid, createdAt, notedAtMs, answers: new Set() };
      this.#known.set(id, known);
      known.answers.add(answer);
      if (known.answers.size > MOST_ANSWERS) this.#spend(id);
    }
    for (const { id } of this.#youngest().slice(MOST_KEPT)) this.#known.delete(id);
  }

  /** Those that may be used now, the youngest first. */
  usable(): Canary[] {
    const untilMs = performance.now() - this.lagMs;
    return this.#youngest().filter(({ notedAtMs }) => notedAtMs <= untilMs);
  }

  /** Two that were never taken before; undefined where there are none. */
  pair(): readonly [Canary, Canary] | undefined {
    const [first, ...others] = this.usable();
    const last = first && others.find(({ answers }) => isDisjoint(answers, first.answers));
    return last && [first, last];
  }

  /** The same, never to be had again. */
  take(): readonly [Canary, Canary] | undefined {
    const pair = this.pair();
    for (const { id } of pair ?? []) this.#spend(id);
    return pair;
  }

  #spend(id: string): void {
    this.#known.delete(id);
    this.#spent.add(id);
    for (const oldest of this.#spent) {
      if (this.#spent.size <= MOST_SPENT) break;
      this.#spent.delete(oldest);
    }
  }

  #youngest(): Canary[] {
    return [...this.#known.values()].sort(
      (a, b) => b.createdAt.localeCompare(a.createdAt) || b.notedAtMs - a.notedAtMs,
    );
  }
}

const isDisjoint = (some: ReadonlySet<number>, others: ReadonlySet<number>): boolean =>
  [...some].every((one) => !others.has(one));
