import { ActivityFailure, ApplicationFailure, TimeoutFailure, workflowInfo } from '@temporalio/workflow';
import type {
  CreateAddressAnswer,
  DepositAddressInput,
  DepositAddressResult,
  FoundAddress,
} from '../contract/address/address.js';
import { ADDRESS_ABSENT, SERVICE_REJECTED, statusText } from '../contract/failures.js';
import {
  type AddressRun,
  askForPerson,
  clearAttention,
  findAddress,
  settleAddress,
  tellUnserved,
  waitToCreate,
} from './address/search.js';
import { untilTaken } from './ask/until-served.js';
import { checkAddress } from './identity.js';
import { moneyMoving } from './profiles.js';

/** Creates of one reference that may have reached the service. */
const SENDS = 2;

/** Creates a permanent deposit address, once per reference: an uncertain create is searched for before another one. */
export async function depositAddress(input: DepositAddressInput): Promise<DepositAddressResult> {
  const run: AddressRun = { account: checkAddress(input), input, rounds: 0 };
  const result = await createOrFind(run).finally(() => clearAttention(run));
  if (result.others) {
    // All of them are ours and receipts reach each: nothing is lost, but a person should know.
    askForPerson(run, `the service has more addresses with this reference: ${result.others.join(', ')}`);
  }
  return result;
}

async function createOrFind(run: AddressRun): Promise<DepositAddressResult> {
  const { account, input } = run;
  const options = { ...moneyMoving(account), summary: 'Search, then create' };
  let sends = 0;
  let maySent = false;
  // A reset run searches first, as after an uncertain create: the one it was cut from may have a create on its way.
  let knownRun = workflowInfo().originalExecutionRunId;
  for (;;) {
    const answer = await untilTaken(
      options,
      ({ createAddress }) => createAddress({ account, input, knownRun }),
      () => tellUnserved(run),
    ).catch(uncertainUnlessInvalid);
    if (answer.kind === 'created' || answer.kind === 'found') {
      const { kind, ...found } = answer;
      return { ...found, adopted: kind === 'found' };
    }
    maySent ||= answer.kind === 'uncertain';
    // "Too many requests" is waited out, however often it is answered.
    if (answer.kind === 'uncertain' && answer.resetRun) knownRun = answer.resetRun;
    else if (answer.kind === 'uncertain' && answer.retryAfterMs === undefined) sends += 1;
    const found = await findAfter(run, answer, maySent);
    if (found) return { ...found, adopted: true };
    if (answer.kind === 'rejected') {
      const answered = statusText(400, answer.excerpt);
      const message = `the service refused the address (${answered}) and shows none with this reference; check its fields`;
      throw ApplicationFailure.nonRetryable(message, SERVICE_REJECTED);
    }
    if (answer.kind === 'uncertain' && sends >= SENDS) {
      throw ApplicationFailure.nonRetryable('the service shows no such address after two creates', ADDRESS_ABSENT);
    }
  }
}

/** No attempt that brought no address is believed before the list was read. null = there is none. */
async function findAfter(
  run: AddressRun,
  answer: Exclude<CreateAddressAnswer, { kind: 'created' | 'found' }>,
  maySent: boolean,
): Promise<FoundAddress | null> {
  switch (answer.kind) {
    case 'uncertain': {
      const { reason, retryAfterMs } = answer;
      const found = retryAfterMs === undefined ? null : await waitToCreate(run, reason, retryAfterMs);
      return found ?? settleAddress(run, answer.timedOut ?? false);
    }
    case 'notSent':
      return waitToCreate(run, answer.reason, answer.retryAfterMs);
    case 'rejected':
      return maySent ? settleAddress(run, false) : findAddress(run, 'Refused: is it there?');
  }
}

/** A create that ended without an answer may have made the address; bad input made nothing. */
function uncertainUnlessInvalid(error: unknown): CreateAddressAnswer {
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (cause instanceof ApplicationFailure && cause.nonRetryable) throw cause;
  return {
    kind: 'uncertain',
    reason: 'the create attempt ended without an answer',
    ...(cause instanceof TimeoutFailure && { timedOut: true }),
  };
}
