import { request } from 'node:http';
import { chance } from './chance.js';
import { isFinal } from './life.js';
import { markerNumber } from './markers.js';
import type { OrderObject, StoredOrder } from './orders.js';
import { Timers } from './timers.js';
import type { World } from './world.js';

/** Retries after the first delivery, as the interface says. */
const MAX_RETRIES = 20;
/** How long the receiver may take to answer. */
const ANSWER_TIMEOUT_MS = 10_000;

/** Tells merchants' receivers about final orders until they answer 200 or 201. */
export class Callbacks {
  readonly #timers = new Timers();
  readonly #stopping = new AbortController();

  constructor(private readonly world: World) {}

  /** Starts the delivery for an order that became final. */
  deliver(stored: StoredOrder): void {
    const { settings, options, store } = this.world;
    const { user_order_id: orderId, order_uuid: uuid } = stored.order;
    const marker = store.watches.get(orderId)?.marker ?? {};
    const lost =
      marker.callback === 'drop' || chance(options.seed, `callback ${orderId}`) < settings.callbacks.lostRate;
    if (!settings.callbacks.enabled || lost || !isLoopback(stored.callbackUrl)) {
      store.keep({ kind: 'callback', orderUuid: uuid, attempts: 0, acked: false, done: true });
      return;
    }
    const copies = markerNumber(marker, 'callback_copies') ?? settings.callbacks.copies;
    for (let copy = 1; copy < copies; copy += 1) void this.#post(stored.callbackUrl, stored.order);
    void this.#attempt(stored, 0);
  }

  /** Goes on with deliveries that an earlier run had not finished. */
  resume(): void {
    for (const stored of this.world.store.orders.values()) {
      const progress = this.world.store.callbacks.get(stored.order.order_uuid);
      if (!isFinal(stored.order.status) || progress?.done) continue;
      if (progress) void this.#attempt(stored, progress.attempts);
      else this.deliver(stored);
    }
  }

  stop(): void {
    this.#timers.stop();
    this.#stopping.abort();
  }

  async #attempt(stored: StoredOrder, earlier: number): Promise<void> {
    if (!isLoopback(stored.callbackUrl)) return;
    const acked = await this.#post(stored.callbackUrl, stored.order);
    if (acked === undefined) return;
    const attempts = earlier + 1;
    const done = acked || attempts > MAX_RETRIES;
    this.world.store.keep({ kind: 'callback', orderUuid: stored.order.order_uuid, attempts, acked, done });
    if (acked && this.world.settings.callbacks.reorder) {
      void this.#post(stored.callbackUrl, { ...stored.order, status: 'processing', finalized_at: null });
    }
    if (done) return;
    const { initialRetryMs } = this.world.settings.callbacks;
    const delayMs = initialRetryMs * this.world.options.timeScale * 2 ** earlier;
    this.#timers.at(Date.now() + delayMs, () => void this.#attempt(stored, attempts));
  }

  /** Posts once: true when acknowledged, false when not, undefined when the sandbox is being stopped. */
  async #post(url: string, order: OrderObject): Promise<boolean | undefined> {
    const { traffic } = this.world;
    traffic.callbacksSent += 1;
    const sentAtMs = Date.now();
    const status = await postJson(url, JSON.stringify(order), this.#stopping.signal);
    if (this.#stopping.signal.aborted) return undefined;
    const { user_order_id: orderId, order_uuid: orderUuid } = order;
    traffic.callback({ sentAtMs, answeredAtMs: Date.now(), orderId, orderUuid, status });
    const acked = status === 200 || status === 201;
    if (acked) traffic.callbacksAcked += 1;
    return acked;
  }
}

/** A double must never reach real systems, so it posts to this machine only, by plain http. */
function isLoopback(url: string | null): url is string {
  if (url === null || !URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && (hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname));
}

/** Posts JSON over a connection of its own; the HTTP status, or 0 when none came. */
function postJson(url: string, body: string, signal: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(
      url,
      { method: 'POST', headers, agent: false, signal, timeout: ANSWER_TIMEOUT_MS },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(0));
    sent.on('close', () => resolve(0));
    sent.end(body);
  });
}
