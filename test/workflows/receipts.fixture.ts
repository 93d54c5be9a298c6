import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, vi } from 'vitest';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { callbackUrl } from '../../src/contract/callback-url.js';
import { DEFAULT_ACCOUNT } from '../../src/contract/names.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';

/** A permanent address of a lab: its reference, the service's id and where money goes. */
export interface Address {
  ref: string;
  uuid: string;
  address: string;
}

/** Makes a permanent address for usdt; with `currencyTo`, receipts are exchanged. */
export async function newAddress(lab: Lab, currencyTo?: string): Promise<Address> {
  const ref = newOrderId('address');
  const address = { currency: 'usdt', network: 'tron', ...(currencyTo && { currency_to: currencyTo }) };
  const made = await lab.orders.createAddress({ ref, address });
  return { ref, uuid: made.address.uuid, address: made.address.address };
}

/** A lab with an address whose receipts become deposits, and one whose receipts are exchanged. */
export type AddressLab = Lab & { plain: Address; exchanging: Address };

/** Sets such a lab up for a test file. */
export function useAddresses(): AddressLab {
  const lab = {} as AddressLab;
  beforeAll(async () => {
    Object.assign(lab, await openLab());
    [lab.plain, lab.exchanging] = await Promise.all([newAddress(lab), newAddress(lab, 'btc')]);
  });
  afterAll(() => lab.close?.());
  return lab;
}

/** A deposit arrives. `orderId`: the service's id of its order; `handle`: of the follower that its callback starts. */
export function receive(lab: Lab, { uuid }: Address, marker = '', amount = '250') {
  const description = marker && `[sandbox ${marker}]`;
  const { order } = lab.sandbox.receiveDeposit({ addressUuid: uuid, amount, ...(description && { description }) });
  const { order_uuid: orderUuid, user_order_id: orderId } = order;
  return { orderUuid, orderId, handle: lab.orders.received(orderUuid) };
}

/** Posts a callback with the genuine token of an address, as anybody may who knows its URL. Returns the HTTP status. */
export async function postCallback(lab: Lab, { ref }: Pick<Address, 'ref'>, body: object): Promise<number> {
  const { baseUrl, tokenKeys } = lab.config.callback ?? { baseUrl: '', tokenKeys: [''] };
  const url = callbackUrl(baseUrl, tokenKeys[0] ?? '', { kind: 'address', account: DEFAULT_ACCOUNT, ref });
  for (;;) {
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
    await answer.arrayBuffer();
    // On a busy machine Temporal may answer late, and the service sends it again.
    if (answer.status !== 503) return answer.status;
    await sleep(500);
  }
}

/** Waits until Temporal knows the follower, which a callback starts. */
export async function started(handle: OrderHandle): Promise<OrderHandle> {
  await vi.waitFor(() => handle.isOpen(), { timeout: 60_000, interval: 50 });
  return handle;
}
