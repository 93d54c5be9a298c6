import type { DepositAddress, FoundAddress } from '../../contract/address/address.js';
import { callbackUrl, withoutToken } from '../../contract/callback-url.js';
import type { PaymentService } from '../../payment-service/index.js';
import type { ActivityDeps } from '../deps.js';
import { invalidInput, noReading } from '../failures.js';

/**
 * The callback URL of an address carries our reference and is unique: it is also the key by which an address of an
 * uncertain create is found again. Throws InvalidInput where the worker cannot make callback URLs.
 */
export function addressCallbackUrl({ callback }: ActivityDeps, account: string, ref: string): string {
  const [key] = callback?.tokenKeys ?? [];
  if (callback && key) return callbackUrl(callback.baseUrl, key, { kind: 'address', account, ref });
  throw invalidInput([
    { field: 'ref', reason: 'permanent addresses need CALLBACK_BASE_URL and CALLBACK_TOKEN_KEY on the worker' },
  ]);
}

/**
 * Searches the address list for a reference; compares the URL's tail, so that a moved base URL changes nothing. Reads the
 * whole list: of several addresses everyone must take the same one, the oldest.
 */
export async function searchAddress(
  service: PaymentService,
  { account, ref, currency, network }: { account: string; ref: string; currency: string; network: string },
): Promise<FoundAddress | undefined> {
  const tail = `/callbacks/${account}/a.${ref}.`;
  const found: DepositAddress[] = [];
  for await (const page of service.allDepositAddresses({ currency, network })) {
    if (page.malformed.length > 0) throw noReading('the address list shows an item that cannot be read');
    found.push(...page.items.filter(({ callback_url }) => callback_url?.includes(tail)));
  }
  const [address, ...others] = found.toSorted(byAge);
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
