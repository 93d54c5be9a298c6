import { cancellationSignal, heartbeat } from '@temporalio/activity';
import type { PaymentService } from '../../../payment-service/client.js';
import type { CallOptions } from '../../../payment-service/transport.js';
import type { Account } from '../../deps.js';
import { noReading, reasonOf } from '../../failures.js';
import { PacedReads } from '../../paced-reads.js';
import { type BatchWarnings, MAX_LINES } from './warnings.js';

/** Ids of one request, and orders of one answer: the most that the service takes. */
const IDS_AT_ONCE = 1_000;
/** A plan does not wait long for a list that it can do without. */
const TRIES = 3;
/** A request may have to wait for its turn, longer than the server waits for a sign of life. */
const BEAT_EVERY_MS = 5_000;

/** Finds rows whose ids have an order already: a payroll that uses last week's ids would find out too late. */
export class ExistingOrders {
  readonly #reads: PacedReads;
  /** The lines of the ids that wait to be asked for. */
  #waiting = new Map<string, number>();
  #lines: number[] = [];
  #count = 0;
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
    if (this.#count > 0) {
      warnings.addFirst(
        `${this.#count} of ${rows} rows have an order at the service already and are not paid again; a new payroll needs order ids of its own`,
        this.#lines,
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
      const found = await this.#reads.ask((service, options) => listedIds(service, lineOf, options));
      this.#count += found.size;
      const lines = [...found].flatMap((id) => lineOf.get(id) ?? []).sort((a, b) => a - b);
      this.#lines = [...this.#lines, ...lines].slice(0, MAX_LINES);
    } catch (error) {
      cancellationSignal().throwIfAborted();
      // The service is not asked for the other rows: each request could take as long as this one did.
      this.#problem = { fromLine, reason: reasonOf(error) };
    } finally {
      clearInterval(beat);
    }
  }
}

/** Which of the ids have an order. Throws service errors, and NoReading where the answer proves nothing. */
async function listedIds(
  service: PaymentService,
  asked: ReadonlyMap<string, number>,
  options: CallOptions,
): Promise<Set<string>> {
  const page = await service.listOrders({ order_ids: [...asked.keys()], limit: IDS_AT_ONCE }, options);
  if (page.malformed.length > 0) throw noReading('it shows an order that cannot be read');
  const found = new Set(page.items.map(({ user_order_id }) => user_order_id));
  if ([...found].some((id) => !asked.has(id))) throw noReading('it shows orders of other ids');
  return found;
}
