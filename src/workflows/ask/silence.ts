import {
  ActivityFailure,
  type ActivityInterfaceFor,
  type ActivityOptions,
  CancelledFailure,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import type { Turn, WhySilentAnswer, WhySilentInput } from '../../contract/order/activities.js';
import { wholeAnswer } from '../../contract/order/lean.js';
import { ATTENTION_AFTER_MIN, ATTENTION_AFTER_MS } from '../../contract/order/messages.js';
import { isMoneyMoving, quickCheck, shortly } from '../activity-calls.js';
import { clearAttention, raiseAttention, showTurn } from '../order/show.js';
import { type OrderRun, orderIdOf } from '../order/state.js';

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
  const { account, order } = run;
  const why = await whySilent({ account, ...(order ? { orderUuid: order.order_uuid } : { orderId: orderIdOf(run) }) });
  if (isOver() || isReportedUnserved(run)) return;
  if (why.turn) showTurn(run, turnText(account, why.turn));
  else raiseSilent(run, why);
}

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

const isReportedUnserved = ({ attention }: OrderRun): boolean => attention?.code === UNSERVED;

/** Reports that nobody serves the account. Returns what withdraws it. */
export function raiseUnserved(run: OrderRun, reason: string): () => void {
  raiseAttention(run, UNSERVED, reason);
  return () => clearAttention(run, reason);
}

export const unservedFor = (account: string): string =>
  `no worker has served account ${account} for ${ATTENTION_AFTER_MIN} min`;

const NORMAL_PRIORITY = 3;

/** Returns the place in line of a queued task; undefined without a worker. */
async function askForTurn(account: string, taskQueue = ''): Promise<Turn | undefined> {
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

export function turnText(account: string, { before, aboutMs, requestsPerSecond }: Turn): string {
  const pace =
    requestsPerSecond === undefined ? '' : ` makes ${Number(requestsPerSecond.toPrecision(2))} requests/s and`;
  const minutes = Math.ceil(aboutMs / 60_000);
  const until = minutes > 0 ? `, for about ${minutes} min` : '';
  const place = before > 0 ? `about ${Math.round(before)} other tasks first${until}` : 'it next';
  return `its turn: a worker of the account ${account}${pace} takes ${place}`;
}

/** Schedules an activity. `late`: no worker took it for 15 min. */
export type Schedule<T> = (activities: ActivityInterfaceFor<Activities>, late: boolean) => Promise<T>;

/** Each limit is longer than the one before, so that a waiting task costs ever less history. */
const LIMIT_GROWS = 4;

/**
 * Schedules an activity with a limit, and again with a longer one: the server removed the earlier
 * one from the queue. `tell` returns what withdraws its report.
 */
export async function untilTaken<T>(
  account: string,
  options: ActivityOptions,
  schedule: Schedule<T>,
  tell: (turn?: Turn) => () => unknown,
): Promise<T> {
  let told: { turn: Turn | undefined; takeBack: () => unknown } | undefined;
  try {
    for (let limitMs = ATTENTION_AFTER_MS; ; ) {
      const limited = { ...options, scheduleToStartTimeout: limitMs };
      try {
        return wholeAnswer(await schedule(proxyActivities<Activities>(limited), told !== undefined));
      } catch (error) {
        if (!isUntaken(error, options)) throw error;
      }
      const turn = await askForTurn(account, options.taskQueue);
      // The report of a missing worker stays until somebody serves the account.
      if (turn || !told || told.turn) {
        told?.takeBack();
        told = { turn, takeBack: tell(turn) };
      }
      limitMs = Math.max(LIMIT_GROWS * limitMs, 2 * (turn?.aboutMs ?? 0));
    }
  } finally {
    told?.takeBack();
  }
}

/**
 * Returns true if no worker took the activity in time. A create with a heartbeat may have sent in an
 * earlier attempt, and is not scheduled again.
 */
function isUntaken(error: unknown, options: ActivityOptions): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (!(cause instanceof TimeoutFailure) || cause.timeoutType !== 'SCHEDULE_TO_START') return false;
  return !isMoneyMoving(options) || cause.lastHeartbeatDetails === undefined;
}
