import { setMaxListeners } from 'node:events';
import { request } from 'node:http';
import { chance } from './chance.js';
import { isFinal } from './life.js';
import { markerNumber } from './markers.js';
import type { OrderObject, StoredOrder } from './stored.js';
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

  constructor(
    private readonly world: World,
    private readonly post: Post = postJson,
  ) {
    // Every callback under way listens, and there may be thousands.
    setMaxListeners(0, this.#stopping.signal);
  }

  /** Starts the delivery for an order that became final. */
  deliver(stored: StoredOrder): void {
    const { settings, store } = this.world;
    if (!settings.callbacks.enabled || this.#isLost(stored) || !isLoopback(stored.callbackUrl)) {
      const orderUuid = stored.order.order_uuid;
      store.keep({ kind: 'callback', orderUuid, attempts: 0, acked: false, done: true });
      return;
    }
    const copies = markerNumber(store.markerOf(stored.key), 'callback_copies') ?? settings.callbacks.copies;
    for (let copy = 1; copy < copies; copy += 1) void this.#post(stored.callbackUrl, stored.order);
    void this.#attempt(stored, 0);
  }

  /** Posts an order as it stands now, once, whatever was sent before. The HTTP status; 0 when no answer came. */
  async sendNow({ callbackUrl, order }: StoredOrder): Promise<number> {
    return isLoopback(callbackUrl) ? ((await this.#post(callbackUrl, order)) ?? 0) : 0;
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

  #isLost({ key, addressUuid }: StoredOrder): boolean {
    const { settings, options, store } = this.world;
    const { lostAddresses, lostRate } = settings.callbacks;
    if (addressUuid !== undefined && lostAddresses.includes(addressUuid)) return true;
    return store.markerOf(key).callback === 'drop' || chance(options.seed, `callback ${key}`) < lostRate;
  }

  async #attempt(stored: StoredOrder, earlier: number): Promise<void> {
    if (!isLoopback(stored.callbackUrl)) return;
    const status = await this.#post(stored.callbackUrl, stored.order);
    if (status === undefined) return;
    const acked = isAck(status);
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

  /** Posts once: the HTTP status, 0 when no answer came, undefined when the sandbox is being stopped. */
  async #post(url: string, order: OrderObject): Promise<number | undefined> {
    const { traffic } = this.world;
    traffic.callbacksSent += 1;
    const sentAtMs = Date.now();
    const httpStatus = await this.post(url, JSON.stringify(order), this.#stopping.signal);
    if (this.#stopping.signal.aborted) return undefined;
    const { user_order_id: orderId, order_uuid: orderUuid, status: orderStatus } = order;
    traffic.callback({ sentAtMs, answeredAtMs: Date.now(), orderId, orderUuid, orderStatus, status: httpStatus });
    if (isAck(httpStatus)) traffic.callbacksAcked += 1;
    return httpStatus;
  }
}

const isAck = (status: number): boolean => status === 200 || status === 201;

/** A double must never reach real systems, so it posts to this machine only, by plain http. */
function isLoopback(url: string | null): url is string {
  if (url === null || !URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && (hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname));
}

/** Posts JSON to a receiver; the HTTP status, or 0 when none came. */
export type Post = (url: string, body: string, signal: AbortSignal) => Promise<number>;

/** Posts over a connection of its own. */
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
