import { activityInfo } from '@temporalio/activity';
import type { FindAddressInput, FoundAddress } from '../../contract/address/address.js';
import { accountOf } from '../account-of.js';
import type { ActivityDeps } from '../deps.js';
import { comeBackIn, retryLater } from '../failures.js';
import { checkAddressInput } from './create-address.js';
import { searchAddress } from './search.js';

/** Searches the address of a reference; null = the whole list was read and it is not there. Repeated until answered. */
export function findAddressActivity(deps: ActivityDeps) {
  return async function findAddress({ account, input, delayMs }: FindAddressInput): Promise<FoundAddress | null> {
    if (delayMs && activityInfo().attempt === 1) throw comeBackIn(delayMs, 'waiting before the search');
    const { ref, address } = checkAddressInput(input);
    try {
      return (await searchAddress(accountOf(deps, account).service, { account, ref, ...address })) ?? null;
    } catch (error) {
      throw retryLater(error);
    }
  };
}
