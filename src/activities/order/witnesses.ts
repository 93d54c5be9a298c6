import { CANARY_REFERENCE, hasFormOf, isFormOfId } from '../../contract/names.js';
import type { CreateOrderInput } from '../../contract/order/activities.js';
import type { Witness } from '../../contract/order/sent-to.js';
import { factsOf, isOrderType, type OrderType } from '../../contract/order/types.js';
import type { Order } from '../../contract/service-objects.js';

/** Order that the service accepted from this process. `sentAtMs`: by the worker's clock. */
interface Accepted extends Witness {
  order_type: string;
  sentAtMs: number;
  monotonicMs: number;
}

/** The newest order of each second is kept, up to a maximum. */
const SPACING_MS = 1_000;
const MOST_KEPT = 2_000;

/** Maximum number of unclear creates to remember. */
const MOST_UNCLEAR = 1_000;

/**
 * Orders that the service confirmed, as far as known here. A reading that lacks one is old, of
 * another account, or stores ids in another form. One object per key.
 */
export class Witnesses {
  /** Oldest first. */
  readonly #accepted: Accepted[] = [];
  /** Unclear creates since the last accepted order. Times: performance.now. */
  readonly #unclear = new Map<string, { atMs: number; isAtOnce: boolean }>();

  /** Records an accepted order. `sentAtMs`, `monotonicMs`: when its create was sent. */
  noteAccepted(
    { user_order_id, order_uuid, order_type }: Order,
    sentAtMs: number,
    monotonicMs = performance.now(),
  ): void {
    this.#noteUp(order_type, Number.POSITIVE_INFINITY);
    const before = this.#accepted.at(-2)?.sentAtMs ?? Number.NEGATIVE_INFINITY;
    if (sentAtMs - before < SPACING_MS) this.#accepted.pop();
    this.#accepted.push({ order_id: user_order_id, order_uuid, order_type, sentAtMs, monotonicMs });
    if (this.#accepted.length > MOST_KEPT) this.#accepted.shift();
  }

  /**
   * Records an order that another process got accepted, at `sentAtMs` at the earliest. Returns false
   * if it was known.
   */
  noteAcceptedElsewhere({ user_order_id, order_uuid, order_type }: Order, sentAtMs: number): boolean {
    if (this.#accepted.some((one) => one.order_uuid === order_uuid)) return false;
    const monotonicMs = performance.now() - Math.max(0, Date.now() - sentAtMs);
    this.#noteUp(order_type, monotonicMs);
    this.#accepted.push({ order_id: user_order_id, order_uuid, order_type, sentAtMs, monotonicMs });
    this.#accepted.sort((a, b) => a.sentAtMs - b.sentAtMs);
    if (this.#accepted.length > MOST_KEPT) this.#accepted.shift();
    return true;
  }

  /**
   * Records a create without a clear answer, unless it is a canary, which is sent because of an
   * outage.
   */
  noteUnclear(orderId: string, { type, input }: Pick<CreateOrderInput, 'type'> & { input?: unknown }): void {
    if (this.#unclear.size >= MOST_UNCLEAR || Object(input).reference === CANARY_REFERENCE) return;
    this.#unclear.set(orderId, { atMs: performance.now(), isAtOnce: movesMoneyAtOnce(type) });
  }

  /**
   * Returns true if creates of other orders got no clear answer within `withinMs`, and none was
   * accepted since. Deposits alone may fail, or be accepted while payouts fail.
   */
  othersFail(orderId: string, type: OrderType, withinMs: number): boolean {
    const fromMs = performance.now() - withinMs;
    const isMeant = (one: { atMs: number; isAtOnce: boolean }) =>
      one.atMs >= fromMs && (one.isAtOnce || !movesMoneyAtOnce(type));
    return [...this.#unclear].some(([id, one]) => id !== orderId && isMeant(one));
  }

  /** An accepted create ends an outage that began before; a deposit, that of deposits alone. */
  #noteUp(type: string, beforeMs: number): void {
    for (const [id, { atMs, isAtOnce }] of this.#unclear)
      if (atMs < beforeMs && (!isAtOnce || movesMoneyAtOnce(type))) this.#unclear.delete(id);
  }

  /**
   * Returns the youngest other order sent by `untilMs`; if there is none, the oldest. Deposits may
   * expire, so one is named only if there is nothing else.
   */
  youngest(untilMs: number, orderId: string): Witness | undefined {
    const all = this.#othersThan(orderId);
    const lasting = all.filter(({ order_type: other }) => movesMoneyAtOnce(other));
    const others = lasting.length > 0 ? lasting : all;
    const one = others.findLast(({ sentAtMs }) => sentAtMs <= untilMs) ?? others[0];
    return one && shown(one);
  }

  /**
   * Returns orders that were sent after `untilMs`, of three ages, if possible with ids in the form
   * of `orderId`. Only one as old as the window must be shown; only one sent `LATER_BY` later
   * proves anything.
   */
  later(
    untilMs: number,
    nowMs: number,
    windowMs: number,
    { orderId, type, depositsCountFor = [] }: AboutOrder,
  ): LaterWitness[] {
    const isCounted = ({ order_type: other }: Accepted) =>
      movesMoneyAtOnce(other) || depositsCount(type, depositsCountFor);
    // The older of two ages: one clock stops while a machine sleeps, and the other may be set.
    const aged = this.#othersThan(orderId).flatMap((one) => {
      if (!isCounted(one)) return [];
      const ageMs = Math.max(nowMs - one.sentAtMs, performance.now() - one.monotonicMs);
      return { ...one, sentAtMs: nowMs - ageMs };
    });
    const after = aged.filter(({ sentAtMs }) => sentAtMs > untilMs);
    const provesFromMs = untilMs + LATER_BY * windowMs;
    const alike = after.filter(({ order_id: id }) => hasFormOf(id, orderId));
    const candidates = alike.length > 0 ? alike : after;
    const found = [1, 0.5, YOUNGEST].flatMap((age): LaterWitness[] => {
      const one = candidates.findLast(({ sentAtMs }) => sentAtMs <= nowMs - age * windowMs);
      if (!one) return [];
      const lasts = movesMoneyAtOnce(one.order_type) || !movesMoneyAtOnce(type);
      return [{ ...shown(one), mustBeShown: lasts && age === 1, proves: one.sentAtMs >= provesFromMs }];
    });
    return found.filter((one, n) => found.findIndex(({ order_uuid: uuid }) => uuid === one.order_uuid) === n);
  }

  /** Excludes orders that could be this one under another form of its id. */
  #othersThan = (orderId: string): readonly Accepted[] =>
    this.#accepted.filter(({ order_id: id }) => !isFormOfId(id, orderId));
}

/**
 * Minimum distance of a later order, as a part of the window: an unclear create may be executed
 * that late.
 */
export const LATER_BY = 0.2;

/** Youngest age at which an order in doubt looks for a later one, as a part of the window. */
export const YOUNGEST = 0.05;

/** Order in doubt, for which later orders are searched. */
interface AboutOrder {
  orderId: string;
  type: OrderType;
  /** Types for which the account's setting lets deposits count. */
  depositsCountFor?: readonly OrderType[];
}

/** Returns true if a deposit is a later order for this type: for payouts only by the setting. */
export const depositsCount = (type: OrderType, countsFor: readonly OrderType[] = []): boolean =>
  !factsOf(type).movesMoneyAtOnce || countsFor.includes(type);

/** A service may show deposits while it hides payouts. An unknown type counts as a deposit. */
const movesMoneyAtOnce = (type: string): boolean => isOrderType(type) && factsOf(type).movesMoneyAtOnce;

/** Order that was accepted later. */
export interface LaterWitness extends Witness {
  /** The service must show it. */
  mustBeShown: boolean;
  /** Its presence proves that an order in doubt would be shown. */
  proves: boolean;
}

const shown = ({ order_id, order_uuid }: Accepted): Witness => ({ order_id, order_uuid });
