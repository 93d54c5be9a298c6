import { setTimeout as sleep } from 'node:timers/promises';
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
import { wholeList } from '../../payment-service/paging.js';
import { DEFAULT_PAGE_SIZE } from '../../payment-service/queries.js';
import { validateReceivedInput } from '../../validation/order-input.js';
import { payersOf } from '../../validation/rate-checks.js';
import { isOurs, type Listed, SharedAddresses } from '../address/address-list.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';
import { comeBackIn, invalidOrder, noReading, retryOrTell } from '../failures.js';
import { ordersOfIds } from '../orders-of-ids.js';
import { circumstancesOf, isOtherEndpoint, refuseElsewhere } from './sent-to.js';

/** An attempt ends well before the server gives it up; the reading of the list goes on and serves the next one. */
const WAIT_FOR_LIST_MS = 25_000;

/**
 * One signed look-up of an order that a receipt made: it must exist, have the type of a receipt and lie on the address
 * of the reference. Only clear readings are answered. Fails for good with InvalidOrder alone.
 */
export function lookUpReceivedActivity(deps: ActivityDeps) {
  const shared = new Map<string, SharedAddresses>();
  return async function lookUpReceived(asked: LookUpReceivedInput): Promise<LookUpReceivedAnswer> {
    const account = accountOf(deps, asked.account);
    const { name } = account;
    const checked = validateReceivedInput(asked.input);
    if ('errors' in checked) throw invalidOrder(checked.errors);
    const listAll = () => account.service.allDepositAddresses({});
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
  const ofRef = await withinAttempt(addresses.of(ref, activityInfo().scheduledTimestampMs, isOn));
  if (ofRef.length === 0) return { kind: 'unplaced', reason: `no address has the reference ${ref}` };
  const on = ofRef.find((listed) => isOn(listed) && listed.token === 'genuine') ?? ofRef.find(isOn);
  if (!on) return { kind: 'foreign', reason: `it is not on the address ${ref}` };
  if (await isOurs(getClient, name, on, on.token === 'unreadable')) return { kind: 'found', type, order };
  // A key that this worker does not have yet may have made it.
  return { kind: 'unplaced', reason: `no key of CALLBACK_TOKEN_KEY made the callback URL of its address ${ref}` };
}

/**
 * Absence needs both in the same round: the status operation knows no such order, and the signed list answers (which
 * proves the key) without showing it. The list cannot be asked for an order_uuid; receipts may be named by it.
 */
async function readByUuid(service: PaymentService, orderUuid: string): Promise<StatusAnswer> {
  const answer = await service.orderStatus({ order_uuid: orderUuid });
  const { order, said } = answer;
  if (order && order.order_uuid !== orderUuid) throw noReading('the status operation answered with another order');
  if (order) return answer;
  const page = await wholeList(ordersOfIds([orderUuid], service.orders(), DEFAULT_PAGE_SIZE));
  if (page.malformed.length > 0) throw noReading('the order list shows an item that cannot be read');
  const item = page.items.find((listed) => listed.order_uuid === orderUuid);
  if (!item) return answer;
  const { balance_changes: _, ...listed } = item;
  return { order: listed, said };
}

const liesOn = (order: Order, { network, address, memo }: DepositAddress): boolean =>
  canonicalWallet(network, order.deposit_address ?? '') === canonicalWallet(network, address) &&
  (order.deposit_memo || null) === (memo || null);

async function payersFor({ rates }: Account, reading: ReceivedReading) {
  if (reading.kind !== 'found') return undefined;
  const { type, order } = reading;
  return payersOf(await rates.current(), type, receivedRequest(type, order));
}

/** Waits for the address list as long as an attempt may take. */
function withinAttempt<T>(pending: Promise<T>): Promise<T> {
  const answered = new AbortController();
  const late = sleep(WAIT_FOR_LIST_MS, undefined, { signal: answered.signal }).then(() => {
    throw comeBackIn(1_000, 'reading the address list');
  });
  return Promise.race([pending, late]).finally(() => answered.abort());
}
