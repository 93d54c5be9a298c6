import type { DepositAddress } from '../../payment-service/schemas.js';

export type { DepositAddress } from '../../payment-service/schemas.js';

export type { DepositAddressInput } from '../../shapes/order-schemas.js';

/** Addresses under one reference: the oldest, and the uuids of any others. */
export interface FoundAddress {
  address: DepositAddress;
  others?: string[];
}

/** `adopted`: found after an uncertain create. `others`: uuids of younger ones, also usable. */
export interface DepositAddressResult extends FoundAddress {
  adopted: boolean;
}

/**
 * One attempt to create an address. After a reset (another run than `knownRun`) it does not send.
 */
export interface CreateAddressInput {
  account: string;
  input: unknown;
  knownRun?: string;
}

/** Finds an address. The first attempt only waits `delayMs`, without history. */
export interface FindAddressInput extends Omit<CreateAddressInput, 'knownRun'> {
  delayMs?: number;
}

export type CreateAddressAnswer =
  | ({ kind: 'created' } & FoundAddress)
  | ({ kind: 'found' } & FoundAddress)
  | { kind: 'rejected'; excerpt?: string }
  /** `stopped`: the account is stopped. The address waits for the resume. */
  | { kind: 'notSent'; reason: string; retryAfterMs?: number; stopped?: true }
  /**
   * `retryAfterMs`: a 429, which does not count as a create. `resetRun`: this run sent nothing, but
   * the run before the reset may have a create in flight.
   */
  | { kind: 'uncertain'; reason: string; timedOut?: true; retryAfterMs?: number; resetRun?: string };
