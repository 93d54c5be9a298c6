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
  /** ISO time: only orders whose workflow ended later. */
  endedAfter?: string;
  /** At most this many, newest first; 50 when omitted. */
  limit?: number;
}

/** Selects one page of orders. */
export interface OrderPageFilter extends OrderFilter {
  /** Cursor of the page before; absent for the first one. */
  cursor?: string;
  /** Without `account`: orders of these accounts alone. */
  accounts?: Iterable<string>;
}

/** One page of a list; the last one has no cursor. It may hold fewer orders than its limit. */
export interface OrderPage {
  orders: OrderListEntry[];
  cursor?: string;
}

const STATUSES = [...SHOWN_STATUSES, STOPPED];

/** A field that is not known would otherwise be passed over. */
const filterSchema = z
  .strictObject({
    account: shownName(ACCOUNT_FORMAT, 'must be 1 to 32 of a-z 0-9 -'),
    status: z.enum(STATUSES, `must be one of ${STATUSES.join(', ')}`),
    needsAttention: z.boolean(),
    batchId: z.string(),
    endedAfter: z.iso.datetime({ offset: true, error: 'must be an ISO time such as 2026-11-27T18:00:00Z' }),
    limit: z.int().min(1).max(MAX_LIMIT),
  })
  .partial();

const startsWith = (account: string) => (kind: string) => `WorkflowId STARTS_WITH ${quoted(`${kind}:${account}:`)}`;

/** The visibility query of a filter; every value is a literal, whatever it holds. */
export function orderQuery({ account, status, needsAttention, batchId, endedAfter, ...page }: OrderPageFilter): string {
  const terms = [`WorkflowType IN (${orderTypes})`];
  const accounts = account === undefined ? page.accounts && [...page.accounts] : [account];
  // By the id, which every order has; a start by hand has no search attributes of its own.
  const ofAccount = (one: string) => ['order', 'received'].map(startsWith(one));
  if (accounts) terms.push(`(${accounts.flatMap(ofAccount).join(' OR ')})`);
  if (endedAfter !== undefined) terms.push(`CloseTime > ${quoted(new Date(endedAfter).toISOString())}`);
  if (status === STOPPED) terms.push(IS_STOPPED);
  else if (status !== undefined) terms.push(`PaymentOrderStatus = ${quoted(status)}`, IS_NOT_STOPPED);
  if (needsAttention === true) terms.push(`(PaymentNeedsAttention = true OR ${IS_STOPPED})`);
  if (needsAttention === false) terms.push('PaymentNeedsAttention = false', IS_NOT_STOPPED);
  if (batchId !== undefined) terms.push(`PaymentBatchId = ${quoted(batchId)}`);
  return terms.join(' AND ');
}

/** A run of a list, or described. */
type RunInfo = Omit<WorkflowExecutionInfo, 'raw'>;

/** Why a person should look, since when, and about how much, such as `12.50 usd`, where that is known. */
export interface ListedAttention {
  code: AttentionCode;
  since: Date;
  amount?: string;
}

/** What a list shows of a workflow that wants a person; undefined where it wants none, or never said why. */
export function attentionIn({ typedSearchAttributes: attributes }: RunInfo): ListedAttention | undefined {
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
   * `open`, `uncertain` or `parked`, then the final status. `none`: no order came to exist.
   * `unresolved`: a person closed it in doubt. `stopped`: terminated or timed out, it may exist.
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

const isStopped = (info: RunInfo): boolean => standingOfRun(info)?.kind === 'unresolved';

/** Reads a workflow as an order; undefined for any other one. */
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
    startedAt: info.startTime,
    closedAt: info.closeTime,
  };
}

/** Returns true if a newer run may say how things are. */
const isOfNow = (info: WorkflowExecutionInfo, { needsAttention }: OrderFilter): boolean =>
  isStopped(info) || needsAttention === true;

/** Orders that fit the filter, newest first. Throws InvalidInputError. */
export async function listOrders(client: Client, filter: OrderFilter): Promise<OrderListEntry[]> {
  accepted(checkedBy(filterSchema, filter));
  return firstOf(client, orderQuery(filter), filter.limit ?? DEFAULT_LIMIT, async (info) =>
    isOfNow(info, filter) && (await supersededRuns(client, [info])).size > 0 ? undefined : toEntry(info),
  );
}

/** Returns one page of the orders that fit the filter. Throws InvalidInputError. */
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
  // A memo is nobody's of ours, and might not be readable.
  const found = (executions ?? []).map((raw) =>
    executionInfoFromRaw(Object.assign(raw, { memo: null }), loadedDataConverter, raw, namespace),
  );
  const infos = await Promise.all(found);
  const doubted = infos.filter((info) => isOfNow(info, filter));
  const superseded = await callTemporal(client, () => supersededRuns(client, doubted));
  const orders = infos.filter(({ runId }) => !superseded.has(runId)).flatMap((info) => toEntry(info) ?? []);
  return nextPageToken?.length ? { orders, cursor: cursorOf(nextPageToken, query) } : { orders };
}

/** Binds a token to the list that it continues; a damaged one would cost a failure of the server. */
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

/** Ids that one request asks about, and runs that it reads: what is beyond them counts as it stands. */
const [MOST_IDS, MOST_RUNS] = [500, 1_000];

/**
 * Returns the run ids that have a newer run of their id. Never of reconciliations: another one
 * may have looked at another time.
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

/** Returns the first page of a list, up to the first workflow that cannot be read; `isWhole`: all. */
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
