import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from '@temporalio/client';
import { NoWorkerError, UnknownIdError } from '../../client/errors.js';
import { OrderHandle } from '../../client/order-handle.js';
import { allRuns } from '../../client/pages.js';
import { describeRun, isStuck, readEnd, type Standing, standingOfRun } from '../../client/standing.js';
import { callTemporal } from '../../client/temporal-calls.js';
import {
  ORDER_CALLBACK_SIGNAL,
  parseOrderWorkflowId,
  parseReceivedWorkflowId,
  quoted,
  searchAttribute,
} from '../../contract/names.js';
import type { Span } from '../../contract/reconcile/input.js';
import { isFinal } from '../../contract/service-objects.js';
import { type Known, type OurWord, ourEndOf } from './compare.js';

/** Newest run of one of our order workflows. */
export interface OurRun {
  workflowId: string;
  runId: string;
  account: string;
  /** Set for a receipt; `orderId` is then the service's order_uuid. */
  received: boolean;
  orderId: string;
  /** Listed order state; absent if only the run's end shows it. */
  standing?: Standing;
  startedAtMs: number;
  /**
   * Set if a search attribute has it: for receipts, and for orders that ended or waited for a
   * person.
   */
  orderUuid?: string;
  /** Caller's reference. */
  reference?: string;
  /** The run ended because no order exists. */
  noOrder: boolean;
}

/** Maximum ids per query, each up to 170 characters. */
const IDS_AT_ONCE = 200;

/**
 * Lists our orders that were started in a time and ran or ended since, by the prefix of their ids,
 * because their search attribute may be late.
 */
export async function* ourRuns(
  client: Client,
  account: string,
  { endedSinceMs, fromMs, toMs }: Span & { endedSinceMs: number },
): AsyncGenerator<OurRun> {
  const time = (ms: number) => `'${new Date(ms).toISOString()}'`;
  const query = [
    `(WorkflowId STARTS_WITH 'order:${account}:' OR WorkflowId STARTS_WITH 'received:${account}:')`,
    `(ExecutionStatus = 'Running' OR CloseTime >= ${time(endedSinceMs)})`,
    `StartTime >= ${time(fromMs)}`,
    `StartTime < ${time(toMs)}`,
  ].join(' AND ');
  for await (const info of allRuns(client, query)) {
    const run = toRun(info);
    if (run) yield run;
  }
}

/** Returns the newest runs of workflow ids by the list, which may lack very new ones. */
export async function newestRuns(client: Client, workflowIds: readonly string[]): Promise<Map<string, OurRun>> {
  const runs = new Map<string, OurRun>();
  const names = [...new Set(workflowIds)].map(quoted);
  for (let at = 0; at < names.length; at += IDS_AT_ONCE) {
    const query = `WorkflowId IN (${names.slice(at, at + IDS_AT_ONCE).join(', ')})`;
    for await (const info of allRuns(client, query)) {
      const run = toRun(info);
      const known = run && runs.get(run.workflowId);
      if (run && !(known && known.startedAtMs > run.startedAtMs)) runs.set(run.workflowId, run);
    }
  }
  return runs;
}

/** Returns the newest run of a workflow id without delay; undefined if there is none. */
export async function findOurRun(client: Client, workflowId: string): Promise<OurRun | undefined> {
  const found = await describeRun(client, workflowId);
  return found && toRun(found);
}

type Described = Pick<WorkflowExecutionInfo, 'workflowId' | 'runId' | 'status' | 'startTime' | 'typedSearchAttributes'>;

function toRun(info: Described): OurRun | undefined {
  const { workflowId, runId, startTime, typedSearchAttributes: attributes } = info;
  const received = parseReceivedWorkflowId(workflowId);
  const order = parseOrderWorkflowId(workflowId) ?? (received && { ...received, orderId: received.orderUuid });
  return (
    order && {
      workflowId,
      runId,
      account: order.account,
      received: received !== undefined,
      orderId: order.orderId,
      standing: standingOfRun(info),
      startedAtMs: startTime.getTime(),
      orderUuid: received?.orderUuid ?? attributes.get(searchAttribute.orderUuid),
      reference: attributes.get(searchAttribute.reference),
      noOrder: attributes.get(searchAttribute.orderStatus) === 'none',
    }
  );
}

/** Returns what a run reports about its order. Queries a running one only with `ask`. */
export async function wordOf(client: Client, run: OurRun, { ask }: { ask: boolean }): Promise<OurWord> {
  const standing = run.standing ?? (await readEnd(client, run.workflowId, run.runId));
  if (standing.kind !== 'open') return wordOfEnd(standing, run.workflowId);
  return {
    kind: 'running',
    startedAtMs: run.startedAtMs,
    ...(run.orderUuid && { orderUuid: run.orderUuid }),
    // No worker answers for a stuck run.
    ...((await isStuck(client, run)) ? { stuck: true } : ask && (await knownEnd(client, run))),
  };
}

/** Ways in which a run left its order unresolved. */
const HOW: Record<string, string> = { closed: 'closed by a person in doubt', failed: 'ended by an error' };

/**
 * Returns what an order's end says. Throws if its result is unreadable, because nothing may then be
 * concluded.
 */
export function wordOfEnd(standing: Exclude<Standing, { kind: 'open' }>, workflowId: string): OurWord {
  if (standing.kind === 'completed') return { kind: 'ended', end: ourEndOf(standing.result) };
  if (standing.kind === 'noOrder') return standing;
  if (standing.kind === 'notStarted') return { kind: 'unresolved', how: 'removed by the retention' };
  if (standing.kind === 'unresolved') return { kind: 'unresolved', how: HOW[standing.how] ?? standing.how };
  throw new Error(`the result of ${workflowId} cannot be read (${standing.why})`);
}

/**
 * Returns what a running workflow knows: a final order, or an open decision. No answer means
 * unknown.
 */
async function knownEnd(client: Client, run: OurRun): Promise<Known> {
  try {
    const handle = new OrderHandle(client, run.account, run.orderId, { workflowId: run.workflowId });
    const { order, phase, attention } = await handle.state();
    // With an open send, the order may only have been late. In a conflict, a look makes the
    // revision stale.
    if (!order && phase === 'parked')
      return { undecided: { looksAgain: attention?.allowed.includes('resend') ?? false } };
    if (!order) return run.received ? { unfound: true } : {};
    const { order_uuid: orderUuid, status } = order;
    if (!isFinal(status)) return { orderUuid };
    return { orderUuid, known: { outcome: status, orderUuid, amounts: order, nothingLeft: false } };
  } catch (error) {
    if (error instanceof NoWorkerError || error instanceof UnknownIdError) return {};
    throw error;
  }
}

/**
 * Wakes a workflow like a callback, which causes one signed look-up. Does nothing if it has just
 * ended.
 */
export async function wake(client: Client, { workflowId }: OurRun): Promise<void> {
  try {
    await callTemporal(client, () => client.workflow.getHandle(workflowId).signal(ORDER_CALLBACK_SIGNAL, {}));
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
