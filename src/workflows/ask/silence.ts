import { ActivityFailure, CancelledFailure, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import type { Turn, WhySilentAnswer, WhySilentInput } from '../../contract/order/activities.js';
import { ATTENTION_AFTER_MIN } from '../../contract/order/messages.js';
import { quickCheck, shortly } from '../activity-calls.js';
import { clearAttention, raiseAttention, showTurn } from '../order/show.js';
import type { OrderRun } from '../order/state.js';

const WORDS: Record<WhySilentAnswer['code'], string> = {
  'service-down': 'the service cannot be reached',
  'key-refused': "the service refuses this account's API key",
  'service-silent': 'the service gives no clear answer about this order',
};

const SILENCES: readonly string[] = Object.keys(WORDS);

const isReportedSilent = ({ attention }: OrderRun): boolean => SILENCES.includes(attention?.code ?? '');

/** Reports a silent service and the cause. `isOver`: it has answered meanwhile. */
export async function raiseSilence(run: OrderRun, isOver: () => boolean): Promise<void> {
  if (isReportedUnserved(run)) return;
  const { account, orderId, order } = run;
  const why = await whySilent({ account, ...(order ? { orderUuid: order.order_uuid } : { orderId }) });
  if (isOver() || isReportedUnserved(run)) return;
  if (why.turn) showTurn(run, turnText(account, why.turn));
  else raiseSilent(run, why);
}

/** Reports a silent service for a known cause. */
export const raiseSilent = (run: OrderRun, { code, said }: WhySilentAnswer): void =>
  raiseAttention(
    run,
    code,
    `${WORDS[code]}${said ? ` (${said.slice(0, 300)})` : ''}, so this order cannot be checked. We keep trying`,
  );

/** Withdraws the report: the service has answered. */
export function endSilence(run: OrderRun): void {
  if (isReportedSilent(run)) clearAttention(run, run.attention?.reason);
  showTurn(run);
}

/** Asks why there is no clear answer. */
export async function whySilent(input: WhySilentInput): Promise<WhySilentAnswer> {
  const { whySilent: ask } = proxyActivities<Activities>(shortly(input.account));
  try {
    const answer = await ask(input);
    return SILENCES.includes(answer?.code) ? answer : { code: 'service-silent' };
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return { code: 'service-silent' };
  }
}

const UNSERVED = 'account-not-served';

/** Returns true while attention says that nobody serves the account. */
export const isReportedUnserved = ({ attention }: OrderRun): boolean => attention?.code === UNSERVED;

/** Reports that nobody serves the account. Returns what withdraws it. */
export function raiseUnserved(run: OrderRun, reason: string): () => void {
  raiseAttention(run, UNSERVED, reason);
  return () => clearAttention(run, reason);
}

/** Returns the words for an account without a worker. */
export const unservedFor = (account: string): string =>
  `no worker has served account ${account} for ${ATTENTION_AFTER_MIN} min`;

const NORMAL_PRIORITY = 3;

/** Returns the place in line of a queued task; undefined without a worker. */
export async function askForTurn(account: string, taskQueue = ''): Promise<Turn | undefined> {
  const options = { ...quickCheck(account), summary: 'Does it only wait for its turn?' };
  const { whereInLine } = proxyActivities<Activities>(options);
  const priority = workflowInfo().priority?.priorityKey ?? NORMAL_PRIORITY;
  try {
    return await whereInLine({ account, taskQueue, priority });
  } catch (error) {
    // Must not look like the failure of the task itself.
    if (isCancellation(error)) throw new CancelledFailure('cancelled while no worker had taken it');
    if (!(error instanceof ActivityFailure)) throw error;
    return undefined;
  }
}

/** Returns the words for a task that waits for its turn. */
export function turnText(account: string, { before, aboutMs, requestsPerSecond }: Turn): string {
  const pace =
    requestsPerSecond === undefined ? '' : ` makes ${Number(requestsPerSecond.toPrecision(2))} requests/s and`;
  const minutes = Math.ceil(aboutMs / 60_000);
  const until = minutes > 0 ? `, for about ${minutes} min` : '';
  const place = before > 0 ? `about ${Math.round(before)} other tasks first${until}` : 'it next';
  return `its turn: a worker of the account ${account}${pace} takes ${place}`;
}
