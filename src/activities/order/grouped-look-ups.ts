import type { Order, OrderListItem } from '../../contract/service-objects.js';
import type { PaymentService } from '../../payment-service/client.js';
import type { Page } from '../../payment-service/paging.js';
import { isOrderId, MAX_ORDERS_PER_PAGE } from '../../payment-service/queries.js';
import { Canaries, type Canary } from './canaries.js';
import { Gathering, type Patience, type Ways } from './gathering.js';
import { Witnesses } from './witnesses.js';

/** An order that was seen before: only an item with both counts as this one. */
export interface KnownOrder {
  orderId: string;
  orderUuid: string;
}

/** Most orders of one request that finds orders, below the documented 1000. */
const MOST_KNOWN = 900;
/** Most probes of one request: each answer must be provably whole, and one that is not costs them all a request. */
const MOST_PROBES = 30;
/** So many orders the list must have shown at once before a full group of probes may be believed: more than it asks for. */
const SHOWN_FOR_PROBES = MOST_PROBES + 3;
/** A smaller group saves nothing worth its doubt. */
const FEWEST_PROBES = 2;
/** From so many orders in an answer nothing is absent by it: a service that has begun to cut its lists cuts no lower. */
const FEW = 10;
/** Whoever waits for a group that the service leaves without an answer goes on alone; soon where somebody waits for it. */
const TIMEOUT_MS = { soon: 2_000, late: 5_000 };
/** How far the list may lag behind. A probe is no older when its create is sent. */
const LAG_MS = 2_000;

/** Settings of an account's grouped look-ups. */
export interface GroupedLookUpsOptions {
  /** Look-ups of a kind under way, waiting or asking, from which on a group leaves at once; no end when not given. */
  mostWaiting?: number;
  /** Age from which an order that was noted may be asked for as a canary; 2 s when not given. */
  lagMs?: number;
}

/**
 * Look-ups of one account that one request of its order list answers. What it does not show is
 * asked for alone, unless the answer is provably whole. One object per key.
 */
export class GroupedLookUps {
  /** What readings are checked by that stand alone. */
  readonly witnesses = new Witnesses();
  readonly #canaries: Canaries;
  /** Most orders of ours that one answer showed: the service neither cuts its list nor the ids at fewer. */
  #shownAtOnce = 0;
  #calibratedWith = 0;
  readonly #polls: Gathering<KnownOrder, OrderListItem>;
  readonly #readings: Gathering<KnownOrder, OrderListItem>;
  readonly #probes: Gathering<string, OrderListItem[]>;

  constructor(
    private readonly service: Pick<PaymentService, 'turn' | 'orders'>,
    { mostWaiting = Number.POSITIVE_INFINITY, lagMs = LAG_MS }: GroupedLookUpsOptions = {},
  ) {
    this.#canaries = new Canaries(lagMs);
    this.#polls = new Gathering((close) => this.#find(close, TIMEOUT_MS.late), { most: MOST_KNOWN, mostWaiting });
    // Apart from the polls, which wait for long and make long answers: somebody waits for what a callback is about.
    this.#readings = new Gathering((close) => this.#find(close, TIMEOUT_MS.soon), { most: MOST_KNOWN, mostWaiting });
    this.#probes = new Gathering((close) => this.#probe(close), { most: MOST_PROBES, mostWaiting });
  }

  /** Notes an order that the service answered to a create, sent at `sentAtMs`: it exists. */
  noteCreated(order: Order, sentAtMs: number): void {
    this.witnesses.noteAccepted(order, sentAtMs);
    this.#canaries.note([order]);
  }

  /** Polls an order that was seen before. */
  poll = <T>(known: KnownOrder, patience: Patience, ways: Ways<OrderListItem, T>): Promise<T> =>
    isOrderId(known.orderId) ? this.#polls.ask(known, patience, ways) : ways.alone();

  /** Reads an order that was seen before. */
  read = <T>(known: KnownOrder, patience: Patience, ways: Ways<OrderListItem, T>): Promise<T> =>
    isOrderId(known.orderId) ? this.#readings.ask(known, patience, ways) : ways.alone();

  /** Everything under an order id that nothing was sent under yet; nothing: it is absent. */
  probe<T>(orderId: string, patience: Patience, ways: Ways<OrderListItem[], T>): Promise<T> {
    const mayBeGrouped =
      this.#canaries.pair() && roomFor(Math.max(this.#shownAtOnce, this.#couldShow())) >= FEWEST_PROBES;
    return mayBeGrouped ? this.#probes.ask(orderId, patience, ways) : ways.alone();
  }

  /** So many known orders the list could be asked for now, beside the next two canaries: no answer may have shown both. */
  #couldShow = (): number => Math.min(Math.max(this.#canaries.usable().length - 2, 0), SHOWN_FOR_PROBES);

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
    this.#canaries.note([...found.values()]);
    this.#shownAtOnce = Math.max(this.#shownAtOnce, found.size);
    return ({ orderUuid }) => found.get(orderUuid);
  }

  async #probe(close: () => readonly string[]): Promise<(orderId: string) => OrderListItem[] | undefined> {
    await this.#calibrate();
    const room = roomFor(this.#shownAtOnce);
    const canaries = room >= FEWEST_PROBES && this.#canaries.take();
    if (!canaries) return () => undefined;
    const [{ id: first }, { id: last }] = canaries;
    await this.service.turn('look-up');
    const asked = [...new Set(close())].filter((id) => id !== first && id !== last).slice(0, room);
    const ids = [first, ...asked, last];
    const page = await this.#list(ids, TIMEOUT_MS.soon);
    if (!isWhole(page, ids, canaries)) return () => undefined;
    return (orderId) => {
      const items = page.items.filter((item) => item.user_order_id === orderId);
      const isTold = asked.includes(orderId) && (items.length > 0 || page.items.length < FEW);
      return isTold ? items : undefined;
    };
  }

  /** Lets the list show more orders at once, up to what a full group of probes needs: whenever twice as many are known. */
  async #calibrate(): Promise<void> {
    const could = this.#couldShow();
    const enough = Math.min(SHOWN_FOR_PROBES, 2 * Math.max(this.#shownAtOnce, this.#calibratedWith));
    if (could <= this.#shownAtOnce || could < enough) return;
    this.#calibratedWith = could;
    const known = this.#canaries.usable().slice(2, 2 + could);
    await this.#find(() => known.map(({ id: orderId, uuid: orderUuid }) => ({ orderId, orderUuid })), TIMEOUT_MS.soon);
  }
}

/** Orders that a group of probes may name beside its two canaries: fewer in all than the list has shown at once. */
const roomFor = (shownAtOnce: number): number => shownAtOnce - 3;

/** The items that are orders asked for, by uuid; none that is listed twice. */
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
 * THE place that says whether what an answer lacks is absent: fewer ids than the list has shown
 * at once, both canaries, and only readable items that were asked for, each once.
 */
function isWhole(
  { items, malformed }: Page<OrderListItem>,
  asked: readonly string[],
  canaries: readonly Canary[],
): boolean {
  const uuids = new Map(items.map((item) => [item.user_order_id, item.order_uuid]));
  return (
    malformed.length === 0 &&
    uuids.size === items.length &&
    items.every((item) => asked.includes(item.user_order_id) && !item.unreadable && !item.empty) &&
    canaries.every(({ id, uuid }) => uuids.get(id) === uuid)
  );
}
