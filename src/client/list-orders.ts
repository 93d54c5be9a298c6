import {
  type Client,
  isGrpcServiceError,
  type ListOptions,
  ServiceError,
  type WorkflowExecutionInfo,
} from '@temporalio/client';
import * as z from 'zod';
import { ATTENTION_CODES, type AttentionCode } from '../contract/attention.js';
import {
  ACCOUNT_FORMAT,
  parseOrderWorkflowId,
  parseReceivedWorkflowId,
  quoted,
  RECEIVED_DEPOSIT_WORKFLOW,
  RECONCILE_WORKFLOW,
  searchAttribute,
} from '../contract/names.js';
import { ORDER_TYPES, type OrderType, workflowTypeOf } from '../contract/order/types.js';
import { SHOWN_STATUSES } from '../contract/service-objects.js';
import { checkedBy } from '../validation/field-errors.js';
import { shownName } from '../validation/request-schemas.js';
import { accepted } from './checked-input.js';
import { standingOfRun } from './standing.js';
import { callTemporal } from './temporal-calls.js';

const [DEFAULT_LIMIT, MAX_LIMIT] = [50, 10_000];

/** The workflow types of orders, as a query lists them. */
const orderTypes = [...ORDER_TYPES.map(workflowTypeOf), RECEIVED_DEPOSIT_WORKFLOW].map(quoted).join(', ');

/** Shown as an order's status; its search attribute still says what it was when the workflow was stopped. */
const STOPPED = 'stopped';

/** Ends that Temporal or an operator makes, by their names in queries; `standingOfRun` reads them. */
const stoppedStatuses = ['Terminated', 'TimedOut', 'Canceled'].map(quoted).join(', ');
const IS_STOPPED = `ExecutionStatus IN (${stoppedStatuses})`;
const IS_NOT_STOPPED = `ExecutionStatus NOT IN (${stoppedStatuses})`;

/** Selects the orders to list; fields are combined with "and". */
export interface OrderFilter {
  account?: string;
  /** `open`, `uncertain`, `parked`, `stopped`, `none`, `unresolved` or a final status. */
  status?: string;
  /** Stopped orders need attention, too. */
  needsAttention?: boolean;
  batchId?: string;
  /** At most this many, newest first; 50 when omitted. */
  limit?: number;
}

const STATUSES = [...SHOWN_STATUSES, STOPPED];

/** A field that is not known would otherwise be passed over. */
const filterSchema = z
  .strictObject({
    account: shownName(ACCOUNT_FORMAT, 'must be 1 to 32 of a-z 0-9 -'),
    status: z.enum(STATUSES, `must be one of ${STATUSES.join(', ')}`),
    needsAttention: z.boolean(),
    batchId: z.string(),
    limit: z.int().min(1).max(MAX_LIMIT),
  })
  .partial();

const startsWith = (account: string) => (kind: string) => `WorkflowId STARTS_WITH ${quoted(`${kind}:${account}:`)}`;

/** The visibility query of a filter; every value is a literal, whatever it holds. */
export function orderQuery({ account, status, needsAttention, batchId }: OrderFilter): string {
  const terms = [`WorkflowType IN (${orderTypes})`];
  // By the id, which every order has; a start by hand has no search attributes of its own.
  if (account !== undefined) terms.push(`(${['order', 'received'].map(startsWith(account)).join(' OR ')})`);
  if (status === STOPPED) terms.push(IS_STOPPED);
  else if (status !== undefined) terms.push(`PaymentOrderStatus = ${quoted(status)}`, IS_NOT_STOPPED);
  if (needsAttention === true) terms.push(`(PaymentNeedsAttention = true OR ${IS_STOPPED})`);
  if (needsAttention === false) terms.push('PaymentNeedsAttention = false', IS_NOT_STOPPED);
  if (batchId !== undefined) terms.push(`PaymentBatchId = ${quoted(batchId)}`);
  return terms.join(' AND ');
}

/** Why a person should look, since when, and about how much, such as `12.50 usd`, where that is known. */
export interface ListedAttention {
  code: AttentionCode;
  since: Date;
  amount?: string;
}

