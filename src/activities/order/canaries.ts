import type { Order } from '../../contract/service-objects.js';

/** An order that exists: what the service named it, when it made it, when that was noted here, and the answers that showed it. */
interface Known {
  uuid: string;
  createdAt: string;
  notedAtMs: number;
  answers: Set<number>;
}

/** Order id and uuid of an order that exists. */
export type Canary = readonly [id: string, uuid: string];

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
  #known = new Map<string, Known>();
  readonly #spent = new Set<string>();
  #answers = 0;

  /** Each is used from `lagMs` after it was noted: a list may be so far behind. */
  constructor(private readonly lagMs: number) {}

  /** Notes the orders of one answer of the service. */
  note(orders: readonly Order[]): void {
    const [notedAtMs, answer] = [performance.now(), this.#answers];
    this.#answers += 1;
    for (const { user_order_id: id, order_uuid: uuid, created_at: createdAt } of orders) {
      const known = this.#known.get(id);
      if (known) known.answers.add(answer);
      else if (!this.#spent.has(id)) this.#known.set(id, { uuid, createdAt, notedAtMs, answers: new Set([answer]) });
      if (known && known.answers.size > MOST_ANSWERS) this.#spend(id);
    }
    if (this.#known.size > MOST_KEPT) this.#known = new Map(this.#youngest().slice(0, MOST_KEPT));
  }

  /** Those that may be used now, the youngest first. */
  usable(): Canary[] {
    return this.#ripe().map(([id, { uuid }]) => [id, uuid]);
  }

  /** Two that were never taken before; undefined where there are none. */
  pair(): readonly [Canary, Canary] | undefined {
    const [first, ...others] = this.#ripe();
    const last = first && others.find(([, { answers }]) => isDisjoint(answers, first[1].answers));
    return (
      last && [
        [first[0], first[1].uuid],
        [last[0], last[1].uuid],
      ]
    );
  }

  /** The same, never to be had again. */
  take(): readonly [Canary, Canary] | undefined {
    const pair = this.pair();
    for (const [id] of pair ?? []) this.#spend(id);
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

  #ripe(): [id: string, known: Known][] {
    const untilMs = performance.now() - this.lagMs;
    return this.#youngest().filter(([, { notedAtMs }]) => notedAtMs <= untilMs);
  }

  #youngest(): [id: string, known: Known][] {
    return [...this.#known].sort(([, a], [, b]) => b.createdAt.localeCompare(a.createdAt) || b.notedAtMs - a.notedAtMs);
  }
}

const isDisjoint = (some: ReadonlySet<number>, others: ReadonlySet<number>): boolean =>
  [...some].every((one) => !others.has(one));
