import type { Client } from '@temporalio/client';
import { type OrderWorkflow, orderStartOptions, startReceived } from '../../client/start-options.js';
import { startUnlessTaken } from '../../client/temporal-calls.js';
import { describeFieldErrors } from '../../contract/failures.js';
import { recoveredStart } from '../../contract/order/followers.js';
import type { ReceivedDepositInput } from '../../contract/order/input-and-result.js';
import { isReceivedType, workflowTypeOf } from '../../contract/order/types.js';
import type { OrderListItem } from '../../contract/service-objects.js';
import { canonicalWallet } from '../../contract/wallets.js';
import { allPages } from '../../payment-service/paging.js';
import { validateRecoveredInput } from '../../validation/order-input.js';
import { readAddressList } from '../address/address-list.js';
import { sentToOf } from '../order/sent-to.js';
import type { Comparison } from './compare.js';
import { addMalformed } from './kept.js';
import type { Reconciliation, Scan } from './scan.js';

/** An address's place in the book: tags are part of it, because several may share one address. */
const placeOf = (address: string, memo: string | null): string => `${canonicalWallet(null, address)}\0${memo ?? ''}`;

/** Tells receipts by the account's addresses that carry a reference of ours; reads those once, and only when it is needed. */
export function referencesOf(work: Omit<Reconciliation, 'refOf'>): Scan['refOf'] {
  let refs: Promise<ReadonlyMap<string, string>> | undefined;
  return async ({ order_type: type, deposit_address: address, deposit_memo: memo }) => {
    if (!isReceivedType(type) || !address) return undefined;
    refs ??= refsByPlace(work);
    return (await refs).get(placeOf(address, memo));
  };
}

async function refsByPlace({
  reads,
  input,
  kept,
}: Pick<Reconciliation, 'reads' | 'input' | 'kept'>): Promise<Map<string, string>> {
  const { byRef, malformed } = await readAddressList(input.account, allPages({}, reads.addresses()));
  // An attempt after a killed one reads them again; what is wrong with them is said once.
  if (!kept.addressesRead) addMalformed(kept, malformed);
  kept.addressesRead = true;
  const places = [...byRef].flatMap(([ref, addresses]) =>
    addresses.map(({ address, memo }) => [placeOf(address, memo), ref] as const),
  );
  return new Map(places);
}

/** Starts the follower of a receipt; one that ended because the order was not there yet is started again. */
export async function followReceipt(client: Client, input: ReceivedDepositInput): Promise<Comparison> {
  const started = await startReceived(client, input, { again: true });
  return started ? { class: 'receiptFollowed', detail: `on the address ${input.ref}` } : { class: 'open' };
}

/**
 * Starts a follower that never sends anything, from what the list tells of an order. `again`: the run before was stopped
 * or closed in doubt, or ended in a conflict with this order; nothing else lets an id run a second time.
 */
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
  // Where it is taken, somebody started it meanwhile, and thereby follows it.
  return { class: started ? 'recovered' : 'open' };
}
