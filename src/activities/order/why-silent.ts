import { activityInfo, getClient } from '@temporalio/activity';
import type { Turn, TurnInput, WhySilentAnswer, WhySilentInput } from '../../contract/order/activities.js';
import {
  NoAnswerError,
  NotSentError,
  PaymentServiceError,
  refusesKey,
  UnexpectedStatusError,
} from '../../payment-service/errors.js';
import { type Limiter, NO_TURN } from '../../payment-service/limiter.js';
import { type Account, type ActivityDeps, accountOf } from '../deps.js';

/** Returns why look-ups got no clear answer, by one similar read. Proves nothing. */
export function whySilentActivity(deps: ActivityDeps) {
  return async function whySilent(input: WhySilentInput): Promise<WhySilentAnswer> {
    const account = accountOf(deps, input.account);
    try {
      await read(account, input);
      return { code: 'service-silent' };
    } catch (error) {
      if (!(error instanceof PaymentServiceError)) throw error;
      if (error instanceof NotSentError && error.reason === NO_TURN) {
        return { code: 'service-silent', turn: turnInWorker(account.limiter) };
      }
      return { code: codeOf(error), said: error.message };
    }
  };
}

function read(account: Account, { orderId, orderUuid }: WhySilentInput): Promise<unknown> {
  if (orderUuid !== undefined) return account.service.orderStatus({ order_uuid: orderUuid });
  return orderId === undefined ? account.service.balances() : account.service.orderStatus({ order_id: orderId });
}

function codeOf(error: PaymentServiceError): WhySilentAnswer['code'] {
  if (error instanceof NotSentError || error instanceof NoAnswerError) return 'service-down';
  if (refusesKey(error)) return 'key-refused';
  return error instanceof UnexpectedStatusError && error.status >= 500 ? 'service-down' : 'service-silent';
}

/** Wire number of an activity queue's type. */
const ACTIVITY_QUEUE = 2;

/** Requests of a create: its probe and the create itself. */
const REQUESTS_PER_TASK = 2;

/** Returns how many tasks go first, and how fast. Asks only Temporal, so it needs no turn. */
export function whereInLineActivity(deps: ActivityDeps) {
  return async function whereInLine({ account, taskQueue, priority }: TurnInput): Promise<Turn> {
    const { limiter } = accountOf(deps, account);
    const { stats, statsByPriorityKey } = await getClient().workflowService.describeTaskQueue({
      namespace: activityInfo().workflowNamespace,
      taskQueue: { name: taskQueue },
      taskQueueType: ACTIVITY_QUEUE,
      reportStats: true,
    });
    const levels = Object.entries(statsByPriorityKey ?? {}).filter(([level]) => Number(level) <= priority);
    const first = levels.length > 0 ? levels.map(([, level]) => level) : [stats];
    const before = first.reduce((sum, level) => sum + Number(level?.approximateBacklogCount ?? 0), 0);
    const perSecond = stats?.tasksDispatchRate || (rateOf(limiter) ?? 0) / REQUESTS_PER_TASK;
    return turnOf(limiter, before, perSecond > 0 ? (1_000 * before) / perSecond : 0);
  };
}

/** Returns the place of a request in this worker's line. */
const turnInWorker = (limiter: Limiter): Turn =>
  turnOf(limiter, limiter.waiting, (limiter.waiting + 1) * limiter.intervalMs);

function turnOf(limiter: Limiter, before: number, aboutMs: number): Turn {
  const requestsPerSecond = rateOf(limiter);
  return { before, aboutMs: Math.round(aboutMs), ...(requestsPerSecond !== undefined && { requestsPerSecond }) };
}

/** Returns this worker's requests per second; undefined without a limit. */
const rateOf = ({ intervalMs }: Limiter): number | undefined => (intervalMs > 0 ? 1_000 / intervalMs : undefined);
