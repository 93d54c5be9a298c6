import type { Client } from '@temporalio/client';
import { type OrderWorkflow, orderStartOptions, startReceived } from '../../client/start-options.js';
import { startUnlessTaken } from '../../client/temporal-calls.js';
import type { DepositAddress } from '../../contract/address/address.js';
import { describeFieldErrors } from '../../contract/failures.js';
import { recoveredStart } from '../../contract/order/followers.js';
import type { ReceivedDepositInput } from '../../contract/order/input-and-result.js';
import { isReceivedType, workflowTypeOf } from '../../contract/order/types.js';
import type { OrderListItem } from '../../contract/service-objects.js';
import { canonicalWallet } from '../../contract/wallets.js';
import { allPages } from '../../payment-service/paging.js';
import { validateRecoveredInput } from '../../validation/order-input.js';
import { isOurs, type Listed, readAddressList } from '../address/address-list.js';
import { sentToOf } from '../order/sent-to.js';
import type { Comparison } from './compare.js';
import { addMalformed, type Reconciliation } from './scan.js';

/** Returns an address's key. Tags are part of it, because several may share an address. */
const placeOf = (address: string, memo: string | null): string => `${canonicalWallet(null, address)}\0${memo ?? ''}`;

/** Permanent address; without a reference if its callback URL does not have our form. */
type Place = Listed | { address: DepositAddress; ref?: undefined };

/** Finds what orders are receipts on. The address list is read once for each reconciliation, and only if needed. */
export function receiptFinder(tokenKeys?: readonly string[]) {
  const read = new Map<string, { atMs: number; places: Promise<ReadonlyMap<string, Place>> }>();
  const placesOf = (work: Omit<Reconciliation, 'receiptOf'>): Promise<ReadonlyMap<string, Place>> => {
    const { account, atMs } = work.input;
    const known = read.get(account);
    if (known?.atMs === atMs) return known.places;
    const places = readPlaces(work, tokenKeys);
    read.set(account, { atMs, places });
    places.catch(() => read.delete(account));
    return places;
  };
  return (work: Omit<Reconciliation, 'receiptOf'>): Reconciliation['receiptOf'] => {
    const judged = new Map<Place, Promise<boolean>>();
    return async ({ order_type: type, deposit_address: address, deposit_memo: memo }) => {
      if (!isReceivedType(type) || !address) return undefined;
      const place = (await placesOf(work)).get(placeOf(address, memo));
      if (!place?.ref) return place && null;
      const isOur = judged.get(place) ?? isOurs(() => work.client, work.account.name, place);
      judged.set(place, isOur);
      return (await isOur) ? place.ref : null;
    };
  };
}

async function readPlaces(
  { reads, input, found }: Omit<Reconciliation, 'receiptOf'>,
  tokenKeys?: readonly string[],
): Promise<Map<string, Place>> {
  const owner = { account: input.account, tokenKeys };
  const { byRef, others, malformed } = await readAddressList(owner, allPages({}, reads.addresses()));
  // Another worker reads them again; their errors are reported once.
  if (!found.totals.addressesRead) addMalformed(found.totals, malformed);
  found.totals.addressesRead = true;
  const listed = [...byRef.values()].flat();
  // If the service lists an address twice, the last entry counts.
  const [genuine, unproven] = [true, false].map((is) => listed.filter(({ token }) => (token === 'genuine') === is));
  const places: Place[] = [...others.map((address) => ({ address })), ...(unproven ?? []), ...(genuine ?? [])];
  return new Map(places.map((place) => [placeOf(place.address.address, place.address.memo), place]));
}

/** Starts a receipt's follower, again if the earlier one ended before the order existed. */
export async function followReceipt(client: Client, input: ReceivedDepositInput): Promise<Comparison> {
  const started = await startReceived(client, input, { again: true });
  return started ? { class: 'receiptFollowed', detail: `on the address ${input.ref}` } : { class: 'open' };
}

/** Starts a follower, which never sends. `again`: its run was terminated, or closed in doubt. */
export async function recover(
  { client, account }: Reconciliation,
  item: OrderListItem,
  { again }: { again: boolean },
): Promise<Comparison> {
  const start = recoveredStart(account.name, item, sentToOf(account));
  if (!start) return { class: 'foreign', detail: 'cannot be followed: its type is not known here' };
  const checked = validateRecoveredInput(start.type, start.input);
  if ('errors' in checked) {
    return { class: 'foreign', detail: `cannot be followed: ${describeFieldErrors(checked.errors)}` };
  }
  const started = await startUnlessTaken<OrderWorkflow>(client, workflowTypeOf(start.type), {
    ...orderStartOptions(start.type, start.input),
    ...(again && { workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY' }),
  });
  // If it exists, somebody else has started it and follows the order.
  return { class: started ? 'recovered' : 'open' };
}
