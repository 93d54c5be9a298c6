import { ActivityFailure, isCancellation, sleep } from '@temporalio/workflow';
import type { OrderRun } from './order-run.js';
import { clearAttention, raiseAttention } from './phase.js';

const ASK_AGAIN_AFTER = '1m';

/**
 * Repeats a read whose activity ended for good (an operator failed it, a bug): an order whose outcome is open must not
 * end because a question could not be asked.
 */
export async function keepAsking<T>(run: OrderRun, ask: () => Promise<T>): Promise<T> {
  let said: string | undefined;
  for (;;) {
    try {
      const answer = await ask();
      if (said && run.attention?.reason === said) clearAttention(run);
      return answer;
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      said = `the activity ${error.activityType} failed for good; it is asked again every minute`;
      raiseAttention(run, said);
      await sleep(ASK_AGAIN_AFTER);
    }
  }
}
