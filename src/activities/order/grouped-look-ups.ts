import type { Order, OrderListItem } from '../../contract/service-objects.js';
import type { PaymentService } from '../../payment-service/client.js';
import type { Page } from '../../payment-service/paging.js';
import { isOrderId, MAX_ORDERS_PER_PAGE } from '../../payment-service/queries.js';
import { Gathering, type Patience, type Ways } from './gathering.js';
import { type Sentinel, Sentinels } from './sentinels.js';
import { Witnesses } from './witnesses.js';

/** Order that was seen before. Only an item with both ids is this order. */
export interface KnownOrder {
  orderId: string;
  orderUuid: string;
}

/** Maximum orders per request for known orders, below the documented 1000. */
const MOST_KNOWN = 900;
/**
 * Maximum probes per request. An answer that is not provably whole costs each of them a request.
 */
const MOST_PROBES = 30;
/** Orders that one answer must have shown before a full group of probes is believed. */
const SHOWN_FOR_PROBES = MOST_PROBES + 3;
/** Minimum probes per group. Fewer save too little. */
const FEWEST_PROBES = 2;
/**
 * An answer with this many orders proves no absence: the service may have begun to cut its lists.
 */
const FEW = 10;
/** Maximum wait for a group's answer before a question is asked alone; 'soon' if somebody waits. */
const TIMEOUT_MS = { soon: 2_000, late: 5_000 };
/** Maximum delay of the list. A probe is never older when its create is sent. */
const LAG_MS = 2_000;

/** Options of an account's grouped look-ups. */
interface GroupedLookUpsOptions {
  /** Number of pending look-ups of a kind from which a group leaves at once. Default: no limit. */
  mostWaiting?: number;
  /** Age from which a recorded order may be a sentinel. Default: 2 s. */
  lagMs?: number;
}

/**
 * Answers look-ups of one account together, by one request of its order list. What the answer lacks
 * is asked for alone, unless the answer is provably whole. One object per key.
 */
export class GroupedLookUps {
  /** Witnesses of readings that stand alone. */
  readonly witnesses = new Witnesses();
  readonly #sentinels: Sentinels;
  /** Most of our orders in one answer: the service cuts neither its list nor the ids below that. */
  #shownAtOnce = 0;
  #calibratedWith = 0;
  readonly #polls: Gathering<KnownOrder, OrderListItem>;
  readonly #readings: Gathering<KnownOrder, OrderListItem>;
  readonly #probes: Gathering<string, OrderListItem[]>;

  constructor(
    private readonly service: Pick<PaymentService, 'turn' | 'orders'>,
    { mostWaiting = Number.POSITIVE_INFINITY, lagMs = LAG_MS }: GroupedLookUpsOptions = {},
  ) {
    this.#sentinels = new Sentinels(lagMs);
    this.#polls = new Gathering((close) => this.#find(close, TIMEOUT_MS.late), { most: MOST_KNOWN, mostWaiting });
    // Separate from polls, which wait long: somebody waits for these.
    this.#readings = new Gathering((close) => this.#find(close, TIMEOUT_MS.soon), { most: MOST_KNOWN, mostWaiting });
    this.#probes = new Gathering((close) => this.#probe(close), { most: MOST_PROBES, mostWaiting });
  }

  /** Records an order that the service accepted. `sentAtMs`, `monotonicMs`: when it was sent. */
  noteCreated(order: Order, sentAtMs: number, monotonicMs?: number): void {
    this.witnesses.noteAccepted(order, sentAtMs, monotonicMs);
    this.#sentinels.note([order]);
  }

  /** Polls a known order. */
  poll = <T>(known: KnownOrder, patience: Patience, ways: Ways<OrderListItem, T>): Promise<T> =>
    isOrderId(known.orderId) ? this.#polls.ask(known, patience, ways) : ways.alone();

  /** Reads a known order. */
  read = <T>(known: KnownOrder, patience: Patience, ways: Ways<OrderListItem, T>): Promise<T> =>
    isOrderId(known.orderId) ? this.#readings.ask(known, patience, ways) : ways.alone();

  /** Reads the orders under an id that nothing was sent under yet; [] if it is absent. */
  probe<T>(orderId: string, patience: Patience, ways: Ways<OrderListItem[], T>): Promise<T> {
    const mayBeGrouped =
      this.#sentinels.pair() && roomFor(Math.max(this.#shownAtOnce, this.#couldShow())) >= FEWEST_PROBES;
    return mayBeGrouped ? this.#probes.ask(orderId, patience, ways) : ways.alone();
  }

