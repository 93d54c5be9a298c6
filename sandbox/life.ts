import { dateTime } from './clock.js';
import { execute } from './execution.js';
import { markerNumber } from './markers.js';
import { decimal } from './money.js';
import { createOrderObject, finalFields, type NewOrder, paidFields, statusFields } from './orders.js';
import type { OrderObject, StoredOrder } from './stored.js';
import { Timers } from './timers.js';
import type { World } from './world.js';

const FINAL = new Set(['completed', 'completed_partially', 'canceled', 'error']);

/** True for the four final statuses. */
export const isFinal = (status: string): boolean => FINAL.has(status);

/** Leads orders from their creation to their final status. */
export class Life {
  readonly #timers = new Timers();

  constructor(
    private readonly world: World,
    private readonly onFinal: (order: StoredOrder) => void,
  ) {}

  /** Executes a create: from here on the order exists, also after a crash. */
  begin(made: NewOrder): StoredOrder {
    const { options, settings, store } = this.world;
    const nowMs = Date.now();
    const startAtMs = nowMs + (made.delayMinutes ?? 0) * 60_000 * options.timeScale;
    const order = createOrderObject(made, nowMs, startAtMs);
    const payAtMs = startAtMs + (made.plan.payMs ?? settings.durationsMs.pay * options.timeScale);
    const beginsAtMs = order.status === 'new' ? payAtMs : startAtMs;
    const stored: StoredOrder = {
      order,
      key: made.key,
      ...(made.address && { addressUuid: made.address.uuid }),
      balanceChanges: [],
      callbackUrl: made.callbackUrl,
      terms: made.terms,
      quote: made.quote,
      plan: made.plan,
      createdAtMs: nowMs,
      startAtMs,
      payAtMs,
      finalAtMs: beginsAtMs + (made.plan.afterMs ?? settings.durationsMs.execute * options.timeScale),
      truth: { unexchanged: '0', unpaid: '0' },
    };
    store.keep({ kind: 'order', order: stored });
    this.follow(stored);
    return stored;
  }

  /** Schedules the next step of an order; also of one read from the journal. */
  follow(stored: StoredOrder): void {
    const { order, plan, payAtMs, finalAtMs } = stored;
    if (stored.regressed) return;
    const pays = order.status === 'new' && plan.outcome !== 'canceled';
    if (isFinal(order.status)) this.#followFinal(stored);
    else if (pays) this.#timers.at(payAtMs, () => this.#pay(order.order_uuid));
    else this.#timers.at(finalAtMs, () => this.#finish(order.order_uuid));
  }

  /** A look-up was counted: an order that is marked so becomes final at its n-th, which sees it final. */
  looked(key: string): void {
    const { store } = this.world;
    const watch = store.watches.get(key);
    const wanted = watch && markerNumber(watch.marker, 'after_looks');
    if (!watch || wanted === undefined || watch.looks.status + watch.looks.list < wanted) return;
    for (const { order } of store.ordersOf(key)) this.#finish(order.order_uuid);
  }

  /** Every open order becomes final now, whatever it waits for. */
  finishAll(): void {
    for (const uuid of [...this.world.store.orders.keys()]) this.#finish(uuid);
  }

  stop(): void {
    this.#timers.stop();
  }

  #followFinal({ order, plan: { regression, regressMs }, finalAtMs }: StoredOrder): void {
    if (regression === undefined || regression === order.status) return;
    const { options, settings } = this.world;
    const delayMs = regressMs ?? settings.durationsMs.regress * options.timeScale;
    this.#timers.at(finalAtMs + delayMs, () => this.regress(order.order_uuid, regression));
  }

  #pay(uuid: string): void {
    const stored = this.#change(uuid, {}, (order) => ({
      ...paidFields(order),
      status: 'processing',
      updated_at: dateTime(Date.now()),
    }));
    if (stored) this.follow(stored);
  }

  /** What a final order must never do: it turns into another status. Only its status changes: the money has moved. */
  regress(uuid: string, status: string): void {
    const final = isFinal(status);
    const stored = this.#change(uuid, { regressed: true }, () => statusFields(status, final, Date.now()));
    if (stored && final) this.onFinal(stored);
  }

  /**
   * A payout comes back after the end of its order: what reached the wallet is credited in the payout currency.
   * `shown`: its amount becomes 0; otherwise only its balance changes show it.
   * Throws RangeError for an order that paid nothing out.
   */
  giveBack(uuid: string, shown: boolean): void {
    const { store } = this.world;
    const { order, balanceChanges } = store.orders.get(uuid) ?? {};
    const amount = order?.order_type.includes('withdraw') && isFinal(order.status) ? order.amount_to : null;
    if (!order || !balanceChanges || amount === null || decimal(amount).eq(0))
      throw new RangeError('nothing was paid out');
    const nowMs = Date.now();
    const back = store.ledger.changes([{ currency: order.currency_to, amount: decimal(amount) }], nowMs);
    const stored = this.#change(uuid, { balanceChanges: [...balanceChanges, ...back] }, () => ({
      ...(shown && { amount_to: '0' }),
      updated_at: dateTime(nowMs),
    }));
    if (stored) this.onFinal(stored);
  }

  #change(
    uuid: string,
    facts: Partial<StoredOrder>,
    fields: (order: OrderObject) => Partial<OrderObject>,
  ): StoredOrder | undefined {
    const stored = this.world.store.orders.get(uuid);
    if (!stored) return undefined;
    const changed = { ...stored, ...facts, order: { ...stored.order, ...fields(stored.order) } };
    this.world.store.keep({ kind: 'order', order: changed });
    return changed;
  }

  /** All steps are booked at once when the order becomes final, so that a crash leaves either none or all of them. */
  #finish(uuid: string): void {
    const { store, settings } = this.world;
    const planned = store.orders.get(uuid);
    if (!planned || isFinal(planned.order.status)) return;
    const wanted = execute(planned.terms, planned.quote, planned.plan);
    const affordable = settings.overdraft || store.ledger.covers(wanted.movements);
    const plan = affordable ? planned.plan : { ...planned.plan, outcome: 'error' as const, stage: 'clean' as const };
    const done = affordable ? wanted : execute(planned.terms, planned.quote, plan);
    const nowMs = Date.now();
    const stored: StoredOrder = {
      ...planned,
      plan,
      order: { ...planned.order, ...finalFields({ ...planned, plan }, done, nowMs) },
      balanceChanges: store.ledger.changes(done.movements, nowMs),
      truth: { unexchanged: done.unexchanged, unpaid: done.unpaid },
    };
    store.keep({ kind: 'order', order: stored });
    this.onFinal(stored);
    this.follow(stored);
  }
}
