import {
  type Client,
  type WorkflowExecutionInfo,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { NoWorkerError, UnknownIdError } from '../../client/errors.js';
import { OrderHandle } from '../../client/order-handle.js';
import { callTemporal } from '../../client/temporal-calls.js';
import { isOrderFailure, ORDER_UNRESOLVED } from '../../contract/failures.js';
import { parseOrderWorkflowId, parseReceivedWorkflowId } from '../../contract/ids.js';
import { ORDER_CALLBACK_SIGNAL, searchAttribute } from '../../contract/names.js';
import { isFinal } from '../../contract/order/order.js';
import type { OrderResult } from '../../contract/order/result.js';
import { amountsOf, type OurWord, verdictOf } from './compare.js';

/** The newest run of one of our order workflows. */
export interface OurRun {
  workflowId: string;
  runId: string;
  account: string;
  /** True for the follower of a receipt; `orderId` is then the service's order_uuid. */
  received: boolean;
  orderId: string;
  status: WorkflowExecutionInfo['status']['name'];
  startedAtMs: number;
  /** Absent while it runs. */
  endedAtMs?: number;
  /** Where a search attribute tells it: of receipts, and of orders that have ended or waited for a person. */
  orderUuid?: string;
  /** True when it ended because no order of ours exists. */
  noOrder: boolean;
}

/**
 * Our orders of an account that run, or that ended since. Found by the prefix of their ids: one that was started without
 * our client has no account among its search attributes at first.
 */
export async function listOurRuns(
  client: Client,
  account: string,
  { endedSinceMs, startedUntilMs }: { endedSinceMs: number; startedUntilMs: number },
): Promise<Map<string, OurRun>> {
  const [since, until] = [endedSinceMs, startedUntilMs].map((ms) => new Date(ms).toISOString());
  const query = [
    `(WorkflowId STARTS_WITH 'order:${account}:' OR WorkflowId STARTS_WITH 'received:${account}:')`,
    `(ExecutionStatus = 'Running' OR CloseTime >= '${since}')`,
    `StartTime <= '${until}'`,
  ].join(' AND ');
  const runs = new Map<string, OurRun>();
  for await (const info of client.workflow.list({ query, pageSize: 1000 })) {
    const run = toRun(info);
    const known = run && runs.get(run.workflowId);
    if (run && !(known && known.startedAtMs > run.startedAtMs)) runs.set(run.workflowId, run);
  }
  return runs;
}

/** The newest run of a workflow id; undefined when there is none. Unlike the list it is never behind. */
export async function findOurRun(client: Client, workflowId: string): Promise<OurRun | undefined> {
  try {
    return toRun(await callTemporal(client, () => client.workflow.getHandle(workflowId).describe()));
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

type Described = Pick<
  WorkflowExecutionInfo,
  'workflowId' | 'runId' | 'status' | 'startTime' | 'closeTime' | 'typedSearchAttributes'
>;

function toRun(info: Described): OurRun | undefined {
  const order = parseOrderWorkflowId(info.workflowId);
  const received = parseReceivedWorkflowId(info.workflowId);
  const account = order?.account ?? received?.account;
  const orderId = order?.orderId ?? received?.orderUuid;
  if (account === undefined || orderId === undefined) return undefined;
  return {
    workflowId: info.workflowId,
    runId: info.runId,
    account,
    received: received !== undefined,
    orderId,
    status: info.status.name,
    startedAtMs: info.startTime.getTime(),
    endedAtMs: info.closeTime?.getTime(),
    orderUuid: received?.orderUuid ?? info.typedSearchAttributes.get(searchAttribute.orderUuid),
    noOrder: info.typedSearchAttributes.get(searchAttribute.orderStatus) === 'none',
  };
}

/** How a workflow ended, in words, where it ended without a verdict. */
const STOPPED: Partial<Record<OurRun['status'], string>> = {
  TERMINATED: 'terminated',
  TIMED_OUT: 'timed out',
  CANCELLED: 'cancelled',
};

/** What a run says about its order. A running one is asked by a query only where the answer matters (`ask`). */
export async function wordOf(client: Client, run: OurRun, { ask }: { ask: boolean }): Promise<OurWord> {
  if (run.status === 'RUNNING') {
    const known = ask ? await knownEnd(client, run) : undefined;
    return {
      kind: 'running',
      startedAtMs: run.startedAtMs,
      ...(run.orderUuid && { orderUuid: run.orderUuid }),
      ...known,
    };
  }
  const how = STOPPED[run.status];
  if (how) return { kind: 'unresolved', how };
  try {
    const handle = client.workflow.getHandle<() => Promise<OrderResult>>(run.workflowId, run.runId);
    return { kind: 'ended', verdict: verdictOf(await callTemporal(client, () => handle.result())) };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { kind: 'unresolved', how: 'removed by the retention' };
    if (!(error instanceof WorkflowFailedError)) throw error;
    const { cause } = error;
    if (cause instanceof ApplicationFailure && isOrderFailure(cause.type))
      return { kind: 'noOrder', failure: cause.type };
    const closed = cause instanceof ApplicationFailure && cause.type === ORDER_UNRESOLVED;
    return { kind: 'unresolved', how: closed ? 'closed by a person in a conflict' : 'ended by an error' };
  }
}

type Known = Pick<Extract<OurWord, { kind: 'running' }>, 'known' | 'orderUuid' | 'undecided' | 'unfound'>;

/** What a running workflow knows: a final order, or that a person has to decide about it. Silence counts as not knowing. */
async function knownEnd(client: Client, run: OurRun): Promise<Known> {
  try {
    const handle = new OrderHandle(client, run.account, run.orderId, { workflowId: run.workflowId });
    const { order, phase, attention } = await handle.state();
    // A workflow that may send again also looks again: its order may only have been late.
    if (!order && phase === 'parked')
      return { undecided: { looksAgain: attention?.allowed.includes('resend') ?? false } };
    if (!order) return run.received ? { unfound: true } : {};
    const { order_uuid: orderUuid, status } = order;
    if (!isFinal(status)) return { orderUuid };
    return { orderUuid, known: { outcome: status, orderUuid, amounts: amountsOf(order), nothingLeft: false } };
  } catch (error) {
    if (error instanceof NoWorkerError || error instanceof UnknownIdError) return {};
    throw error;
  }
}

/** Wakes a workflow as a callback would: one signed look-up follows. One that has just ended needs no waking. */
export async function wake(client: Client, { workflowId }: OurRun): Promise<void> {
  try {
    await callTemporal(client, () => client.workflow.getHandle(workflowId).signal(ORDER_CALLBACK_SIGNAL, {}));
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