  /** Returns how many known orders the list could be asked for besides two sentinels. */
  #couldShow = (): number => Math.min(Math.max(this.#sentinels.usable().length - 2, 0), SHOWN_FOR_PROBES);

  #list(ids: readonly string[], timeoutMs: number): Promise<Page<OrderListItem>> {
    const query = { order_ids: [...new Set(ids)], limit: MAX_ORDERS_PER_PAGE };
    return this.service.orders({ turn: 'taken', timeoutMs }).page(query);
  }

  async #find(
    close: () => readonly KnownOrder[],
    timeoutMs: number,
  ): Promise<(known: KnownOrder) => OrderListItem | undefined> {
    await this.service.turn('look-up');
    const asked = close();
    const orderIds = asked.map(({ orderId }) => orderId);
    const { items } = await this.#list(orderIds, timeoutMs);
    const found = matching(items, asked);
    this.#sentinels.note([...found.values()]);
    this.#shownAtOnce = Math.max(this.#shownAtOnce, found.size);
    return ({ orderUuid }) => found.get(orderUuid);
  }

  async #probe(close: () => readonly string[]): Promise<(orderId: string) => OrderListItem[] | undefined> {
    await this.#calibrate();
    const room = roomFor(this.#shownAtOnce);
    const sentinels = room >= FEWEST_PROBES && this.#sentinels.take();
    if (!sentinels) return () => undefined;
    const [{ id: first }, { id: last }] = sentinels;
    await this.service.turn('look-up');
    const asked = [...new Set(close())].filter((id) => id !== first && id !== last).slice(0, room);
    const ids = [first, ...asked, last];
    const page = await this.#list(ids, TIMEOUT_MS.soon);
    if (!isWhole(page, ids, sentinels)) return () => undefined;
    return (orderId) => {
      const items = page.items.filter((item) => item.user_order_id === orderId);
      const isTold = asked.includes(orderId) && (items.length > 0 || page.items.length < FEW);
      return isTold ? items : undefined;
    };
  }

  /** Reads more orders at once whenever twice as many are known, up to a full group's need. */
  async #calibrate(): Promise<void> {
    const could = this.#couldShow();
    const enough = Math.min(SHOWN_FOR_PROBES, 2 * Math.max(this.#shownAtOnce, this.#calibratedWith));
    if (could <= this.#shownAtOnce || could < enough) return;
    this.#calibratedWith = could;
    const known = this.#sentinels.usable().slice(2, 2 + could);
    await this.#find(() => known.map(({ id: orderId, uuid: orderUuid }) => ({ orderId, orderUuid })), TIMEOUT_MS.soon);
  }
}

/** Maximum orders that a group of probes may name besides its sentinels. */
const roomFor = (shownAtOnce: number): number => shownAtOnce - 3;

/** Returns the requested orders by uuid, without any that are listed twice. */
function matching(items: readonly OrderListItem[], asked: readonly KnownOrder[]): Map<string, OrderListItem> {
  const idOf = new Map(asked.map(({ orderId, orderUuid }) => [orderUuid, orderId]));
  const found = new Map<string, OrderListItem>();
  const repeated = new Set<string>();
  for (const item of items) {
    if (idOf.get(item.order_uuid) !== item.user_order_id || item.unreadable || item.empty) continue;
    if (found.has(item.order_uuid)) repeated.add(item.order_uuid);
    found.set(item.order_uuid, item);
  }
  for (const uuid of repeated) found.delete(uuid);
  return found;
}

/**
 * Decides whether what an answer lacks is absent: few enough ids, both sentinels shown, and only
 * readable, requested items, each once.
 */
function isWhole(
  { items, malformed }: Page<OrderListItem>,
  asked: readonly string[],
  sentinels: readonly Sentinel[],
): boolean {
  const uuids = new Map(items.map((item) => [item.user_order_id, item.order_uuid]));
  return (
    malformed.length === 0 &&
    uuids.size === items.length &&
    items.every((item) => asked.includes(item.user_order_id) && !item.unreadable && !item.empty) &&
    sentinels.every(({ id, uuid }) => uuids.get(id) === uuid)
  );
}
