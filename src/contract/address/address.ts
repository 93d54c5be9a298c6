import type { DepositAddress } from '../../payment-service/schemas.js';
import type { ClientInfo } from '../order/request.js';

export type { DepositAddress } from '../../payment-service/schemas.js';

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

/** `adopted`: there already, from an uncertain create; `others`: uuids of younger ones, which receipts reach, too. */
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
