import { appendFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { chance } from '../sandbox/chance.js';
import { ConflictError, InvalidInputError, type PaymentOrders, TemporalUnreachableError } from '../src/index.js';
import type { Failover } from './failover.js';
import { FORGED_RATE } from './faults.js';
import { type ForgedCounts, forgeCallbacks } from './forged.js';
import type { PlannedOrder } from './inputs.js';

/** A start is repeated after this long, same id and same input, until Temporal has taken it: as a backend would. */
const RETRY_AFTER_MS = 500;
/** Starts under way at once; what the dev server takes without falling behind. */
const MAX_IN_FLIGHT = 40;
/** Forged callbacks come within this time after the start. */
const FORGED_WITHIN_MS = 6_000;

/** What the load needs of the stack. */
export interface LoadTarget {
  orders: Pick<PaymentOrders, 'start'>;
  failover: Failover;
  receiverUrl: string;
  tokenKey: string;
  /** Where every start and its acceptance is written down. */
  ledgerFile: string;
  seed: string;
  signal: AbortSignal;
}

/** Starts orders at a steady rate and never gives one up. */
export class Load {
  readonly accepted = new Set<string>();
  readonly forged: ForgedCounts = { orders: 0, refused: 0, accepted: 0, unanswered: 0, wronglyAccepted: [] };
  /** Errors of the library other than "cannot reach Temporal", by name; the start was repeated. */
  readonly surprises = new Map<string, number>();
  retries = 0;
  readonly #inFlight = new Set<Promise<void>>();

  constructor(
    private readonly target: LoadTarget,
    readonly planned: readonly PlannedOrder[],
  ) {}

  /** Resolves when Temporal has taken every order. Throws on the first start that the library refuses. */
  async run(ordersPerSecond: number): Promise<void> {
    const startedAt = performance.now();
    for (const [index, order] of this.planned.entries()) {
      const dueMs = (index / ordersPerSecond) * 1_000 - (performance.now() - startedAt);
      if (dueMs > 0) await sleep(dueMs, undefined, { signal: this.target.signal });
      if (this.#inFlight.size >= MAX_IN_FLIGHT) await Promise.race(this.#inFlight);
      this.#track(this.#start(order));
      if (chance(this.target.seed, `forged ${order.orderId}`) < FORGED_RATE) this.#track(this.#forge(index));
    }
    await Promise.all(this.#inFlight);
  }

  #track(task: Promise<void>): void {
    const tracked = task.finally(() => this.#inFlight.delete(tracked));
    this.#inFlight.add(tracked);
    // Seen by `run` through the set; without this an early failure would be an unhandled rejection.
    tracked.catch(() => undefined);
  }

  async #start(order: PlannedOrder): Promise<void> {
    const { orderId, type, input } = order;
    await this.#note({ event: 'requested', orderId, type, input });
    await this.target.failover.sendLost(order);
    for (;;) {
      try {
        await this.target.orders.start(type, input);
        break;
      } catch (error) {
        if (error instanceof InvalidInputError || error instanceof ConflictError) throw error;
        this.#countRetry(error);
      }
      await sleep(RETRY_AFTER_MS, undefined, { signal: this.target.signal });
    }
    this.accepted.add(orderId);
    await this.#note({ event: 'accepted', orderId });
  }

  #countRetry(error: unknown): void {
    this.retries += 1;
    if (error instanceof TemporalUnreachableError) return;
    const name = error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 160) : 'unknown error';
    this.surprises.set(name, (this.surprises.get(name) ?? 0) + 1);
  }

  async #forge(index: number): Promise<void> {
    const { seed, signal, receiverUrl, tokenKey } = this.target;
    const [order, other] = [this.planned[index], this.planned[(index + 1) % this.planned.length]];
    if (!order || !other || order === other) return;
    await sleep(chance(seed, `forged at ${order.orderId}`) * FORGED_WITHIN_MS, undefined, { signal });
    await forgeCallbacks({ receiverUrl, tokenKey, orderId: order.orderId, otherId: other.orderId }, this.forged);
  }

  #note(line: object): Promise<void> {
    return appendFile(this.target.ledgerFile, `${JSON.stringify({ atMs: Date.now(), ...line })}\n`);
  }
}
