import { ActivityFailure, ApplicationFailure, proxyActivities, TimeoutFailure } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { SERVICE_UNAVAILABLE } from '../contract/failures.js';
import type { ServiceReadInput } from '../contract/service-objects.js';
import { readOnly } from './activity-calls.js';
import { checkedAccount } from './identity.js';

/** A person or program waits for the answer: better none after a minute than one much later. */
const ANSWER_WITHIN = '60s';

/** One signed read for starters and operators, who hold no secrets. Returns the response's `data`. */
export async function serviceRead(input: ServiceReadInput): Promise<unknown> {
  const account = checkedAccount(input);
  const { readService } = proxyActivities<Activities>({
    ...readOnly(account),
    scheduleToCloseTimeout: ANSWER_WITHIN,
    summary: `Read ${String(input?.read)}`.slice(0, 100),
  });
  try {
    return await readService({ ...input, account });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const last = lastFailure(error);
    if (last?.nonRetryable) throw last;
    if (neverStarted(error)) {
      const message = `no worker took the read within ${ANSWER_WITHIN}: check the account's name, and that a worker serves it`;
      throw ApplicationFailure.nonRetryable(message, SERVICE_UNAVAILABLE);
    }
    const why = last ? ` (${last.message})` : '';
    const message = `no answer from the payment service within ${ANSWER_WITHIN}${why}`;
    throw ApplicationFailure.nonRetryable(message, SERVICE_UNAVAILABLE);
  }
}

/** The time ran out before any attempt began: one that began would have left its own failure as the cause. */
const neverStarted = ({ cause }: ActivityFailure): boolean =>
  cause instanceof TimeoutFailure && cause.cause === undefined && cause.timeoutType !== 'START_TO_CLOSE';

/** What the last attempt failed with: the cause itself or, where the time ran out during a later one, the cause of that. */
function lastFailure({ cause }: ActivityFailure): ApplicationFailure | undefined {
  const last = cause instanceof TimeoutFailure ? cause.cause : cause;
  return last instanceof ApplicationFailure ? last : undefined;
}
