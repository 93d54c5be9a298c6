import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { wholeList } from '../../../payment-service/paging.js';
import type { Account } from '../../deps.js';
import { noReading, reasonOf } from '../../failures.js';
import { ordersOfIds } from '../../orders-of-ids.js';
import { PacedReads } from '../../paced-reads.js';
import { likelyForms, looseForm } from './similar-ids.js';
import type { BatchWarnings } from './warnings.js';

/** Ids of one request, and orders of one answer: the most that the service takes. */
const IDS_AT_ONCE = 1_000;
/** A plan does not wait long for a list that it can do without. */
const TRIES = 3;
/** A request may have to wait for its turn, longer than the server waits for a sign of life. */
const BEAT_EVERY_MS = 5_000;

/**
 * Finds rows whose ids, or likely other forms of them, have an order already. A payroll that uses
 * last week's ids would find out too late.
 */
export class ExistingOrders {
  readonly #reads: PacedReads;
  /** The lines of the ids that wait to be asked for. */
  #waiting = new Map<string, number>();
  /** Lines whose ids have an order, and those whose ids only look like the id of one. */
  readonly #existing = new Set<number>();
  readonly #similar = new Set<number>();
  #problem?: { fromLine: number; reason: string };

  constructor(account: Account) {
    this.#reads = new PacedReads(account, TRIES);
  }

  /** Takes a good row in; asks the service once there are enough. */
  async add(line: number, orderId: string): Promise<void> {
    if (this.#problem) return;
    this.#waiting.set(orderId, line);
    if (this.#waiting.size >= IDS_AT_ONCE) await this.#ask();
  }

  /** Asks for the rest and warns of what was found, and of what could not be asked. */
  async warn(warnings: BatchWarnings, rows: number): Promise<void> {
    await this.#ask();
    if (this.#similar.size > 0) {
      warnings.addFirst(
        `${this.#similar.size} of ${rows} rows have an id that differs only by case, leading zeros or ".0" from that of an order at the service, and are paid besides it; check first whether that order paid the same`,
        sorted(this.#similar),
      );
    }
    if (this.#existing.size > 0) {
      warnings.addFirst(
        `${this.#existing.size} of ${rows} rows have an order at the service already and are not paid again; a new payroll needs order ids of its own`,
        sorted(this.#existing),
      );
    }
    if (!this.#problem) return;
    const { fromLine, reason } = this.#problem;
    warnings.addFirst(
      `the order list was not to be had (${reason}): whether rows have an order already was not checked from line ${fromLine} on`,
    );
  }

  async #ask(): Promise<void> {
    const lineOf = this.#waiting;
    this.#waiting = new Map();
    const [fromLine] = lineOf.values();
    if (fromLine === undefined) return;
    const beat = setInterval(() => heartbeat({ askedFromLine: fromLine }), BEAT_EVERY_MS);
    try {
      const ids = [...lineOf.keys()];
      const looseLines = new Map(ids.map((id) => [looseForm(id), lineOf.get(id)]));
      const wanted = [...ids, ...likelyForms(ids)];
      for (let start = 0; start < wanted.length; start += IDS_AT_ONCE) {
        for (const id of await listedIds(this.#reads, wanted.slice(start, start + IDS_AT_ONCE))) {
          const line = lineOf.get(id);
          const similar = looseLines.get(looseForm(id));
          if (line !== undefined) this.#existing.add(line);
          else if (similar !== undefined) this.#similar.add(similar);
        }
      }
    } catch (error) {
      cancellationSignal().throwIfAborted();
      // The service is not asked for the other rows: each request could take as long as this one did.
      this.#problem = { fromLine, reason: reasonOf(error) };
    } finally {
      clearInterval(beat);
    }
  }
}

const sorted = (lines: Iterable<number>): number[] => [...lines].sort((a, b) => a - b);

/** Returns which of the ids have an order. Throws service errors, and NoReading where the answer proves nothing. */
async function listedIds(reads: PacedReads, ids: readonly string[]): Promise<string[]> {
  const { items, malformed } = await wholeList(ordersOfIds(ids, reads.orders()));
  if (malformed.length > 0) throw noReading('it shows an order that cannot be read');
  return items.map(({ user_order_id }) => user_order_id);
}
