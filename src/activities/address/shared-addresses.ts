import type { DepositAddress } from '../../contract/address/address.js';
import { addressRefOf } from '../../contract/callback-url.js';
import type { Page } from '../../payment-service/index.js';
import { noReading } from '../failures.js';

/** Where an address list is read from. */
interface AddressSource {
  account: string;
  listAll: () => AsyncIterable<Page<DepositAddress>>;
}

/**
 * The permanent addresses of one account by reference, shared by all activities of a worker. The list may be hundreds of
 * pages long: it is read by one caller at a time and only when what is known does not suffice.
 */
export class SharedAddresses {
  readonly #source: AddressSource;
  readonly #nowMs: () => number;
  #byRef = new Map<string, DepositAddress[]>();
  /** Start of the newest reading of the whole list. */
  #listedAtMs = Number.NEGATIVE_INFINITY;
  #pending?: Promise<void>;

  constructor(source: AddressSource, nowMs: () => number = Date.now) {
    this.#source = source;
    this.#nowMs = nowMs;
  }

  /**
   * The addresses of a reference; usually one, more after an uncertain create. Known ones that suffice are returned at
   * once; else the list is read, unless that was begun after `sinceMs`. Throws service errors, and NoReading.
   */
  async of(
    ref: string,
    sinceMs: number,
    suffices: (address: DepositAddress) => boolean,
  ): Promise<readonly DepositAddress[]> {
    for (;;) {
      const known = this.#byRef.get(ref) ?? [];
      if (known.some(suffices) || this.#listedAtMs >= sinceMs) return known;
      this.#pending ??= this.#list().finally(() => {
        this.#pending = undefined;
      });
      await this.#pending;
    }
  }

  async #list(): Promise<void> {
    const startedAtMs = this.#nowMs();
    const byRef = new Map<string, DepositAddress[]>();
    let unreadable = 0;
    for await (const { items, malformed } of this.#source.listAll()) {
      unreadable += malformed.length;
      for (const address of items) {
        const ref = addressRefOf(address.callback_url, this.#source.account);
        if (ref !== undefined) byRef.set(ref, [...(byRef.get(ref) ?? []), address]);
      }
    }
    this.#byRef = byRef;
    if (unreadable > 0) throw noReading(`the address list shows ${unreadable} items that cannot be read`);
    this.#listedAtMs = startedAtMs;
  }
}
