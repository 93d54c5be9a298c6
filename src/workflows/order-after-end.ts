import { condition, workflowInfo } from '@temporalio/workflow';
import { parseAfterEndWorkflowId, searchAttribute } from '../contract/names.js';
import {
  type AfterEndInput,
  type AfterEndResult,
  changeText,
  type EndedReading,
  type LookUpEndedAnswer,
  type LookUpEndedInput,
  shownOf,
} from '../contract/order/after-end.js';
import { requestOfOrder } from '../contract/order/followers.js';
import type { WithdrawRequest } from '../contract/order/request.js';
import { isOrderType } from '../contract/order/types.js';
import type { Order } from '../contract/service-objects.js';
import { readOverWindow } from './activity-calls.js';
import { askForReading } from './ask/ask.js';
import { record } from './create/apply-outcome.js';
import { awaitFinal } from './follow/await-final.js';
import { invalidInput } from './identity.js';
import { runAfterEnd } from './order/frame.js';
import { enterDone, park, raiseAttention } from './order/show.js';
import { type OrderRun, openRun } from './order/state.js';
import { handOver } from './outbox.js';

const LONGEST_WAIT_MS = 86_400_000;

type Comparison = Pick<LookUpEndedInput, 'ended' | 'byRun' | 'acknowledged'>;

/** Looks an order up after its run has ended; asks an operator about a change. Moves no money. */
export async function orderAfterEnd(input?: AfterEndInput): Promise<AfterEndResult> {
  const about = parseAfterEndWorkflowId(workflowInfo().workflowId);
  if (!about)
    throw invalidInput([{ field: 'workflow', reason: 'its id must name an ended order' }], 'Nothing was sent');
  const { account, orderId, ended } = about;
  // Its type is unknown; payouts have the longest settle window.
  const run = openRun('withdraw', { account, order: { order_id: orderId } as WithdrawRequest });
  run.phase = 'following';
  run.waitingFor = 'a look-up of the order after its end';
  return runAfterEnd(run, (opened) => lookAfterEnd(opened, ended, input?.againAfterMs));
}

/** Compares what the service shows with what the ended run reported. */
async function lookAfterEnd(run: OrderRun, ended: string, againAfterMs?: number): Promise<AfterEndResult> {
  const byRun = againAfterMs !== undefined;
  const asked: Comparison = { ended, byRun };
  let result: AfterEndResult = { changed: false };
  const againAtMs = Date.now() + Math.min(Number(againAfterMs) || 0, LONGEST_WAIT_MS);
  // The signal that started this run arrives in the same task.
  await Promise.resolve();
  for (;;) {
    // A callback may be ahead of look-ups.
    const isClaimed = run.callback.isDue || !byRun;
    run.callback.isDue = false;
    const answer = await lookOverWindow(run, asked, isClaimed);
    if (answer.kind !== 'open') {
      const isChanged = answer.kind !== 'unchanged' && answer.changed;
      result = isChanged ? await acknowledged(run, answer) : { ...result, shown: answer.shown };
    }
    // From now on, an open run of the order is another one.
    asked.byRun = false;
    if (result.changed) asked.acknowledged = result.shown;
    if (run.callback.isDue) continue;
    const waitMs = againAtMs - Date.now();
    if (waitMs <= 0) {
      await handOver(run.outbox);
      if (run.callback.isDue) continue;
      return close(run, result);
    }
    await condition(() => run.callback.isDue, waitMs, { summary: 'Before it is looked up once more' });
  }
}

type EndedAnswer = Exclude<LookUpEndedAnswer, { kind: 'elsewhere' }>;

function lookUpEnded(run: OrderRun, asked: Comparison): Promise<EndedAnswer> {
  const question = { summary: 'After its end: what does the service show?', alarm: true };
  const input = (): LookUpEndedInput => ({ account: run.account, ...asked, sentTo: run.sentTo });
  return askForReading<EndedAnswer>(run, question, ({ lookUpEnded: look }, more) => look({ ...input(), ...more }));
}

/**
 * Looks until something is shown or the settle window is over. One look-up is enough if no order was
 * reported and no callback claims one.
 */
function lookOverWindow(run: OrderRun, asked: Comparison, isClaimed: boolean): Promise<EndedAnswer> {
  const isAbsent = (answer: EndedAnswer) => answer.kind === 'absent' && (isClaimed || answer.changed);
  const windowMs = () => Math.max(...Object.values(run.strictest.pace?.settleWindowMs ?? {}), 0);
  return readOverWindow(() => lookUpEnded(run, asked), isAbsent, windowMs);
}

async function acknowledged(run: OrderRun, seen: EndedReading): Promise<AfterEndResult> {
  run.input = { ...run.input, reference: seen.reference };
  const now = seen.kind === 'found' ? await followed(run, seen.order, reasonFor(seen)) : seen.shown;
  // The look-up also named balance changes.
  const shown = seen.shown.startsWith(now) ? seen.shown : now;
  await park(run, { code: 'changed-after-end', reason: reasonFor({ ...seen, shown }), allowed: ['accept'] });
  return { shown, changed: true, ...(seen.kind === 'found' && { order: run.finalOrder }) };
}

function reasonFor({ before, was = '', shown }: Pick<EndedReading, 'before' | 'was' | 'shown'>): string {
  const change = changeText(was, shown);
  const reported = was === '' ? before : before.replace(was, () => change.before);
  return `${reported}; now the service shows ${change.shown}`;
}

async function followed(run: OrderRun, order: Order, reason: string): Promise<string> {
  const type = order.order_type;
  if (isOrderType(type)) {
    run.type = type;
    run.request = requestOfOrder(type, order);
  }
  run.order = order;
  record(run, { kind: 'adopted', ours: { kind: 'ours', order, how: 'adopted' } });
  run.finalOrder = undefined;
  raiseAttention(run, 'changed-after-end', reason);
  return shownOf(await awaitFinal(run));
}

/** Ends the look-ups. A run that asked nobody writes nothing. */
function close(run: OrderRun, result: AfterEndResult): AfterEndResult {
  const isShown = workflowInfo().typedSearchAttributes.get(searchAttribute.orderStatus) !== undefined;
  if (isShown) enterDone(run, result.order?.status ?? 'none');
  return { ...result, ...(run.decisions.length > 0 && { decisions: run.decisions }) };
}
