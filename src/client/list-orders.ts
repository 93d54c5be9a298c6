import { createHash } from 'node:crypto';
import {
  type Client,
  isGrpcServiceError,
  type ListOptions,
  ServiceError,
  type WorkflowExecutionInfo,
} from '@temporalio/client';
import { executionInfoFromRaw } from '@temporalio/client/lib/helpers.js';
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
import { GRPC, grpcStatus } from '../temporal.js';
import { checkedBy } from '../validation/field-errors.js';
import { shownName } from '../validation/request-schemas.js';
import { accepted } from './checked-input.js';
import { InvalidInputError } from './errors.js';
import { standingOfRun } from './standing.js';
import { callTemporal } from './temporal-calls.js';

const [DEFAULT_LIMIT, MAX_LIMIT] = [50, 10_000];

/** Workflow types of orders, as a query lists them. */
const orderTypes = [...ORDER_TYPES.map(workflowTypeOf), RECEIVED_DEPOSIT_WORKFLOW].map(quoted).join(', ');

/** Status of a stopped workflow. Its search attribute keeps the earlier status. */
const STOPPED = 'stopped';

/** Close statuses that Temporal or an operator causes; see `standingOfRun`. */
const stoppedStatuses = ['Terminated', 'TimedOut', 'Canceled'].map(quoted).join(', ');
const IS_STOPPED = `ExecutionStatus IN (${stoppedStatuses})`;
const IS_NOT_STOPPED = `ExecutionStatus NOT IN (${stoppedStatuses})`;

/** Filter of orders. All fields must match. */
export interface OrderFilter {
  account?: string;
  /** `open`, `uncertain`, `parked`, `stopped`, `none`, `unresolved` or a final status. */
  status?: string;
  /** Includes stopped orders. */
  needsAttention?: boolean;
  batchId?: string;
  /** Caller's reference, in full. */
  reference?: string;
  /** ISO time. Selects orders whose workflow ended later. */
  endedAfter?: string;
  /** Maximum number of entries, newest first. Default: 50. */
  limit?: number;
}

/** Selects one page of orders. */
export interface OrderPageFilter extends OrderFilter {
  /** Cursor of the page before; absent for the first one. */
  cursor?: string;
  /** Without `account`: selects the orders of these accounts. */
  accounts?: Iterable<string>;
}

/** One page of a list; the last one has no cursor. It may hold fewer orders than its limit. */
export interface OrderPage {
  orders: OrderListEntry[];
  cursor?: string;
}

const STATUSES = [...SHOWN_STATUSES, STOPPED];

/** Strict, because an unknown field would be ignored. */
const filterSchema = z
  .strictObject({
    account: shownName(ACCOUNT_FORMAT, 'must be 1 to 32 of a-z 0-9 -'),
    status: z.enum(STATUSES, `must be one of ${STATUSES.join(', ')}`),
    needsAttention: z.boolean(),
    batchId: z.string(),
    reference: z.string(),
    endedAfter: z.iso.datetime({ offset: true, error: 'must be an ISO time such as 2026-11-27T18:00:00Z' }),
    limit: z.int().min(1).max(MAX_LIMIT),
  })
  .partial();

const startsWith = (account: string) => (kind: string) => `WorkflowId STARTS_WITH ${quoted(`${kind}:${account}:`)}`;

/** Returns the visibility query of a filter. Every value becomes a literal. */
export function orderQuery({ account, status, needsAttention, batchId, endedAfter, ...page }: OrderPageFilter): string {
  const terms = [`WorkflowType IN (${orderTypes})`];
  const accounts = account === undefined ? page.accounts && [...page.accounts] : [account];
  // Selects by workflow id: an order that was started by hand may lack search attributes.
  const ofAccount = (one: string) => ['order', 'received'].map(startsWith(one));
  if (accounts) terms.push(`(${accounts.flatMap(ofAccount).join(' OR ')})`);
  if (endedAfter !== undefined) terms.push(`CloseTime > ${quoted(new Date(endedAfter).toISOString())}`);
  if (status === STOPPED) terms.push(IS_STOPPED);
  else if (status !== undefined) terms.push(`PaymentOrderStatus = ${quoted(status)}`, IS_NOT_STOPPED);
  if (needsAttention === true) terms.push(`(PaymentNeedsAttention = true OR ${IS_STOPPED})`);
  if (needsAttention === false) terms.push('PaymentNeedsAttention = false', IS_NOT_STOPPED);
  if (batchId !== undefined) terms.push(`PaymentBatchId = ${quoted(batchId)}`);
  if (page.reference !== undefined) terms.push(`PaymentReference = ${quoted(page.reference)}`);
  return terms.join(' AND ');
}

/** A run of a list, or described. */
type RunInfo = Omit<WorkflowExecutionInfo, 'raw'>;

/** Reason code of an attention, since when, and the amount (`12.50 usd`) if known. */
export interface ListedAttention {
  code: AttentionCode;
  since: Date;
  amount?: string;
}

