import type { FORMAT_CHECKS_READ } from '../validation/format-checks.js';
import type { ClientInfo } from './order/orders.js';
import type { DepositAddress } from './service-objects.js';

/** Signed reads that starters and operators, who hold no secret, ask a worker for. */
export const READS = ['rates', 'balances', 'orderStatus', 'orderList', 'addressList'] as const;

/**
 * Input of the `serviceRead` workflow; `query` is the operation's request body, of rates `{order_type?, pair?}`. Its result
 * is the response's `data`, where `{malformed: reason}` stands in the place of a row or entry that cannot be read.
 */
export interface ServiceReadInput {
  account?: string;
  /** Besides the service's operations: what PAYMENT_FORMAT_CHECKS is for the account, asked of its workers alone. */
  read: (typeof READS)[number] | typeof FORMAT_CHECKS_READ;
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

/** What the address list shows under one reference: the oldest address, and the uuids of any others. */
export interface FoundAddress {
  address: DepositAddress;
  others?: string[];
}

/**
 * Result of the `depositAddress` workflow. `adopted`: it was there already, from an earlier uncertain create. `others`:
 * uuids of younger addresses with the same reference, if the service ever made more than one; receipts reach them, too.
 */
export interface DepositAddressResult extends FoundAddress {
  adopted: boolean;
}

/** One attempt to create an address. In another run than `knownRun`, cut from it by a reset, it does not send. */
export interface CreateAddressInput {
  account: string;
  input: unknown;
  knownRun?: string;
}

/** Asks for an address; the first attempt only waits `delayMs`, which writes no history. */
export interface FindAddressInput extends Omit<CreateAddressInput, 'knownRun'> {
  delayMs?: number;
}

/** What became of one address create attempt. */
export type CreateAddressAnswer =
  | ({ kind: 'created' } & FoundAddress)
  | ({ kind: 'found' } & FoundAddress)
  | { kind: 'rejected'; excerpt?: string }
  | { kind: 'notSent'; reason: string; retryAfterMs?: number }
  /**
   * `retryAfterMs`: the service asked to slow down, which proves nothing but does not count as a create. `resetRun`: nothing
   * was sent by this run, but the one that it was cut from may have a create on its way.
   */
  | { kind: 'uncertain'; reason: string; timedOut?: true; retryAfterMs?: number; resetRun?: string };
