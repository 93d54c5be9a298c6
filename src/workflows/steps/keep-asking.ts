import { ActivityFailure, isCancellation, sleep } from '@temporalio/workflow';
import type { OrderRun } from './order-run.js';
import { raiseAttention } from './phase.js';

const ASK_AGAIN_AFTER = '1m';

/**
 * Repeats a read whose activity ended for good (an operator failed it, a bug): an order whose outcome is open must not
 * end because a question could not be asked.
 */
export async function keepAsking<T>(run: OrderRun, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      raiseAttention(run, `the activity ${error.activityType} failed for good; it is asked again every minute`);
      await sleep(ASK_AGAIN_AFTER);
    }
  }
}