/** Returns the attention that a list shows; undefined if there is none. */
export function attentionIn({ typedSearchAttributes: attributes }: RunInfo): ListedAttention | undefined {
  const code = ATTENTION_CODES.find((one) => one === attributes.get(searchAttribute.attentionReason));
  const since = attributes.get(searchAttribute.attentionSince);
  const amount = attributes.get(searchAttribute.amount);
  return code && since && { code, since, ...(amount !== undefined && { amount }) };
}

/** Order as Temporal's visibility shows it, up to a few seconds old. Needs no worker. */
export interface OrderListEntry {
  /** The order_uuid if the order is received. */
  orderId: string;
  /** A deposit on a permanent address made the order. */
  received: boolean;
  account: string;
  workflowId: string;
  /** Service's order type; undefined for received orders. */
  type: OrderType | undefined;
  /**
   * `open`, `uncertain`, `parked`, or the final status. `none`: no order exists. `unresolved`: a
   * person closed it in doubt. `stopped`: terminated or timed out, may exist.
   */
  status: string | undefined;
  needsAttention: boolean;
  attention?: ListedAttention;
  currencyFrom: string | undefined;
  currencyTo: string | undefined;
  orderUuid?: string;
  batchId?: string;
  reference?: string;
  startedAt: Date;
  closedAt?: Date;
}

const isStopped = (info: RunInfo): boolean => standingOfRun(info)?.kind === 'unresolved';

/** Returns the entry of a workflow; undefined if it is no order. */
export function toEntry(info: RunInfo): OrderListEntry | undefined {
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
    reference: attributes.get(searchAttribute.reference),
    startedAt: info.startTime,
    closedAt: info.closeTime,
  };
}

/** Returns true if a newer run may have another state. */
const isOfNow = (info: WorkflowExecutionInfo, { needsAttention }: OrderFilter): boolean =>
  isStopped(info) || needsAttention === true;

/** Returns the orders that match the filter, newest first. Throws InvalidInputError. */
export async function listOrders(client: Client, filter: OrderFilter): Promise<OrderListEntry[]> {
  accepted(checkedBy(filterSchema, filter));
  return firstOf(client, orderQuery(filter), filter.limit ?? DEFAULT_LIMIT, async (info) =>
    isOfNow(info, filter) && (await supersededRuns(client, [info])).size > 0 ? undefined : toEntry(info),
  );
}

/** Returns one page of the orders that match the filter. Throws InvalidInputError. */
export async function listOrderPage(client: Client, filter: OrderPageFilter): Promise<OrderPage> {
  const { cursor, accounts: _, ...shown } = filter;
  accepted(checkedBy(filterSchema, shown));
  const query = orderQuery(filter);
  const { namespace, loadedDataConverter } = client.options;
  const request = { namespace, query, pageSize: filter.limit ?? DEFAULT_LIMIT, nextPageToken: tokenOf(cursor, query) };
  const { executions, nextPageToken } = await callTemporal(client, () =>
    client.workflowService.listWorkflowExecutions(request).catch((error: unknown) => {
      const isToken = cursor !== undefined && grpcStatus(error)?.code === GRPC.invalidArgument;
      throw isToken ? badCursor() : error;
    }),
  );
  // Memos are not ours, and might be unreadable.
  const found = (executions ?? []).map((raw) =>
    executionInfoFromRaw(Object.assign(raw, { memo: null }), loadedDataConverter, raw, namespace),
  );
  const infos = await Promise.all(found);
  const doubted = infos.filter((info) => isOfNow(info, filter));
  const superseded = await callTemporal(client, () => supersededRuns(client, doubted));
  const orders = infos.filter(({ runId }) => !superseded.has(runId)).flatMap((info) => toEntry(info) ?? []);
  return nextPageToken?.length ? { orders, cursor: cursorOf(nextPageToken, query) } : { orders };
}

/** Binds a token to its list. A damaged token would be an error of the server. */
const sealOf = (token: Uint8Array, query: string): string =>
  createHash('sha256').update(query).update(token).digest('base64url').slice(0, 12);

const cursorOf = (token: Uint8Array, query: string): string =>
  `${sealOf(token, query)}.${Buffer.from(token).toString('base64url')}`;

const badCursor = (): InvalidInputError =>
  new InvalidInputError([{ field: 'cursor', reason: 'must be the cursor of the page before, with the same filters' }]);

function tokenOf(cursor: string | undefined, query: string): Uint8Array | undefined {
  if (cursor === undefined) return undefined;
  const [seal, text = ''] = cursor.split('.');
  const token = Buffer.from(text, 'base64url');
  if (seal !== sealOf(token, query)) throw badCursor();
  return token;
}

/** Maps the workflows of a query, newest first. Skips undefined. */
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

/** Maximum ids per request, and maximum runs to read. Further runs are treated as current. */
const [MOST_IDS, MOST_RUNS] = [500, 1_000];

/** Returns the runs that have a newer run of their id. Reconciliations never count. */
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

/** Returns a list's first page, up to the first unreadable workflow. `isWhole`: complete. */
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
