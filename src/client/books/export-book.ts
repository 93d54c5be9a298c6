import type {
  BookFollowUp,
  BookItem,
  BookLine,
  BookPage,
  BookQuery,
  EndLine,
  MissingLine,
  OrderLine,
} from '../../contract/books/book.js';
import type { BookPeriod } from '../../contract/books/period.js';
import { AHEAD_OF_UTC_MS, dateTimeMs, serviceTime, ZONE_SLACK_MS } from '../../contract/reconcile/input.js';
import { type Balances, isFinal } from '../../contract/service-objects.js';
import { linesOf, undatedIn } from './order-lines.js';
import type { BookRun, OurOrders } from './our-orders.js';
import { ServiceClock } from './service-clock.js';
import { Sums } from './sums.js';

/** Reads of Temporal and of the service that a book needs. */
export interface BookReads {
  ours(): Promise<OurOrders>;
  page(query: BookQuery): Promise<BookPage>;
  balances(): Promise<Balances>;
}

/** Progress of an export: orders read, and the creation time up to which they were read. */
export interface BookProgress {
  read: number;
  until: string;
}

const IDS_AT_ONCE = 500;
/** Orders that a request should find, of at most 500. */
const FILLED = 400;
const SECOND_MS = 1_000;
/** The clock that is farthest behind UTC. */
const BEHIND_UTC_MS = ZONE_SLACK_MS - AHEAD_OF_UTC_MS;

/**
 * Yields the lines of a book: orders, what is missing, the sums by currency, and the end. An order
 * stands where it ended; balance changes stand where they happened.
 */
export async function* exportBook(
  reads: BookReads,
  period: BookPeriod,
  onProgress?: (progress: BookProgress) => void,
  clock = new ServiceClock(period.toMs),
): AsyncGenerator<BookLine, void> {
  const before = period.untilNow ? await reads.balances() : undefined;
  const ours = await reads.ours();
  const book = new Book(reads, period, ours, clock);
  for await (const items of book.pages()) {
    yield* await book.linesOf(items);
    onProgress?.(book.progress);
  }
  const sums = book.sums.lines(before && [before, await reads.balances()]);
  yield* book.allMissing();
  yield* sums;
  yield book.end(sums.filter(({ difference }) => difference !== '0').length);
}

/** State of an export. */
class Book {
  readonly progress: BookProgress = { read: 0, until: '' };
  readonly missing: MissingLine[] = [];
  readonly sums: Sums;
  readonly #seen = new Set<string>();
  readonly #counts = { order: 0, open: 0, part: 0, late: 0 };
  readonly #within: { from: string; to: string };

  constructor(
    private readonly reads: BookReads,
    private readonly period: BookPeriod,
    private readonly ours: OurOrders,
    private readonly clock: ServiceClock,
  ) {
    this.sums = new Sums(period);
    this.#within = { from: serviceTime(period.fromMs), to: serviceTime(period.toMs) };
  }

  /** Yields the orders by their creation, then those of ours that were created before. */
  async *pages(): AsyncGenerator<BookItem[]> {
    const endMs = Math.min(this.period.toMs, Date.now()) + ZONE_SLACK_MS;
    let fromMs = this.period.fromMs - ZONE_SLACK_MS;
    let widthMs = endMs - fromMs;
    while (fromMs < endMs) {
      const toMs = Math.min(fromMs + widthMs, endMs);
      const { items, next } = await this.#read({ date_from: serviceTime(fromMs), date_to: serviceTime(toMs) });
      yield items;
      const readMs = next === undefined ? toMs : dateTimeMs(next);
      if (readMs === undefined || readMs <= fromMs - SECOND_MS) throw new Error(`no orders were read from ${next} on`);
      // As long as fills most of a request, because halving a longer time costs more requests.
      widthMs = Math.max(SECOND_MS, ((readMs - fromMs) * FILLED) / Math.max(1, items.length));
      fromMs = readMs;
    }
    yield* this.#unseen();
  }

