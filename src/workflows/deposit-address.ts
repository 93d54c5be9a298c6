import { ActivityFailure, ApplicationFailure, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { ADDRESS_ABSENT, INVALID_INPUT, SERVICE_REJECTED } from '../contract/failures.js';
import { ACCOUNT_FORMAT, ADDRESS_REF_FORMAT, addressWorkflowId, DEFAULT_ACCOUNT } from '../contract/ids.js';
import type { CreateAddressAnswer, DepositAddressInput, DepositAddressResult } from '../contract/reads.js';
import type { DepositAddress } from '../contract/service-objects.js';
import { moneyMoving, readOnly } from './steps/profiles.js';

/** Absent this often, this far apart, proves that an uncertain create made nothing: 15 s in all. */
const ABSENCE_READINGS = 4;
const BETWEEN_READINGS = '5s';
const SENDS = 2;

/** Creates a permanent deposit address, once per reference: an uncertain create is searched for before another one. */
export async function depositAddress(input: DepositAddressInput): Promise<DepositAddressResult> {
  const account = checkIdentity(input);
  const { createAddress } = proxyActivities<Activities>({ ...moneyMoving(account), summary: 'Search, then create' });
  let sends = 0;
  let waits = 0;
  for (;;) {
    const answer = await createAddress({ account, input }).catch(uncertainUnlessInvalid);
    switch (answer.kind) {
      case 'created':
      case 'found':
        return { address: answer.address, adopted: answer.kind === 'found' };
      case 'rejected':
        throw ApplicationFailure.nonRetryable(
          'the service refused the address (400); check its fields',
          SERVICE_REJECTED,
        );
      case 'notSent':
        waits += 1;
        await sleep(Math.min(60_000, 500 * 2 ** Math.min(waits, 7)), { summary: answer.reason });
        break;
      case 'uncertain': {
        sends += 1;
        const found = await search(account, input);
        if (found) return { address: found, adopted: true };
        if (sends >= SENDS) {
          throw ApplicationFailure.nonRetryable('the service shows no such address after two creates', ADDRESS_ABSENT);
        }
      }
    }
  }
}

/** Refuses a run whose id is not the one its reference demands: the id keeps a reference from having two addresses. */
function checkIdentity(input: DepositAddressInput): string {
  const account = input?.account ?? DEFAULT_ACCOUNT;
  const refuse = (message: string) => ApplicationFailure.nonRetryable(`${message}. Nothing was sent`, INVALID_INPUT);
  if (typeof account !== 'string' || !ACCOUNT_FORMAT.test(account)) throw refuse('account: must match [a-z0-9-]{1,32}');
  if (typeof input?.ref !== 'string' || !ADDRESS_REF_FORMAT.test(input.ref)) {
    throw refuse('ref: must match [A-Za-z0-9_-]{1,64}');
  }
  const demanded = addressWorkflowId(account, input.ref);
  if (workflowInfo().workflowId !== demanded) throw refuse(`ref: belongs to the workflow id ${demanded}`);
  return account;
}

/** A create that ended without an answer may have made the address; bad input made nothing. */
function uncertainUnlessInvalid(error: unknown): CreateAddressAnswer {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (cause instanceof ApplicationFailure && cause.nonRetryable) throw cause;
  if (!(error instanceof ActivityFailure)) throw error;
  return { kind: 'uncertain', reason: 'the create attempt ended without an answer' };
}

async function search(account: string, input: DepositAddressInput): Promise<DepositAddress | undefined> {
  const { findAddress } = proxyActivities<Activities>({
    ...readOnly(account),
    summary: 'Uncertain create: is it there?',
  });
  for (let reading = 0; reading < ABSENCE_READINGS; reading += 1) {
    if (reading > 0) await sleep(BETWEEN_READINGS);
    const found = await findAddress({ account, input });
    if (found) return found;
  }
  return undefined;
}
