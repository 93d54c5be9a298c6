import { activityInfo, getClient } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { publishedAtCreate } from '../../client/sent-earlier.js';
import { INVALID_INPUT } from '../../contract/failures.js';
import type { Circumstances, Payers } from '../../contract/order/activities.js';
import { accountId, type Elsewhere, elsewhere, endpointOf, idsOf, type SentTo } from '../../contract/order/sent-to.js';
import { digestOfJson } from '../../temporal/published.js';
import type { Account, ActivityDeps } from '../deps.js';
import { onlyByCommand, protectionsIn } from '../protections.js';

/** Returns the account in use, as orders are pinned to it. */
export const sentToOf = ({ id }: Account): SentTo => ({ account: id });

/** Returns what an answer carries besides its finding: pace, run, account and payers. */
export function circumstancesOf(deps: ActivityDeps, account: Account, payers?: Payers): Circumstances {
  const only = onlyByCommand(deps, account.name);
  return {
    pace: protectionsIn(deps, account).pace,
    runId: activityInfo().workflowExecution?.runId,
    sentTo: sentToOf(account),
    ...(only && { onlyByCommand: only }),
    ...receiversOf(deps, account.name),
    ...(payers && { payers }),
  };
}

/** Names the receivers of an account's events, if there are any. */
export function receiversOf({ receivers }: ActivityDeps, account: string): Pick<Circumstances, 'receivers'> {
  const own = [...(receivers?.values() ?? [])].filter(({ accounts }) => !accounts || accounts.includes(account));
  return own.length === 0 ? {} : { receivers: own.map(({ name, kinds }) => ({ name, ...(kinds && { kinds }) })) };
}

const REFUSALS = ['InvalidOrder', INVALID_INPUT];

/** Adds the receivers to a refusal of the input: its workflow gets no other answer. */
export const namingReceivers =
  <Input extends { account: string }, Answer>(deps: ActivityDeps, activity: (input: Input) => Promise<Answer>) =>
  async (input: Input): Promise<Answer> => {
    try {
      return await activity(input);
    } catch (error) {
      const named = receiversOf(deps, input.account);
      const isRefusal = error instanceof ApplicationFailure && REFUSALS.includes(error.type ?? '');
      if (!isRefusal || !named.receivers) throw error;
      throw ApplicationFailure.nonRetryable(error.message, error.type, ...(error.details ?? []), named);
    }
  };

/** Returns why this is not an order's account; undefined if it is, or if none is pinned. */
export const elsewhereOf = (account: Account, sentTo: SentTo | undefined): Elsewhere | undefined =>
  sentTo && elsewhere(sentTo, account);

/**
 * Returns the account of the run's last create if it is another one. An attempt that dies names
 * none, and its heartbeat may be lost in a failover or by a reset of it.
 */
export async function otherAtCreate({ accountAtCreate }: ActivityDeps, account: Account): Promise<SentTo | undefined> {
  const digest = await accountAtCreate?.();
  const isOther = digest !== undefined && !idsOf(account).some((id) => digestOfJson(id) === digest);
  return isOther ? { account: accountId('another account', digest) } : undefined;
}

/** Returns the digest that the worker of the run's last create publishes of its account. */
export async function accountAtCreate(): Promise<string | undefined> {
  const { workflowExecution } = activityInfo();
  return workflowExecution && publishedAtCreate(getClient(), workflowExecution);
}

const ELSEWHERE = 'Elsewhere';

/** Returns the failure of an attempt whose account is not the order's. */
export const failedElsewhere = (why: string): ApplicationFailure =>
  ApplicationFailure.create({ type: ELSEWHERE, message: why });

/** Returns true for a failure of `failedElsewhere`. */
export const isElsewhere = (error: unknown): boolean => error instanceof ApplicationFailure && error.type === ELSEWHERE;

/** Throws `failedElsewhere` if the account in use is not the order's. */
export function refuseElsewhere(account: Account, sentTo: SentTo | undefined): void {
  const found = elsewhereOf(account, sentTo);
  if (found) throw failedElsewhere(found.why);
}

/**
 * Returns true if even our `order_uuid` proves nothing: another environment may show it in another
 * state.
 */
export const isOtherEndpoint = ({ id }: Account, sentTo: SentTo | undefined): boolean =>
  sentTo !== undefined && endpointOf(sentTo.account) !== endpointOf(id);