  /** Reads orders that the list by dates lacks, and names those that the service does not show. */
  async *#unseen(): AsyncGenerator<BookItem[]> {
    const isUnseen = ({ orderId, orderUuid = '' }: Pick<BookRun, 'orderId' | 'orderUuid'>) =>
      !this.#seen.has(orderId) && !this.#seen.has(orderUuid);
    const runs = this.ours.all().filter((run) => run.status !== 'none' && isUnseen(run));
    const changed = [...this.ours.changed].filter(([orderId]) => isUnseen({ orderId }));
    const ids = [...new Set([...runs.map(({ orderId }) => orderId), ...changed.map(([orderId]) => orderId)])];
    for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
      yield (await this.#read({ order_ids: ids.slice(at, at + IDS_AT_ONCE) })).items;
    }
    for (const run of runs.filter(isUnseen)) this.#missRun(run);
    for (const [orderId, { atMs }] of changed) {
      const isMissed = this.missing.some(({ order_id: id }) => id === orderId);
      if (isUnseen({ orderId }) && !isMissed)
        this.#miss(atMs, { order_id: orderId, reason: `it changed after its end: ${NOT_SHOWN}` });
    }
  }

  async #read(query: BookQuery): Promise<BookPage> {
    const page = await this.reads.page(query);
    // Times of requests share a second, so an order may come twice.
    const items = page.items.filter(({ order_uuid: uuid }) => !this.#seen.has(uuid) && this.#seen.add(uuid));
    for (const { user_order_id: id } of items) if (id !== '') this.#seen.add(id);
    for (const item of items) this.#recordDates(item);
    const { account } = this.period;
    for (const malformed of page.malformed) {
      this.missing.push({ kind: 'missing', account, reason: `an entry of the service cannot be read: ${malformed}` });
    }
    this.progress.read += items.length;
    if (query.date_to) this.progress.until = page.next ?? query.date_to;
    return { ...page, items };
  }

  #recordDates(item: BookItem): void {
    const { created_at, updated_at, finalized_at, balance_changes: changes } = item;
    const dates = [created_at, updated_at, finalized_at, ...changes.map((change) => change.created_at)];
    for (const date of dates) this.clock.record(date, Date.now());
    const { orderUuid, status = '', closedAt } = this.ours.of(item) ?? {};
    if (closedAt && orderUuid === item.order_uuid && isFinal(status)) this.clock.record(created_at, closedAt.getTime());
  }

  #missRun({ orderId, orderUuid, reference, status = 'open', closedAt }: BookRun): void {
    const ended = isFinal(status) ? `ended as ${status}` : `was closed as ${status}`;
    this.#miss(closedAt?.getTime() ?? 0, {
      ...{ order_id: orderId, order_uuid: orderUuid, reference },
      reason: `our workflow ${ended}: ${NOT_SHOWN}`,
    });
  }

  /** Reports a missing order if its end or change may be in the period, by whatever clock. */
  #miss(atMs: number, line: Omit<MissingLine, 'kind' | 'account'>): void {
    const { account, fromMs, toMs } = this.period;
    if (atMs >= fromMs - AHEAD_OF_UTC_MS && atMs < toMs + BEHIND_UTC_MS)
      this.missing.push({ kind: 'missing', account, ...line });
  }

  /** Returns all that is missing, which may be the period's last hours. */
  allMissing(): MissingLine[] {
    const { account, untilNow, toMs } = this.period;
    if (!untilNow && !this.clock.hasPassed()) {
      const reason = `the period may not be over by the service's clock: export it again after ${serviceTime(toMs + BEHIND_UTC_MS)} UTC`;
      this.missing.push({ kind: 'missing', account, reason });
    }
    for (const currency of this.sums.unclear) {
      const reason = `opening and closing of ${currency}: several balances are possible, as its changes of one second cancel out`;
      this.missing.push({ kind: 'missing', account, reason });
    }
    return this.missing;
  }

  /** Returns the lines of orders, and counts their balance changes. */
  async linesOf(items: readonly BookItem[]): Promise<OrderLine[]> {
    const followUps = await this.#followUps(items);
    const lined = (item: BookItem): OrderLine[] =>
      linesOf(item, this.#within, {
        account: this.period.account,
        entry: this.ours.of(item),
        changed: this.ours.changeOf(item),
        followUps: this.ours.followUpsOf(item.user_order_id).map((one) => followUps.get(one) ?? { order_id: one }),
      });
    const late = items.filter((item) => lined(item).some(({ kind }) => kind === 'late'));
    await this.ours.readMore(late.map(({ user_order_id: id }) => id));
    return items.flatMap((item) => {
      const { user_order_id: id, order_uuid: uuid, unreadable } = item;
      this.sums.add(item.balance_changes);
      const lines = lined(item);
      for (const { kind } of lines) this.#counts[kind] += 1;
      const undated = undatedIn(item, this.#within, this.ours.changeOf(item));
      const fields = [...((lines.length > 0 && unreadable) || []), ...undated];
      if (fields.length > 0) {
        const reason = `the service shows it with fields that cannot be read: ${fields.join(', ')}`;
        this.missing.push({ kind: 'missing', account: this.period.account, order_id: id, order_uuid: uuid, reason });
      }
      return lines;
    });
  }

  async #followUps(items: readonly BookItem[]): Promise<Map<string, BookFollowUp>> {
    const shown = new Map(items.map((item) => [item.user_order_id, item]));
    const ids = items.flatMap(({ user_order_id: id }) => this.ours.followUpsOf(id)).filter((id) => !shown.has(id));
    for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
      const page = await this.reads.page({ order_ids: ids.slice(at, at + IDS_AT_ONCE) });
      for (const item of page.items) shown.set(item.user_order_id, item);
    }
    return new Map([...shown].map(([id, item]) => [id, followUpOf(item)]));
  }

  end(differences: number): EndLine {
    const { order: orders, open, part: parts, late } = this.#counts;
    const { account } = this.period;
    const counts = { orders, open, parts, late, missing: this.missing.length, differences };
    const to = this.period.untilNow ? this.clock.reached(this.period.fromMs) : this.#within.to;
    return { kind: 'end', account, from: this.#within.from, to, ...counts };
  }
}

const NOT_SHOWN = 'the service does not show the order; ask the service';

const followUpOf = (item: BookItem): BookFollowUp => ({
  order_id: item.user_order_id,
  currency: item.currency_from,
  amount: item.amount_from ?? item.expected_amount_from,
  status: item.status,
});