/** What a list shows of a workflow that wants a person; undefined where it wants none, or never said why. */
export function attentionIn({ typedSearchAttributes: attributes }: WorkflowExecutionInfo): ListedAttention | undefined {
  const code = ATTENTION_CODES.find((one) => one === attributes.get(searchAttribute.attentionReason));
  const since = attributes.get(searchAttribute.attentionSince);
  const amount = attributes.get(searchAttribute.amount);
  return code && since && { code, since, ...(amount !== undefined && { amount }) };
}

/** An order as Temporal's visibility shows it: a few seconds old at most, and without asking a worker. */
export interface OrderListEntry {
  /** Of a received order its order_uuid. */
  orderId: string;
  /** Whether a receipt on a permanent address made the order. */
  received: boolean;
  account: string;
  workflowId: string;
  /** The service's order type; undefined for received orders, whose start did not know it. */
  type: OrderType | undefined;
  /**
   * `open`, `uncertain` or `parked` while so, then the final status; `none` when no order came to exist; `unresolved` when
   * a person closed it though an order has its id; `stopped` when
   * its workflow was terminated or timed out: the order may exist at the service and nobody follows it.
   */
  status: string | undefined;
  needsAttention: boolean;
  attention?: ListedAttention;
  currencyFrom: string | undefined;
  currencyTo: string | undefined;
  orderUuid?: string;
  batchId?: string;
  startedAt: Date;
  closedAt?: Date;
}

const isStopped = (info: WorkflowExecutionInfo): boolean => standingOfRun(info)?.kind === 'unresolved';

/** Reads a workflow as an order; undefined for any other one. */
export function toEntry(info: WorkflowExecutionInfo): OrderListEntry | undefined {
  const ordered = parseOrderWorkflowId(info.workflowId);
  const received = parseReceivedWorkflowId(info.workflowId);
  const account = (ordered ?? received)?.account;
  const orderId = ordered?.orderId ?? received?.orderUuid;
  if (account === undefined || orderId === undefined) return undefined;
  const attributes = info.typedSearchAttributes;
  return {
    account,
    orderId,
    received: received !== undefined,
    workflowId: info.workflowId,
    type: ORDER_TYPES.find((type) => workflowTypeOf(type) === info.type),
    status: isStopped(info) ? STOPPED : attributes.get(searchAttribute.orderStatus),
    needsAttention: isStopped(info) || (attributes.get(searchAttribute.needsAttention) ?? false),
    attention: attentionIn(info),
    currencyFrom: attributes.get(searchAttribute.currencyFrom),
    currencyTo: attributes.get(searchAttribute.currencyTo),
    orderUuid: attributes.get(searchAttribute.orderUuid),
    batchId: attributes.get(searchAttribute.batchId),
    startedAt: info.startTime,
    closedAt: info.closeTime,
  };
}

/** What is read of a run, unless a newer one says how things are. */
const unlessSuperseded = async <T>(client: Client, info: WorkflowExecutionInfo, read: T): Promise<T | undefined> =>
  (await supersededRuns(client, [info])).size > 0 ? undefined : read;

/** Orders that fit the filter, newest first. Throws InvalidInputError. */
export async function listOrders(client: Client, filter: OrderFilter): Promise<OrderListEntry[]> {
  accepted(checkedBy(filterSchema, filter));
  return firstOf(client, orderQuery(filter), filter.limit ?? DEFAULT_LIMIT, (info) => {
    const isOfNow = isStopped(info) || filter.needsAttention === true;
    return isOfNow ? unlessSuperseded(client, info, toEntry(info)) : toEntry(info);
  });
}

/** What `read` makes of the workflows that a visibility query finds, newest first; undefined does not count. */
export const firstOf = <T>(
  client: Client,
  query: string,
  limit: number,
  read: (info: WorkflowExecutionInfo) => T | undefined | Promise<T | undefined>,
): Promise<T[]> =>
  callTemporal(client, async () => {
    const found: T[] = [];
    for await (const info of client.workflow.list({ query, pageSize: Math.min(limit, 1000) })) {
      const one = await read(info);
      if (one !== undefined) found.push(one);
      if (found.length >= limit) break;
    }
    return found;
  });

