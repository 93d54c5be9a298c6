import { callbackUrl } from '../contract/callback-url.js';
import type { DepositAddress } from '../contract/service-objects.js';
import type { PaymentService } from '../payment-service/index.js';
import type { ActivityDeps } from './deps.js';
import { invalidInput, noReading } from './failures.js';

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

/** Searches the address list for a reference; compares the URL's tail, so that a moved base URL changes nothing. */
export async function searchAddress(
  service: PaymentService,
  { account, ref, currency, network }: { account: string; ref: string; currency: string; network: string },
): Promise<DepositAddress | undefined> {
  const tail = `/callbacks/${account}/a.${ref}.`;
  for await (const page of service.allDepositAddresses({ currency, network })) {
    const found = page.items.find(({ callback_url }) => callback_url?.includes(tail));
    if (found) return found;
    if (page.malformed.length > 0) throw noReading('the address list shows an item that cannot be read');
  }
  return undefined;
}
