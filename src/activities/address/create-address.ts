import { activityInfo } from '@temporalio/activity';
import type {
  CreateAddressAnswer,
  CreateAddressInput,
  FindAddressInput,
  FoundAddress,
} from '../../contract/address/address.js';
import { callbackUrl } from '../../contract/callback-url.js';
import { depositAddressInput } from '../../shapes/order-schemas.js';
import { type ActivityDeps, accountOf } from '../deps.js';
import { comeBackIn, invalidInput, reasonOf, retryOrTell, validInput } from '../failures.js';
import { isRepeated } from '../only-attempt.js';
import { AttemptDeadline, confirmSend, retryAfterOf, verdictOfError } from '../order/create-attempt.js';
import { type InForce, protectionsIn } from '../protections.js';
import { searchAddress, shownAddress } from './address-list.js';

/**
 * Returns the callback URL, unique by reference, which finds the address after an uncertain create.
 * Throws InvalidInput.
 */
function addressCallbackUrl({ callback }: ActivityDeps, account: string, ref: string): string {
  const [key] = callback?.tokenKeys ?? [];
  if (callback && key) return callbackUrl(callback.baseUrl, key, { kind: 'address', account, ref });
  const reason = 'permanent addresses need CALLBACK_BASE_URL and CALLBACK_TOKEN_KEY on the worker';
  throw invalidInput([{ field: 'ref', reason }]);
}

/** Runs one attempt to create an address: search, then send. The workflow decides what follows. */
export function createAddressActivity(deps: ActivityDeps) {
  return async function createAddress(asked: CreateAddressInput): Promise<CreateAddressAnswer> {
    const { account: name, input, knownRun } = asked;
    const deadline = new AttemptDeadline();
    const { ref, address } = validInput(depositAddressInput, input);
    const url = addressCallbackUrl(deps, name, ref);
    const account = accountOf(deps, name);
    const { service } = account;
    try {
      const { tokenKeys } = deps.callback ?? {};
      const found = await searchAddress(service, { account: name, ref, tokenKeys, ...address });
      if (found) return { kind: 'found', ...found };
    } catch (error) {
      return notSent('the search before the create failed', error);
    }
    const runId = activityInfo().workflowExecution?.runId;
    if (knownRun !== undefined && runId !== knownRun) {
      return { kind: 'uncertain', reason: 'the workflow was reset', timedOut: true, ...(runId && { resetRun: runId }) };
    }
    // The previous attempt may still be sending.
    if (isRepeated()) return { kind: 'uncertain', reason: 'the server repeated the create attempt', timedOut: true };
    try {
      const created = await service.createDepositAddress(
        { ...address, callback_url: url },
        { beforeSend: () => confirmSend(deps, account, deadline, {}) },
      );
      if (created.callback_url === null || created.callback_url === url) {
        return { kind: 'created', address: shownAddress(created) };
      }
      return { kind: 'uncertain', reason: 'the create was answered with another address' };
    } catch (error) {
      return answerOfError(error, protectionsIn(deps, account));
    }
  };
}

function answerOfError(error: unknown, inForce: InForce): CreateAddressAnswer {
  const verdict = verdictOfError(error, inForce);
  if (verdict.kind === 'notSent' && verdict.stopped) return verdict;
  if (verdict.kind === 'rejected' || verdict.kind === 'uncertain') return verdict;
  return notSent('the create was not sent', error);
}

const notSent = (what: string, error: unknown): CreateAddressAnswer => ({
  kind: 'notSent',
  reason: `${what} (${reasonOf(error)})`,
  ...retryAfterOf(error),
});

/**
 * Searches the address of a reference; null if the whole list lacks it. Repeated until answered.
 */
export function findAddressActivity(deps: ActivityDeps) {
  return async function findAddress({ account, input, delayMs }: FindAddressInput): Promise<FoundAddress | null> {
    if (delayMs && activityInfo().attempt === 1) throw comeBackIn(delayMs, 'waiting before the search');
    const { ref, address } = validInput(depositAddressInput, input);
    const known = accountOf(deps, account);
    try {
      const tokenKeys = deps.callback?.tokenKeys;
      return (await searchAddress(known.service, { account, ref, tokenKeys, ...address })) ?? null;
    } catch (error) {
      throw retryOrTell(error, known);
    }
  };
}
