import { cancellationSignal, heartbeat } from '@temporalio/activity';
import { MAX_ORDER_ID_LENGTH } from '../../../contract/ids.js';
import type { CallOptions, PaymentService } from '../../../payment-service/index.js';
import type { Account } from '../../deps.js';
import { noReading, reasonOf } from '../../failures.js';
import { PacedReads } from '../../reconcile/paced-reads.js';
import { type BatchWarnings, MAX_LINES } from './warnings.js';

/** Ids of one request, and orders of one answer: the most that the service takes. */
const IDS_AT_ONCE = 1_000;
const ID_BYTES = MAX_ORDER_ID_LENGTH + '\n'.length;
/** A plan does not wait long for a list that it can do without. */
const TRIES = 3;
/** A request may have to wait for its turn, longer than the server waits for a sign of life. */
const BEAT_EVERY_MS = 5_000;

/**
 * Finds rows whose ids have an order at the service already: they will not be paid again, which a payroll that uses last
 * week's ids finds out too late. Keeps the ids of one request at a time, as bytes: strings that outlive so many rows
 * would swell the heap.
 */
export class ExistingOrders {
  readonly #reads: PacedReads;
  readonly #ids = Buffer.alloc(IDS_AT_ONCE * ID_BYTES);
  readonly #idLines = new Uint32Array(IDS_AT_ONCE);
  #waiting = { ids: 0, bytes: 0 };
  #lines: number[] = [];
  #count = 0;
  #problem?: { fromLine: number; reason: string };

  constructor(account: Account) {
    this.#reads = new PacedReads(account, { tries: TRIES });
  }

  /** Takes a good row in; asks the service once there are enough. */
  async add(line: number, orderId: string): Promise<void> {
    if (this.#problem) return;
    this.#idLines[this.#waiting.ids] = line;
    this.#waiting.bytes += this.#ids.write(`${orderId}\n`, this.#waiting.bytes);
    this.#waiting.ids += 1;
    if (this.#waiting.ids >= IDS_AT_ONCE) await this.#ask();
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
    const lineOf = this.#takeWaiting();
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

  /** The lines of the ids that wait to be asked for. */
  #takeWaiting(): Map<string, number> {
    const ids = this.#ids.toString('latin1', 0, this.#waiting.bytes).split('\n', this.#waiting.ids);
    this.#waiting = { ids: 0, bytes: 0 };
    return new Map(ids.map((id, index) => [id, this.#idLines[index] ?? 0]));
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
