import type { Order } from '../../contract/service-objects.js';

/** Order that is known to exist. */
export interface Sentinel {
  id: string;
  uuid: string;
  createdAt: string;
  notedAtMs: number;
  /** Numbers of the answers that showed it. */
  answers: Set<number>;
}

/** Maximum number of sentinels. The youngest are kept: they reveal a delayed list best. */
const MOST_KEPT = 64;
/** Maximum number of used sentinels to remember. None may be used again. */
const MOST_SPENT = 2_000;
/** Maximum answers per sentinel. Orders in more answers are dropped, to save memory. */
const MOST_ANSWERS = 200;

/**
 * Known orders of one account. Each list must show two of them that were never asked for or shown
 * together; otherwise it is cut, old, or of another account or request.
 */
export class Sentinels {
  readonly #known = new Map<string, Sentinel>();
  readonly #spent = new Set<string>();
  #answers = 0;

  /** Each order is used from `lagMs` after it was recorded, because a list may be delayed. */
  constructor(private readonly lagMs: number) {}

  /** Records the orders of one answer. */
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

  /** Returns the usable orders, youngest first. */
  usable(): Sentinel[] {
    const untilMs = performance.now() - this.lagMs;
    return this.#youngest().filter(({ notedAtMs }) => notedAtMs <= untilMs);
  }

  /** Returns two orders that were never taken; undefined if there are none. */
  pair(): readonly [Sentinel, Sentinel] | undefined {
    const [first, ...others] = this.usable();
    const last = first && others.find(({ answers }) => isDisjoint(answers, first.answers));
    return last && [first, last];
  }

  /** Returns such a pair and never returns it again. */
  take(): readonly [Sentinel, Sentinel] | undefined {
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

  #youngest(): Sentinel[] {
    return [...this.#known.values()].sort(
      (a, b) => b.createdAt.localeCompare(a.createdAt) || b.notedAtMs - a.notedAtMs,
    );
  }
}

const isDisjoint = (some: ReadonlySet<number>, others: ReadonlySet<number>): boolean =>
  [...some].every((one) => !others.has(one));
