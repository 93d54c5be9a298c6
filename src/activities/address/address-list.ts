import type { Client } from '@temporalio/client';
import { resultOfRun } from '../../client/history.js';
import { describeRun, whyUnreadable } from '../../client/standing.js';
import type { DepositAddress, DepositAddressResult, FoundAddress } from '../../contract/address/address.js';
import { type AddressRef, addressRefOf, withoutToken } from '../../contract/callback-url.js';
import { addressWorkflowId } from '../../contract/names.js';
import type { MalformedItem } from '../../contract/reconcile/reconcile.js';
import type { PaymentService } from '../../payment-service/client.js';
import { allPages, type Page } from '../../payment-service/paging.js';
import { noReading } from '../failures.js';

/** Permanent address whose callback URL has our form. */
export interface Listed extends AddressRef {
  address: DepositAddress;
}

interface AddressList {
  /** Addresses with callback URLs in our form, by reference. */
  byRef: ReadonlyMap<string, readonly Listed[]>;
  others: DepositAddress[];
  malformed: MalformedItem[];
}

interface Owner {
  account: string;
  tokenKeys?: readonly string[];
}

/** Reads the address list. A malformed entry may be the wanted one. */
export async function readAddressList(
  { account, tokenKeys = [] }: Owner,
  pages: AsyncIterable<Page<DepositAddress>>,
): Promise<AddressList> {
  const byRef = new Map<string, Listed[]>();
  const others: DepositAddress[] = [];
  const malformed: MalformedItem[] = [];
  let number = 0;
  for await (const page of pages) {
    number += 1;
    for (const address of page.items) {
      const found = addressRefOf(address.callback_url, account, tokenKeys);
      if (found) byRef.set(found.ref, [...(byRef.get(found.ref) ?? []), { ...found, address }]);
      else others.push(address);
    }
    for (const { index, reason } of page.malformed) {
      malformed.push({ place: `address list, page ${number}, item ${index + 1} of ${page.total}`, reason });
    }
  }
  return { byRef, others, malformed };
}

/** Returns the uuid of the address that our run created for a reference; undefined if unknown. */
async function createdUuid(client: Client, account: string, ref: string): Promise<string | undefined> {
  const run = await describeRun(client, addressWorkflowId(account, ref));
  if (run?.status.name !== 'COMPLETED') return undefined;
  try {
    const result = await resultOfRun<() => Promise<DepositAddressResult>>(client, run.workflowId, run.runId);
    return result.adopted ? undefined : result.address.uuid;
  } catch (error) {
    if (whyUnreadable(error)) return undefined;
    throw error;
  }
}

/**
 * Decides whether an address is ours: anybody may use a callback URL of our form. Its genuine token
 * proves it, or the run that created it; otherwise `ifUnknown` counts.
 */
export async function isOurs(
  client: () => Client,
  account: string,
  { ref, token, address }: Listed,
  ifUnknown = false,
): Promise<boolean> {
  if (token === 'genuine') return true;
  const created = await createdUuid(client(), account, ref);
  return created === undefined ? ifUnknown : created === address.uuid;
}

/** Returns the address of a reference, the oldest if there are several. Throws NoReading. */
export async function searchAddress(
  service: PaymentService,
  { ref, currency, network, ...owner }: Owner & { ref: string; currency: string; network: string },
): Promise<FoundAddress | undefined> {
  const { byRef, malformed } = await readAddressList(owner, allPages({ currency, network }, service.addresses()));
  if (malformed.length > 0) throw noReading('the address list shows an item that cannot be read');
  const ours = (byRef.get(ref) ?? []).filter(({ token }) => token !== 'forged');
  const [address, ...others] = ours.map((listed) => listed.address).toSorted(byAge);
  return (
    address && { address: shownAddress(address), ...(others.length > 0 && { others: others.map(({ uuid }) => uuid) }) }
  );
}

/** Returns an address as callers see it. */
export const shownAddress = (address: DepositAddress): DepositAddress => ({
  ...address,
  callback_url: withoutToken(address.callback_url),
});

/** The uuid makes the order total. */
const byAge = (a: DepositAddress, b: DepositAddress): number =>
  a.created_at.localeCompare(b.created_at) || a.uuid.localeCompare(b.uuid);

/** Addresses of one account, shared in a worker, because a reading costs hundreds of pages. */
export class SharedAddresses {
  #byRef: AddressList['byRef'] = new Map();
  /** Start of the newest complete reading. */
  #listedAtMs = Number.NEGATIVE_INFINITY;
  #pending?: Promise<void>;

  constructor(
    private readonly source: Owner & { listAll: () => AsyncIterable<Page<DepositAddress>> },
    private readonly nowMs: () => number = Date.now,
  ) {}

  /**
   * Returns the addresses of a reference, usually one. Sufficient known ones return at once;
   * otherwise the list is read, unless a reading began after `sinceMs`. Throws service errors, and
   * NoReading.
   */
  async of(ref: string, sinceMs: number, suffices: (listed: Listed) => boolean): Promise<readonly Listed[]> {
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
    const { listAll, ...owner } = this.source;
    const { byRef, malformed } = await readAddressList(owner, listAll());
    this.#byRef = byRef;
    if (malformed.length > 0) throw noReading(`the address list shows ${malformed.length} items that cannot be read`);
    this.#listedAtMs = startedAtMs;
  }
}
