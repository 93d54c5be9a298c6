import type { DepositAddress, FoundAddress } from '../../contract/address/address.js';
import { addressRefOf, withoutToken } from '../../contract/callback-url.js';
import type { MalformedItem } from '../../contract/reconcile/reconcile.js';
import type { PaymentService } from '../../payment-service/client.js';
import type { Page } from '../../payment-service/paging.js';
import { noReading } from '../failures.js';

/** The permanent addresses of an account that carry a reference of ours, by that; `malformed`: entries that cannot be read. */
interface AddressList {
  byRef: ReadonlyMap<string, readonly DepositAddress[]>;
  malformed: MalformedItem[];
}

/**
 * THE reader of the address list. The reference is read from the tail of the callback URL, so that a moved base URL changes
 * nothing. An entry that cannot be read may be the one that is looked for. Throws service errors.
 */
export async function readAddressList(
  account: string,
  pages: AsyncIterable<Page<DepositAddress>>,
): Promise<AddressList> {
  const byRef = new Map<string, DepositAddress[]>();
  const malformed: MalformedItem[] = [];
  let number = 0;
  for await (const page of pages) {
    number += 1;
    for (const address of page.items) {
      const ref = addressRefOf(address.callback_url, account);
      if (ref !== undefined) byRef.set(ref, [...(byRef.get(ref) ?? []), address]);
    }
    for (const { index, reason } of page.malformed) {
      malformed.push({ place: `address list, page ${number}, item ${index + 1} of ${page.total}`, reason });
    }
  }
  return { byRef, malformed };
}

/** Searches the address of a reference. Of several ones everyone must take the same, the oldest. Throws NoReading. */
export async function searchAddress(
  service: PaymentService,
  { account, ref, currency, network }: { account: string; ref: string; currency: string; network: string },
): Promise<FoundAddress | undefined> {
  const { byRef, malformed } = await readAddressList(account, service.allDepositAddresses({ currency, network }));
  if (malformed.length > 0) throw noReading('the address list shows an item that cannot be read');
  const [address, ...others] = (byRef.get(ref) ?? []).toSorted(byAge);
  return (
    address && { address: shownAddress(address), ...(others.length > 0 && { others: others.map(({ uuid }) => uuid) }) }
  );
}

/** An address as callers get it. */
export const shownAddress = (address: DepositAddress): DepositAddress => ({
  ...address,
  callback_url: withoutToken(address.callback_url),
});

/** Dates are opaque, but of one format; the uuid makes the order total. */
const byAge = (a: DepositAddress, b: DepositAddress): number =>
  a.created_at.localeCompare(b.created_at) || a.uuid.localeCompare(b.uuid);

/** The addresses of one account, shared by a worker: hundreds of pages are read for one caller at a time. */
export class SharedAddresses {
  #byRef: AddressList['byRef'] = new Map();
  /** Start of the newest reading of the whole list. */
  #listedAtMs = Number.NEGATIVE_INFINITY;
  #pending?: Promise<void>;

  constructor(
    private readonly source: { account: string; listAll: () => AsyncIterable<Page<DepositAddress>> },
    private readonly nowMs: () => number = Date.now,
  ) {}

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
    const startedAtMs = this.nowMs();
    const { account, listAll } = this.source;
    const { byRef, malformed } = await readAddressList(account, listAll());
    this.#byRef = byRef;
    if (malformed.length > 0) throw noReading(`the address list shows ${malformed.length} items that cannot be read`);
    this.#listedAtMs = startedAtMs;
  }
}
