import { condition, sleep, workflowInfo } from '@temporalio/workflow';
import { searchAttribute } from '../../contract/names.js';
import {
  type AfterEndResult,
  type EndedReading,
  type LookUpEndedAnswer,
  type LookUpEndedInput,
  shownOf,
} from '../../contract/order/after-end.js';
import { requestOfOrder } from '../../contract/order/followers.js';
import { isOrderType } from '../../contract/order/types.js';
import type { Order } from '../../contract/service-objects.js';
import { askForReading } from '../ask/ask.js';
import { applyOutcome } from '../create/facts.js';
import { awaitFinal } from '../follow/await-final.js';
import { parkUnless } from '../order/park.js';
import { enterDone, raiseAttention } from '../order/show.js';
import type { OrderRun } from '../order/state.js';

/** Look-ups that callbacks cause while an operator is asked: each one makes the revision stale. */
const MAX_LOOKS = 20;

/** Readings, spread over the settle window, after which a claimed order counts as absent. */
const READINGS = 3;

/** Longest time between the two look-ups that an order's own run asks for. */
const LONGEST_WAIT_MS = 86_400_000;

type Asked = Pick<LookUpEndedInput, 'ended' | 'byRun' | 'acknowledged'>;

/**
 * Compares what the service shows with what the ended run reported, for each callback and once more
 * after `againAfterMs`. An operator acknowledges each change; nothing is ever sent.
 */
export async function lookAfterEnd(run: OrderRun, ended: string, againAfterMs?: number): Promise<AfterEndResult> {
  const byRun = againAfterMs !== undefined;
  const asked: Asked = { ended, byRun };
  let result: AfterEndResult = { changed: false };
  const againAtMs = Date.now() + Math.min(Number(againAfterMs) || 0, LONGEST_WAIT_MS);
  // The signal that started this run comes in the same task: the first look-up answers it.
  await Promise.resolve();
  for (;;) {
    // A callback may be ahead of what look-ups show.
    const isClaimed = run.callback.isDue || !byRun;
    run.callback.isDue = false;
    const answer = await lookOverWindow(run, asked, isClaimed);
    if (answer.kind === 'unchanged') result = { ...result, shown: answer.shown };
    else if (answer.kind !== 'open' && answer.changed) result = await acknowledged(run, asked, answer);
    else if (answer.kind !== 'open') result = { ...result, shown: answer.shown };
    // From here on, an open run of the order is not the one that started these look-ups.
    asked.byRun = false;
    if (result.changed) asked.acknowledged = result.shown;
    if (run.callback.isDue) continue;
    const waitMs = againAtMs - Date.now();
    if (waitMs <= 0) return close(run, result);
    await condition(() => run.callback.isDue, waitMs, { summary: 'Before it is looked up once more' });
  }
}

type Answer = Exclude<LookUpEndedAnswer, { kind: 'elsewhere' }>;

function lookUpEnded(run: OrderRun, asked: Asked): Promise<Answer> {
  const question = { summary: 'After its end: what does the service show?', alarm: true };
  const input = (): LookUpEndedInput => ({ account: run.account, ...asked, sentTo: run.sentTo });
  return askForReading<Answer>(run, question, ({ lookUpEnded: look }, more) => look({ ...input(), ...more }));
}

/**
 * Looks until something is shown, or until nothing was shown over the whole settle window. One
 * look-up is enough if no order was reported and no callback claims one.
 */
async function lookOverWindow(run: OrderRun, asked: Asked, isClaimed: boolean): Promise<Answer> {
  const startedAtMs = Date.now();
  for (let readings = 1; ; readings += 1) {
    const askedAtMs = Date.now();
    const answer = await lookUpEnded(run, asked);
    const windowMs = Math.max(...Object.values(run.strictest.pace?.settleWindowMs ?? {}), 0);
    const isOver = readings >= READINGS && askedAtMs - startedAtMs >= windowMs;
    if (answer.kind !== 'absent' || isOver || !(isClaimed || answer.changed)) return answer;
    await sleep(Math.ceil(windowMs / (READINGS - 1)), { summary: 'Not shown: it may only be late' });
  }
}

/** Reports a change, and waits until an operator acknowledges it. */
async function acknowledged(run: OrderRun, asked: Asked, first: EndedReading): Promise<AfterEndResult> {
  for (let [seen, looks] = [first, 1]; ; looks += 1) {
    const shown = seen.kind === 'found' ? await followed(run, seen.order, reasonFor(seen)) : seen.shown;
    const isHeard = looks < MAX_LOOKS ? () => run.callback.isDue : () => false;
    const reason = reasonFor({ ...seen, shown });
    const decision = await parkUnless(run, { code: 'changed-after-end', reason, allowed: ['accept'] }, isHeard);
    if (decision) return { shown, changed: true, ...(seen.kind === 'found' && { order: run.finalOrder }) };
    run.callback.isDue = false;
    const again = await lookUpEnded(run, asked);
    // What was shown once stays a question, whatever is shown since.
    if ((again.kind === 'found' || again.kind === 'duplicates') && again.changed) seen = again;
  }
}

const reasonFor = ({ before, shown }: Pick<EndedReading, 'before' | 'shown'>): string =>
  `${before}; now the service shows ${shown}`;

/** Follows a changed order to its final status; returns what is shown then. */
async function followed(run: OrderRun, order: Order, reason: string): Promise<string> {
  const type = order.order_type;
  if (isOrderType(type)) {
    run.type = type;
    run.request = requestOfOrder(type, order);
  }
  run.orderId = order.user_order_id;
  run.order = order;
  run.facts = applyOutcome(run.facts, { kind: 'adopted', ours: { kind: 'ours', order, how: 'adopted' } });
  run.finalOrder = undefined;
  raiseAttention(run, 'changed-after-end', reason);
  return shownOf(await awaitFinal(run));
}

/** Ends the look-ups. A run that showed nothing to operators writes nothing. */
function close(run: OrderRun, result: AfterEndResult): AfterEndResult {
  const isShown = workflowInfo().typedSearchAttributes.get(searchAttribute.orderStatus) !== undefined;
  if (isShown) enterDone(run, result.order?.status ?? 'none');
  return { ...result, ...(run.decisions.length > 0 && { decisions: run.decisions }) };
}
