import { ActivityFailure, ApplicationFailure, proxyActivities, TimeoutFailure } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { BatchFilesInput } from '../contract/batch/files.js';
import { SERVICE_UNAVAILABLE } from '../contract/failures.js';
import type { ServiceReadInput } from '../contract/service-objects.js';
import { readOnly } from './activity-calls.js';
import { checkedAccount } from './identity.js';

/** Maximum wait: a person or program waits for the answer. */
const ANSWER_WITHIN = '60s';

/**
 * Runs one signed read for callers without secrets, and returns the answer's `data`. Without input,
 * it reads the balances of the account `default`, as the gate of a roll-out.
 */
export async function serviceRead(input: ServiceReadInput = { read: 'balances' }): Promise<unknown> {
  const account = checkedAccount(input);
  const { readService } = proxyActivities<Activities>({
    ...readOnly(account),
    scheduleToCloseTimeout: ANSWER_WITHIN,
    summary: `Read ${String(input?.read)}`.slice(0, 100),
  });
  return answerOf('the payment service', () => readService({ ...input, account }));
}

/** Stores a part of a batch file, or reads rows or a report, for callers without the folders. */
export async function batchFiles(input: BatchFilesInput, bytes?: Uint8Array): Promise<unknown> {
  const account = checkedAccount(input);
  const { batchFiles: files } = proxyActivities<Activities>({
    ...readOnly(account),
    // Short, because a killed worker shows only by this time-out.
    startToCloseTimeout: '20s',
    scheduleToCloseTimeout: ANSWER_WITHIN,
    summary: `Files: ${String(input?.act)}`.slice(0, 100),
  });
  return answerOf("the workers' folders", () => files({ ...input, account }, bytes));
}

/** Returns the answer of an activity. Its failure says whether a worker took it. */
async function answerOf(asked: string, call: () => Promise<unknown>): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    // The cause of a time-out is the last attempt's failure, if one started.
    const last = cause instanceof TimeoutFailure ? cause.cause : cause;
    if (last instanceof ApplicationFailure && last.nonRetryable) throw last;
    const neverStarted = last === undefined && (cause as TimeoutFailure).timeoutType !== 'START_TO_CLOSE';
    const happened = neverStarted
      ? `no worker took the read within ${ANSWER_WITHIN}: check the account's name, and that a worker serves it`
      : `no answer from ${asked} within ${ANSWER_WITHIN}${last ? ` (${last.message})` : ''}`;
    throw ApplicationFailure.nonRetryable(happened, SERVICE_UNAVAILABLE);
  }
}
