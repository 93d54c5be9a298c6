import { randomUUID } from 'node:crypto';
import { type Answer, changeItems, success } from './answer.js';
import { fakeHex } from './chance.js';
import { drawnFault, withFault } from './choose-fault.js';
import { dateTime } from './clock.js';
import { depositAddress } from './orders.js';
import type { OrderType, Terms } from './rates.js';
import { ADDRESS_LIST_SCHEMA, type AddressBody, BadRequest, check } from './requests.js';
import type { DepositAddress } from './stored.js';
import { termsNow, type World } from './world.js';

type AddressPair = Pick<DepositAddress, 'currency' | 'network' | 'currency_to'>;

/** The terms of orders that come in on an address; undefined for pairs that have no permanent addresses. */
export function addressTerms(
  world: World,
  { currency, network, currency_to: currencyTo }: AddressPair,
): Terms | undefined {
  const type: OrderType = currencyTo === null ? 'deposit' : 'deposit_exchange';
  const pair = { currencyFrom: currency, networkFrom: network, currencyTo: currencyTo ?? currency, networkTo: null };
  // Permanent addresses are for blockchains only.
  return ['bitcoin', 'ethereum', 'tron'].includes(network) ? termsNow(world, type, pair) : undefined;
}

/** Creates an address. A second request for the same one makes a second address: nothing says it must not. Throws BadRequest. */
export function createAddress(world: World, body: AddressBody): DepositAddress {
  const pair = { currency: body.currency, network: body.network, currency_to: body.currency_to ?? null };
  const terms = addressTerms(world, pair);
  if (!terms) throw new BadRequest({ currency: 'no permanent addresses for this pair' });
  const uuid = randomUUID();
  const shared = world.settings.sharedAddresses;
  return {
    uuid,
    client_id: body.client_info?.client_id ?? null,
    ...pair,
    address_title: body.address_title ?? '',
    address: depositAddress(body.network, shared ? 'shared' : uuid),
    memo: shared ? fakeHex(`memo ${uuid}`, 10) : null,
    callback_url: body.callback_url ?? null,
    created_at: dateTime(Date.now()),
    min_amount: terms.min,
    max_amount: terms.max ?? '',
    total_received_amount: null,
    total_received_deposits: null,
  };
}

/** Answers the deposit address list. Throws BadRequest. */
export function answerAddressList(world: World, value: unknown): Answer {
  const { currency, network, limit: asked, page } = check(ADDRESS_LIST_SCHEMA, value);
  const limit = Math.min(asked, world.settings.listAtMost ?? asked);
  const found = [...world.store.addresses.values()]
    .filter((address) => currency === undefined || address.currency === currency)
    .filter((address) => network === undefined || address.network === network)
    .sort((a, b) => (a.uuid < b.uuid ? -1 : 1));
  const plain = success(found.slice((page - 1) * limit, page * limit));
  const chosen = drawnFault(world, 'address-list', '');
  const change = chosen?.fault.item;
  return withFault(change ? changeItems(plain, [world.settings.malformedIndex], change) : plain, chosen, {});
}
