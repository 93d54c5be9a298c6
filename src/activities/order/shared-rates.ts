import type { Payers } from '../../contract/order/activities.js';
import type { CreateRequest } from '../../contract/order/request.js';
import type { OrderType } from '../../contract/order/types.js';
import type { Rates } from '../../contract/service-objects.js';
import { rateEntryOf } from '../../validation/rate-checks.js';

const REFRESH_AFTER_MS = 10 * 60_000;
/** After a failure the next creates skip the checks at once instead of each waiting for a service that is slow. */
const RETRY_AFTER_MS = 30_000;

/** The rates of one account, shared by a worker. Payments do not depend on them: without any, checks are skipped. */
export class SharedRates {
  #rates?: Rates;
  #validUntilMs = Number.NEGATIVE_INFINITY;
  #pending?: Promise<Rates | undefined>;

  constructor(private readonly fetch: () => Promise<Rates>) {}

  /** Rates not older than 10 minutes, or undefined; one call at a time. */
  current(): Promise<Rates | undefined> {
    if (performance.now() < this.#validUntilMs) return Promise.resolve(this.#rates);
    this.#pending ??= this.#refresh().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #refresh(): Promise<Rates | undefined> {
    try {
      this.#rates = await this.fetch();
      this.#validUntilMs = performance.now() + REFRESH_AFTER_MS;
    } catch {
      this.#rates = undefined;
      this.#validUntilMs = performance.now() + RETRY_AFTER_MS;
    }
    return this.#rates;
  }
}

/** Who pays the commissions of an order; undefined when rates are not to be had or do not know the pair. */
export function payersOf(rates: Rates | undefined, type: OrderType, order: CreateRequest): Payers | undefined {
  const entry = rates && rateEntryOf(rates, type, order);
  return entry && { from: entry.fee_percent_from_payer, to: entry.fee_percent_to_payer };
}
