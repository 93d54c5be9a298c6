import type { ClientInfo } from './orders.js';
import type { DepositAddress } from './service-objects.js';

/** Signed reads that starters and operators, who hold no secret, ask a worker for. */
export const READS = ['rates', 'balances', 'orderStatus', 'orderList', 'addressList'] as const;

/** Input of the `serviceRead` workflow; `query` is the operation's request body. Its result is the response's `data`. */
export interface ServiceReadInput {
  account?: string;
  read: (typeof READS)[number];
  query?: Record<string, unknown>;
}

/** Input of the `depositAddress` workflow. `ref` is chosen by the caller and names the address for ever. */
export interface DepositAddressInput {
  account?: string;
  ref: string;
  address: {
    currency: string;
    network: string;
    currency_to?: string;
    address_title?: string;
    client_info?: ClientInfo;
  };
}

/** Result of the `depositAddress` workflow. `adopted`: it was there already, from an earlier uncertain create. */
export interface DepositAddressResult {
  address: DepositAddress;
  adopted: boolean;
}

/** One attempt to create an address. Without `maySend` it only looks. */
export interface CreateAddressInput {
  account: string;
  input: unknown;
}

/** What became of one address create attempt. */
export type CreateAddressAnswer =
  | { kind: 'created' | 'found'; address: DepositAddress }
  | { kind: 'rejected' }
  | { kind: 'notSent'; reason: string }
  | { kind: 'uncertain'; reason: string };
