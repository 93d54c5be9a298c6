import { ActivityFailure, type ActivityOptions, isCancellation, sleep } from '@temporalio/workflow';
import { clearAttention, raiseAttention } from '../order/attention.js';
import { readOnly } from '../order/profiles.js';
import type { OrderRun } from '../order/run.js';
import { type Schedule, untilServed } from './until-served.js';

const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [60_000, 3_600_000];

/** What one read has of its own among the options of all. */
export type ReadOptions = Pick<ActivityOptions, 'summary' | 'activityId'>;

/**
 * Repeats a read whose activity ended for good (an operator failed it, a bug): an order whose outcome is open must not
 * end because a question could not be asked. Ever more slowly: each time costs history.
 */
export async function keepAsking<T>(run: OrderRun, read: ReadOptions, ask: Schedule<T>): Promise<T> {
  let said: string | undefined;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      const answer = await untilServed(run, { ...readOnly(run.account), ...read }, ask);
      if (said && run.attention?.reason === said) clearAttention(run);
      return answer;
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      said = `the activity ${error.activityType} failed for good; it is asked again, once an hour at least`;
      raiseAttention(run, said);
      await sleep(waitMs);
    }
  }
}