/** A closed workflow keeps its mark: after two days somebody has seen it. */
export const SHOWN_AFTER_CLOSE_MS = 48 * 3_600_000;

/** More would hide the orders that they are shown beside. */
const MAX_SHOWN = 20;

/** A workflow that is no order and wants a person to look: a batch, an address, a reconciliation. */
export interface AttentionElsewhere
  extends Pick<OrderListEntry, 'workflowId' | 'attention' | 'startedAt' | 'closedAt'> {
  /** Its workflow type. */
  type: string;
}

/** Returns what wants a person beside the orders, newest first: open, or closed in the last two days; 20 at most. */
export function attentionElsewhere(client: Client, account?: string): Promise<AttentionElsewhere[]> {
  const since = new Date(Date.now() - SHOWN_AFTER_CLOSE_MS).toISOString();
  const query = [
    `${searchAttribute.needsAttention.name} = true`,
    `WorkflowType NOT IN (${orderTypes})`,
    `(ExecutionStatus = 'Running' OR CloseTime > '${since}')`,
    ...(account === undefined ? [] : [`${searchAttribute.account.name} = ${quoted(account)}`]),
  ].join(' AND ');
  return firstOf(client, query, MAX_SHOWN, (info) => {
    const { workflowId, type, startTime: startedAt, closeTime: closedAt } = info;
    return unlessSuperseded(client, info, { workflowId, type, attention: attentionIn(info), startedAt, closedAt });
  });
}

/** Ids that one request asks about, and runs that it reads: what is beyond them counts as it stands. */
const [MOST_IDS, MOST_RUNS] = [500, 1_000];

/**
 * Returns the run ids of those for which a newer run of the same workflow id says how things are. Never of reconciliations:
 * another one may have looked at another time, so the findings of the one before still hold.
 */
export async function supersededRuns(
  client: Pick<Client, 'workflow'>,
  runs: readonly WorkflowExecutionInfo[],
): Promise<ReadonlySet<string>> {
  const closed = runs.filter(({ type, closeTime }) => type !== RECONCILE_WORKFLOW && closeTime !== undefined);
  if (closed.length === 0) return new Set();
  const ids = [...new Set(closed.map(({ workflowId }) => workflowId))].slice(0, MOST_IDS);
  const oldest = new Date(Math.min(...closed.map(({ startTime }) => startTime.getTime())));
  const query = [`WorkflowId IN (${ids.map(quoted).join(', ')})`, `StartTime >= ${quoted(oldest.toISOString())}`].join(
    ' AND ',
  );
  const newest = new Map<string, number>();
  const { runs: later } = await firstPage(client, { query, pageSize: MOST_RUNS });
  for (const { workflowId, startTime } of later)
    newest.set(workflowId, Math.max(startTime.getTime(), newest.get(workflowId) ?? 0));
  const isSuperseded = ({ workflowId, startTime }: WorkflowExecutionInfo) =>
    (newest.get(workflowId) ?? 0) > startTime.getTime();
  return new Set(closed.filter(isSuperseded).map(({ runId }) => runId));
}

/**
 * Returns the first page of a list, in one request, up to the first workflow that cannot be read: anybody who reaches Temporal
 * may start one with any memo. `isWhole`: there is no more.
 */
export async function firstPage(
  { workflow }: Pick<Client, 'workflow'>,
  options: ListOptions & { pageSize: number },
): Promise<{ runs: WorkflowExecutionInfo[]; isWhole: boolean }> {
  const runs: WorkflowExecutionInfo[] = [];
  try {
    for await (const info of workflow.list(options)) {
      runs.push(info);
      if (runs.length === options.pageSize) return { runs, isWhole: false };
    }
    return { runs, isWhole: true };
  } catch (error) {
    if (isGrpcServiceError(error) || error instanceof ServiceError) throw error;
    return { runs, isWhole: false };
  }
}
