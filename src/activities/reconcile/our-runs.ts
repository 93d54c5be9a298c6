import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from '@temporalio/client';
import { NoWorkerError, UnknownIdError } from '../../client/errors.js';
import { OrderHandle } from '../../client/order-handle.js';
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

/** The newest run of one of our order workflows. */
export interface OurRun {
  workflowId: string;
  runId: string;
  account: string;
  /** Whether it follows a receipt; `orderId` is then the service's order_uuid. */
  received: boolean;
  orderId: string;
  /** How its order stands, by the list; absent where only its end tells. */
  standing?: Standing;
  startedAtMs: number;
  /** Where a search attribute tells it: of receipts, and of orders that have ended or waited for a person. */
  orderUuid?: string;
  /** Whether it ended because no order of ours exists. */
  noOrder: boolean;
}

/** Ids in one query; each is up to 170 characters long. */
const IDS_AT_ONCE = 200;

/** Our orders that were started within a time and run or ended since; by the prefix of their ids: the account's attribute may come late. */
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
  for await (const info of client.workflow.list({ query, pageSize: 1000 })) {
    const run = toRun(info);
    if (run) yield run;
  }
}

/** The newest runs of these workflow ids, by the list: what has just been started may not be there yet. */
export async function newestRuns(client: Client, workflowIds: readonly string[]): Promise<Map<string, OurRun>> {
  const runs = new Map<string, OurRun>();
  const names = [...new Set(workflowIds)].map(quoted);
  for (let at = 0; at < names.length; at += IDS_AT_ONCE) {
    const query = `WorkflowId IN (${names.slice(at, at + IDS_AT_ONCE).join(', ')})`;
    await callTemporal(client, async () => {
      for await (const info of client.workflow.list({ query, pageSize: 1000 })) {
        const run = toRun(info);
        const known = run && runs.get(run.workflowId);
        if (run && !(known && known.startedAtMs > run.startedAtMs)) runs.set(run.workflowId, run);
      }
    });
  }
  return runs;
}

/** The newest run of a workflow id; undefined when there is none. Unlike the list it is never behind. */
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
      noOrder: attributes.get(searchAttribute.orderStatus) === 'none',
    }
  );
}

/** What a run says about its order. A running one is asked by a query only where the answer matters (`ask`). */
export async function wordOf(client: Client, run: OurRun, { ask }: { ask: boolean }): Promise<OurWord> {
  const standing = run.standing ?? (await readEnd(client, run.workflowId, run.runId));
  if (standing.kind !== 'open') return wordOfEnd(standing, run.workflowId);
  return {
    kind: 'running',
    startedAtMs: run.startedAtMs,
    ...(run.orderUuid && { orderUuid: run.orderUuid }),
    // Nobody answers for a run that is stuck.
    ...((await isStuck(client, run)) ? { stuck: true } : ask && (await knownEnd(client, run))),
  };
}

/** How a run left its order unresolved, in words; one that was stopped from outside is said to be just that. */
const HOW: Record<string, string> = { closed: 'closed by a person in doubt', failed: 'ended by an error' };

/** What the end of an order says to a reconciliation. Throws where its result cannot be read: nothing may be said of it then. */
export function wordOfEnd(standing: Exclude<Standing, { kind: 'open' }>, workflowId: string): OurWord {
  if (standing.kind === 'completed') return { kind: 'ended', end: ourEndOf(standing.result) };
  if (standing.kind === 'noOrder') return standing;
  if (standing.kind === 'notStarted') return { kind: 'unresolved', how: 'removed by the retention' };
  if (standing.kind === 'unresolved') return { kind: 'unresolved', how: HOW[standing.how] ?? standing.how };
  throw new Error(`the result of ${workflowId} cannot be read (${standing.why})`);
}

/** What a running workflow knows: a final order, or that a person has to decide about it. Silence counts as not knowing. */
async function knownEnd(client: Client, run: OurRun): Promise<Known> {
  try {
    const handle = new OrderHandle(client, run.account, run.orderId, { workflowId: run.workflowId });
    const { order, phase, attention } = await handle.state();
    // Where a send is open, the order may only have been late. In a conflict a look makes the revision stale.
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

/** Wakes a workflow as a callback would: one signed look-up follows. One that has just ended needs no waking. */
export async function wake(client: Client, { workflowId }: OurRun): Promise<void> {
  try {
    await callTemporal(client, () => client.workflow.getHandle(workflowId).signal(ORDER_CALLBACK_SIGNAL, {}));
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
