import { z } from 'zod';
import { fieldErrors } from '../contract/field-errors.js';
import { ADDRESS_REF_FORMAT } from '../contract/ids.js';
import type { CreateAddressAnswer, CreateAddressInput } from '../contract/reads.js';
import {
  addressCreateSchema,
  NotSentError,
  PaymentServiceError,
  RateLimitedError,
  RejectedError,
} from '../payment-service/index.js';
import { accountOf } from './account-of.js';
import { addressCallbackUrl, searchAddress } from './address-search.js';
import { AttemptDeadline } from './attempt-deadline.js';
import type { ActivityDeps } from './deps.js';
import { invalidInput } from './failures.js';

/** Input of the `depositAddress` workflow, checked. */
export const addressInputSchema = z.strictObject({
  account: z.string().optional(),
  ref: z.string().regex(ADDRESS_REF_FORMAT, 'must match [A-Za-z0-9_-]{1,64}'),
  address: addressCreateSchema,
});

/** Checks the input of an address; throws InvalidInput with every bad field. */
export function checkAddressInput(input: unknown): z.infer<typeof addressInputSchema> {
  const parsed = addressInputSchema.safeParse(input);
  if (!parsed.success) throw invalidInput(fieldErrors(parsed.error));
  return parsed.data;
}

/** One attempt to create a permanent address: search → send. Runs once; the workflow decides what follows. */
export function createAddressActivity(deps: ActivityDeps) {
  return async function createAddress({ account: name, input }: CreateAddressInput): Promise<CreateAddressAnswer> {
    const deadline = new AttemptDeadline();
    const { ref, address } = checkAddressInput(input);
    const url = addressCallbackUrl(deps, name, ref);
    const { service } = accountOf(deps, name);
    try {
      const found = await searchAddress(service, { account: name, ref, ...address });
      if (found) return { kind: 'found', address: found };
    } catch (error) {
      return { kind: 'notSent', reason: `the search before the create failed (${nameOf(error)})` };
    }
    if (!deadline.allowsSend()) return { kind: 'notSent', reason: 'the attempt was too old to send' };
    try {
      const created = await service.createDepositAddress({ ...address, callback_url: url });
      if (created.callback_url === null || created.callback_url === url) return { kind: 'created', address: created };
      return { kind: 'uncertain', reason: 'the create was answered with another address' };
    } catch (error) {
      if (error instanceof NotSentError) return { kind: 'notSent', reason: nameOf(error) };
      if (error instanceof RateLimitedError) return { kind: 'notSent', reason: nameOf(error) };
      if (error instanceof RejectedError) return { kind: 'rejected' };
      return { kind: 'uncertain', reason: `the create got no clear answer (${nameOf(error)})` };
    }
  };
}

const nameOf = (error: unknown): string => (error instanceof PaymentServiceError ? error.message : 'unknown error');
