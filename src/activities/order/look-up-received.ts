import { activityInfo, getClient } from '@temporalio/activity';
import type { DepositAddress } from '../../contract/address/address.js';
import {
  type LookUpReceivedAnswer,
  type LookUpReceivedInput,
  type ReceivedReading,
  receivedRequest,
} from '../../contract/order/followers.js';
import type { ReceivedDepositInput } from '../../contract/order/input-and-result.js';
import { isReceivedType } from '../../contract/order/types.js';
import type { Order } from '../../contract/service-objects.js';
import { canonicalWallet } from '../../contract/wallets.js';
import type { PaymentService, StatusAnswer } from '../../payment-service/client.js';
import { allPages, wholeList } from '../../payment-service/paging.js';
import { DEFAULT_PAGE_SIZE } from '../../payment-service/queries.js';
import { validateReceivedInput } from '../../validation/order-input.js';
import { payersOf } from '../../validation/rate-checks.js';
import { isOurs, type Listed, SharedAddresses } from '../address/address-list.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';
import { invalidOrder, noReading, retryOrTell } from '../failures.js';
import { ordersOfIds } from '../orders-of-ids.js';
import { circumstancesOf, isOtherEndpoint, refuseElsewhere } from './sent-to.js';

/**
 * Makes one signed look-up of a receipt, which must be on the reference's address. Fails only with
 * InvalidOrder.
 */
export function lookUpReceivedActivity(deps: ActivityDeps) {
  const shared = new Map<string, SharedAddresses>();
  return async function lookUpReceived(asked: LookUpReceivedInput): Promise<LookUpReceivedAnswer> {
    const account = accountOf(deps, asked.account);
    const { name } = account;
    const checked = validateReceivedInput(asked.input);
    if ('errors' in checked) throw invalidOrder(checked.errors);
    const listAll = () => allPages({}, account.service.addresses());
    const addresses =
      shared.get(name) ?? new SharedAddresses({ account: name, tokenKeys: deps.callback?.tokenKeys, listAll });
    shared.set(name, addresses);
    try {
      if (isOtherEndpoint(account, asked.sentTo)) refuseElsewhere(account, asked.sentTo);
      const reading = await read(account, addresses, checked.input);
      return { ...reading, ...circumstancesOf(deps, account, await payersFor(account, reading)) };
    } catch (error) {
      throw retryOrTell(error, account);
    }
  };
}

async function read(
  { service, name }: Account,
  addresses: SharedAddresses,
  { ref, order_uuid: orderUuid }: ReceivedDepositInput,
): Promise<ReceivedReading> {
  const { order, said } = await readByUuid(service, orderUuid);
  if (!order) return { kind: 'absent', said };
  const type = order.order_type;
  if (!isReceivedType(type)) return { kind: 'foreign', reason: 'it has another type than a receipt' };
  if (!order.deposit_address) return { kind: 'unplaced', reason: 'it has no deposit address' };
  const isOn = ({ address }: Listed) => liesOn(order, address);
  // If the list takes longer than an attempt, its reading continues for the next attempt.
  const ofRef = await addresses.of(ref, activityInfo().scheduledTimestampMs, isOn);
  if (ofRef.length === 0) return { kind: 'unplaced', reason: `no address has the reference ${ref}` };
  const on = ofRef.find((listed) => isOn(listed) && listed.token === 'genuine') ?? ofRef.find(isOn);
  if (!on) return { kind: 'foreign', reason: `it is not on the address ${ref}` };
  if (await isOurs(getClient, name, on, on.token === 'unreadable')) return { kind: 'found', type, order };
  // A key that this worker does not have yet may have made it.
  return { kind: 'unplaced', reason: `no key in CALLBACK_TOKEN_KEY matches the callback URL of address ${ref}` };
}

/**
 * Reads a receipt. Absence needs the status and the signed list, which may name receipts by
 * order_uuid but cannot be filtered by it.
 */
async function readByUuid(service: PaymentService, orderUuid: string): Promise<StatusAnswer> {
  const answer = await service.orderStatus({ order_uuid: orderUuid });
  if (answer.order) return answer;
  const page = await wholeList(ordersOfIds([orderUuid], service.orders(), DEFAULT_PAGE_SIZE));
  if (page.malformed.length > 0) throw noReading('the order list shows an item that cannot be read');
  const item = page.items.find((listed) => listed.order_uuid === orderUuid);
  if (!item) return answer;
  const { balance_changes: _, ...listed } = item;
  return { order: listed, said: answer.said };
}

const liesOn = (order: Order, { network, address, memo }: DepositAddress): boolean =>
  canonicalWallet(network, order.deposit_address ?? '') === canonicalWallet(network, address) &&
  (order.deposit_memo || null) === (memo || null);

async function payersFor({ rates }: Account, reading: ReceivedReading) {
  if (reading.kind !== 'found') return undefined;
  const { type, order } = reading;
  return payersOf(await rates.current(), type, receivedRequest(type, order));
}
