import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import * as z from 'zod';
import { ATTENTION_CODES, type AttentionCode } from '../contract/attention.js';
import {
  ACCOUNT_FORMAT,
  afterEndWorkflowId,
  endedAfterTerm,
  ORDER_AFTER_END_WORKFLOW,
  parseAfterEndWorkflowId,
  quoted,
  quotedTime,
  RECEIVED_DEPOSIT_WORKFLOW,
  searchAttribute,
} from '../contract/names.js';
import { ORDER_TYPES, type OrderType, orderTypeOf, workflowTypeOf } from '../contract/order/types.js';
import { SHOWN_STATUSES } from '../contract/service-objects.js';
import { checkedBy } from '../validation/field-errors.js';
import { shownName } from '../validation/request-schemas.js';
import { accepted } from './checked-input.js';
import { contentOf, cursorOf, type IsDoubtful, MAX_PAGE, readPage } from './pages.js';
import { describeRun, standingOfRun } from './standing.js';

const DEFAULT_LIMIT = 50;

/** Workflow types of orders, as a query lists them. */
const orderTypes = [...ORDER_TYPES.map(workflowTypeOf), RECEIVED_DEPOSIT_WORKFLOW].map(quoted).join(', ');
const IS_ORDER = `WorkflowType IN (${orderTypes})`;
const KINDS = ['order', 'received'];

/** Status of a workflow ended from outside. Its search attribute keeps the earlier status. */
export const TERMINATED = 'terminated';

/** Close statuses that Temporal or an operator causes; see `standingOfRun`. */
const terminatedStatuses = ['Terminated', 'TimedOut', 'Canceled'].map(quoted).join(', ');
const IS_TERMINATED = `ExecutionStatus IN (${terminatedStatuses})`;
const IS_NOT_TERMINATED = `ExecutionStatus NOT IN (${terminatedStatuses})`;

/** Time after which the attention of an ended workflow counts as seen. */
const SEEN_AFTER_MS = 48 * 3_600_000;

/** Returns when a workflow whose attention counts as seen ended at the latest, as a literal. */
export const seenUntil = (nowMs = Date.now()): string => quotedTime(nowMs - SEEN_AFTER_MS);

const isSeen = ({ closeTime }: RunInfo): boolean =>
  closeTime !== undefined && Date.now() - closeTime.getTime() > SEEN_AFTER_MS;

