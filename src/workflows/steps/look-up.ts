import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import type { LookUpAnswer, LookUpInput } from '../../contract/answers.js';
import { ATTENTION_AFTER_MS, answersWithin } from './answers-within.js';
import { keepAsking } from './keep-asking.js';
import { type Answer, noteAnswer } from './note-answer.js';
import type { OrderRun } from './order-run.js';
import { clearAttention, raiseAttention } from './phase.js';
import { readOnly } from './profiles.js';

const NO_READING = 'the service gives no clear answer about this order; it is asked again until it does';

/**
 * One reading of the order by a signed look-up, however long the service takes to give one. With `alarm`, a person is
 * told after a quarter of an hour (one timer; not used on the normal path).
 */
export async function lookUp(
  run: OrderRun,
  options: { summary: string; delayMs?: number; alarm?: boolean; orderUuid?: string },
): Promise<LookUpAnswer> {
  const orderUuid = options.orderUuid ?? run.order?.order_uuid;
  const input: LookUpInput = {
    type: run.type,
    account: run.account,
    request: run.request,
    ...(orderUuid && { orderUuid }),
    ...(run.host && { host: run.host }),
    ...(run.wallets && { wallets: run.wallets }),
    ...(options.delayMs && { delayMs: options.delayMs }),
  };
  const { lookUpOrder } = proxyActivities<Activities>({ ...readOnly(run.account), summary: options.summary });
  return clearAnswer(run, () => lookUpOrder(input), options);
}

/** Asks by an activity that the server repeats until the service gives a clear answer, and keeps what that tells. */
export async function clearAnswer<T extends Answer>(
  run: OrderRun,
  ask: () => Promise<T>,
  { alarm, delayMs = 0 }: { alarm?: boolean; delayMs?: number },
): Promise<T> {
  const pending = keepAsking(run, ask);
  if (alarm) await alarmWhileUnanswered(run, pending, delayMs);
  const answer = await pending;
  noteAnswer(run, answer);
  run.lastLookupAtMs = Date.now();
  if (run.attention?.reason === NO_READING) clearAttention(run);
  return answer;
}

async function alarmWhileUnanswered(run: OrderRun, pending: Promise<unknown>, delayMs: number): Promise<void> {
  if (!(await answersWithin(pending, delayMs + ATTENTION_AFTER_MS))) raiseAttention(run, NO_READING);
}
