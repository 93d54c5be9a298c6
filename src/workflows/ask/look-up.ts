import type { ElsewhereAnswer, LookUpAnswer, LookUpInput } from '../../contract/order/answers.js';
import type { OrderRun } from '../order/run.js';
import { type AskMore, isElsewhere, untilSameAccount } from './elsewhere.js';
import { keepAsking } from './keep-asking.js';
import { type Answer, noteAnswer } from './note-answer.js';
import type { Schedule } from './until-served.js';
import { endSilence, withAlarm } from './with-alarm.js';

/**
 * One reading of the order by a signed look-up, however long the service takes to give one. With `alarm`, a person is
 * told after a quarter of an hour (one timer; not used on the normal path).
 */
export async function lookUp(
  run: OrderRun,
  options: { summary: string; delayMs?: number; alarm?: boolean; orderUuid?: string },
): Promise<LookUpAnswer> {
  const orderUuid = options.orderUuid ?? run.order?.order_uuid;
  const input = (): LookUpInput => ({
    type: run.type,
    account: run.account,
    request: run.request,
    ...(orderUuid && { orderUuid }),
    ...(run.order && { known: true }),
    ...(run.sentTo && { sentTo: run.sentTo }),
  });
  return clearAnswer(run, ({ lookUpOrder }, more) => lookUpOrder({ ...input(), ...more }), options);
}

/**
 * Asks by an activity that the server repeats until the service gives a clear answer, and keeps what that tells. THE place
 * where every look-up waits for the account that the order was sent to.
 */
export async function clearAnswer<T extends Answer>(
  run: OrderRun,
  ask: (activities: Parameters<Schedule<T>>[0], more: AskMore) => Promise<T | ElsewhereAnswer>,
  { summary, alarm, delayMs = 0 }: { summary: string; alarm?: boolean; delayMs?: number },
): Promise<T> {
  const keep = (more: AskMore) => keepAsking(run, { summary }, (activities) => ask(activities, more));
  const pending = keep(delayMs ? { delayMs } : {});
  const first = await (alarm ? withAlarm(run, pending, delayMs) : pending);
  const answer = isElsewhere(first) ? await untilSameAccount(run, first, keep) : first;
  noteAnswer(run, answer);
  run.lastLookupAtMs = Date.now();
  endSilence(run);
  return answer;
}