/** Filter of orders. All fields must match. */
export interface OrderFilter {
  account?: string;
  /** `open`, `uncertain`, `parked`, `terminated`, `none`, `unresolved` or a final status. */
  status?: string;
  /**
   * Includes terminated orders, and changes after an end (`afterEnd`) that nobody has closed. Other
   * ended orders count for two days.
   */
  needsAttention?: boolean;
  batchId?: string;
  /** Caller's reference, in full. */
  reference?: string;
  /** ISO time. Selects orders whose workflow ended later. */
  endedAfter?: string;
  /** Maximum number of entries of a page, newest first: 1 to 1000, by default 50. */
  limit?: number;
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

const STATUSES = [...SHOWN_STATUSES, TERMINATED];

/** Strict, because an unknown field would be ignored. */
export const filterSchema = z
  .strictObject({
    account: shownName(ACCOUNT_FORMAT, 'must be 1 to 32 of a-z 0-9 -'),
    status: z.enum(STATUSES, `must be one of ${STATUSES.join(', ')}`),
    needsAttention: z.boolean(),
    batchId: z.string(),
    reference: z.string(),
    endedAfter: z.iso.datetime({ offset: true, error: 'must be an ISO time such as 2026-11-27T18:00:00Z' }),
    limit: z.int().min(1).max(MAX_PAGE),
  })
  .partial();

const startsWith = (account: string) => (kind: string) => `WorkflowId STARTS_WITH ${quoted(`${kind}:${account}:`)}`;

/** Returns the visibility query of a filter. Every value becomes a literal. */
export function orderQuery(
  { account, status, needsAttention, batchId, endedAfter, ...page }: OrderFilter,
  nowMs = Date.now(),
): string {
  const isAsked = needsAttention === true;
  const terms = [isAsked ? `WorkflowType IN (${orderTypes}, ${quoted(ORDER_AFTER_END_WORKFLOW)})` : IS_ORDER];
  // Sorted, because a cursor belongs to its query.
  const accounts = account === undefined ? page.accounts && [...page.accounts].sort() : [account];
  // Selects by workflow id: an order that was started by hand may lack search attributes.
  const kinds = isAsked ? [...KINDS, ...KINDS.map(afterEndWorkflowId)] : KINDS;
  const ofAccount = (one: string) => kinds.map(startsWith(one));
  if (accounts) terms.push(`(${accounts.flatMap(ofAccount).join(' OR ')})`);
  if (endedAfter !== undefined) terms.push(endedAfterTerm(Date.parse(endedAfter)));
  if (status === TERMINATED) terms.push(IS_TERMINATED);
  else if (status !== undefined) terms.push(`PaymentOrderStatus = ${quoted(status)}`, IS_NOT_TERMINATED);
  const seen = seenUntil(nowMs);
  const asks = `PaymentNeedsAttention = true AND (ExecutionStatus = 'Running' OR CloseTime > ${seen})`;
  if (isAsked) terms.push(`(${asks} OR (${IS_TERMINATED} AND ${IS_ORDER}))`);
  if (needsAttention === false)
    terms.push(`(PaymentNeedsAttention = false OR CloseTime <= ${seen})`, IS_NOT_TERMINATED);
  if (batchId !== undefined) terms.push(`PaymentBatchId = ${quoted(batchId)}`);
  if (page.reference !== undefined) terms.push(`PaymentReference = ${quoted(page.reference)}`);
  return terms.join(' AND ');
}

/** A run of a list, or described. */
type RunInfo = Omit<WorkflowExecutionInfo, 'raw'>;

/** Reason code of an attention, since when, and what moves (`12.50 usd`) if known. */
export interface ListedAttention {
  code: AttentionCode;
  since: Date;
  moves?: string;
}

/** Returns the attention that a list shows; undefined if there is none. */
function attentionIn({ typedSearchAttributes: attributes }: RunInfo): ListedAttention | undefined {
  const code = ATTENTION_CODES.find((one) => one === attributes.get(searchAttribute.attentionReason));
  const since = attributes.get(searchAttribute.attentionSince);
  const moves = attributes.get(searchAttribute.amount);
  return code && since && { code, since, ...(moves !== undefined && { moves }) };
}

/** Returns the attention of the look-ups after a workflow's end, until a person closes it. */
export async function attentionAfterEnd(client: Client, ended: string): Promise<ListedAttention | undefined> {
  const run = await describeRun(client, afterEndWorkflowId(ended));
  return run && attentionIn(run);
}

/** Order as Temporal's visibility shows it, up to a few seconds old. Needs no worker. */
export interface OrderListEntry {
  /** The order_uuid if the order is received. */
  orderId: string;
  /** A deposit on a permanent address made the order. */
  received: boolean;
  /** The service changed the order after its end: a person has to look at it by `afterEnd`. */
  afterEnd?: true;
  account: string;
  workflowId: string;
  /** Run that the entry shows. */
  runId: string;
  /** Service's order type; undefined for received orders. */
  type: OrderType | undefined;
  /**
   * `open`, `uncertain`, `parked`, or the final status. `none`: no order exists. `unresolved`: a
   * person closed it in doubt. `terminated`, also timed out: may exist.
   */
  status: string | undefined;
  needsAttention: boolean;
  /** Also what an ended order had, which counts as seen after two days. */
  attention?: ListedAttention;
  currencyFrom: string | undefined;
  currencyTo: string | undefined;
  orderUuid?: string;
  batchId?: string;
  reference?: string;
  startedAt: Date;
  closedAt?: Date;
}

export const isTerminated = (info: RunInfo): boolean => standingOfRun(info)?.kind === 'unresolved';

/** Returns the entry of a workflow; undefined if it is no order. */
export function toEntry(info: RunInfo): OrderListEntry | undefined {
  const afterEnd = parseAfterEndWorkflowId(info.workflowId);
  const about = afterEnd ?? parseAfterEndWorkflowId(afterEndWorkflowId(info.workflowId));
  if (!about) return undefined;
  const { account, orderId, isReceived: received } = about;
  const attributes = info.typedSearchAttributes;
  return {
    account,
    orderId,
    received,
    ...(afterEnd && { afterEnd: true }),
    workflowId: info.workflowId,
    runId: info.runId,
    type: orderTypeOf(info.type),
    status: isTerminated(info) ? TERMINATED : attributes.get(searchAttribute.orderStatus),
    needsAttention: isTerminated(info) || (!isSeen(info) && attributes.get(searchAttribute.needsAttention) === true),
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
const isOfNow =
  ({ needsAttention }: OrderFilter): IsDoubtful =>
  (info) =>
    isTerminated(info) || needsAttention === true;

/** Returns one page of the orders that match the filter, newest first. Throws InvalidInputError. */
export async function listOrders(client: Client, filter: OrderFilter): Promise<OrderPage> {
  const { cursor, accounts: _, limit: pageSize = DEFAULT_LIMIT, ...shown } = filter;
  accepted(checkedBy(filterSchema, { ...shown, limit: pageSize }));
  const query = orderQuery(filter);
  // Later pages ask at another time.
  const list = orderQuery(filter, 0);
  const token = cursor === undefined ? undefined : contentOf(cursor, list);
  const { runs, token: next } = await readPage(client, { query, pageSize, token }, isOfNow(filter));
  const orders = runs.flatMap((info) => toEntry(info) ?? []);
  return next ? { orders, cursor: cursorOf(next, list) } : { orders };
}
