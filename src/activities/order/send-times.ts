import { activityInfo, getClient } from '@temporalio/activity';
import type { CreateOrderInput, CreateVerdict } from '../../contract/order/activities.js';
import type { OrderInput } from '../../contract/order/input-and-result.js';
import type { CreateRequest } from '../../contract/order/request.js';
import type { ActivityDeps } from '../deps.js';
import type { AttemptDeadline } from './create-attempt.js';

/** Returns when the server handed out this attempt, by the server's clock. Throws if the server gave the attempt up. */
export async function attemptStartedMs(): Promise<number> {
  const { activityId, workflowExecution: execution, workflowNamespace: namespace } = activityInfo();
  const run = await getClient().workflowService.describeWorkflowExecution({ namespace, execution });
  const time = run.pendingActivities?.find((pending) => pending.activityId === activityId)?.lastStartedTime;
  if (!time) throw new Error('the server does not show this attempt');
  return Number(time.seconds ?? 0) * 1_000 + (time.nanos ?? 0) / 1e6;
}

/** When an order may be sent, asked as often as needed during one attempt. */
export interface SendTimes {
  /** Returns why the order is too late to be sent; undefined = it may be sent. */
  tooLate(): Promise<CreateVerdict | undefined>;
  /** Returns the rest of its delay, so that it keeps its time however late it is sent; undefined = it has none. */
  delayMinutes(): number | undefined;
}

/** Reads the server's clock, if the times of this order need it. Its delay counts from the start of its run. */
export async function readSendTimes(
  { nowMs = Date.now, attemptStartedMs: started = attemptStartedMs }: ActivityDeps,
  { startedAtMs, input, late, permission }: CreateOrderInput,
  request: CreateRequest,
  deadline: AttemptDeadline,
): Promise<SendTimes> {
  const { latestSend } = input as OrderInput;
  const delay = 'delay_order_for_minutes' in request ? request.delay_order_for_minutes : undefined;
  const handedOutMs = delay || latestSend ? await started() : 0;
  const serverMs = () => handedOutMs + deadline.elapsedMs();
  const startsAtMs = startedAtMs + (delay ?? 0) * 60_000;
  return {
    async tooLate() {
      // One of the two clocks may be slow.
      if (latestSend && Math.max(await nowMs(), serverMs()) > Date.parse(latestSend)) {
        const reason = `its latest send time ${latestSend} is over`;
        return { kind: permission === 'first' ? 'stale' : 'notSent', reason };
      }
      if (!delay || late || serverMs() < startsAtMs) return undefined;
      return { kind: 'notSent', reason: 'the time that it was to start at has passed' };
    },
    delayMinutes: () => (delay === undefined ? undefined : Math.max(0, Math.ceil((startsAtMs - serverMs()) / 60_000))),
  };
}
