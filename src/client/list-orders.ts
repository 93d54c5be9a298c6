import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { FieldError } from '../contract/failures.js';
import { ACCOUNT_FORMAT, parseOrderWorkflowId } from '../contract/ids.js';
import { WORKFLOW_TYPE_OF_ORDER } from '../contract/names.js';
import { ORDER_TYPES, type OrderType } from '../contract/orders.js';
import { searchAttribute } from '../contract/search-attributes.js';
import { InvalidInputError } from './errors.js';
import { callTemporal } from './temporal-calls.js';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 10_000;

/** Which orders to list; fields are combined with "and". */
export interface OrderFilter {
  account?: string;
  /** `open`, `uncertain`, `parked`, `none` or a final status. */
  status?: string;
  needsAttention?: boolean;
  batchId?: string;
  /** At most this many, newest first; 50 when omitted. */
  limit?: number;
}

/** An order as Temporal's visibility shows it: a few seconds old at most, and without asking a worker. */
export interface OrderListEntry {
  orderId: string;
  account: string;
  workflowId: string;
  /** The service's order type. */
  type: OrderType | undefined;
  /** `open`, `uncertain` or `parked` while so, then the final status; `none` when no order came to exist. */
  status: string | undefined;
  needsAttention: boolean;
  currencyFrom: string | undefined;
  currencyTo: string | undefined;
  orderUuid?: string;
  batchId?: string;
  startedAt: Date;
  closedAt?: Date;
}

function filterErrors({ account, limit }: OrderFilter): FieldError[] {
  const errors: FieldError[] = [];
  if (account !== undefined && !ACCOUNT_FORMAT.test(account)) {
    errors.push({ field: 'account', reason: 'must be 1 to 32 of a-z 0-9 -' });
  }
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT)) {
    errors.push({ field: 'limit', reason: `must be whole, 1 to ${MAX_LIMIT}` });
  }
  return errors;
}

/** A string literal of the visibility query language. Control characters never occur in what is searched for. */
const quoted = (text: string): string =>
  `'${text
    .replace(/\p{Cc}/gu, '')
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")}'`;

/** The visibility query of a filter; every value is a literal, whatever it holds. */
export function orderQuery({ account, status, needsAttention, batchId }: OrderFilter): string {
  const terms = [`WorkflowType IN (${Object.values(WORKFLOW_TYPE_OF_ORDER).map(quoted).join(', ')})`];
  if (account !== undefined) terms.push(`PaymentAccount = ${quoted(account)}`);
  if (status !== undefined) terms.push(`PaymentOrderStatus = ${quoted(status)}`);
  if (needsAttention !== undefined) terms.push(`PaymentNeedsAttention = ${needsAttention}`);
  if (batchId !== undefined) terms.push(`PaymentBatchId = ${quoted(batchId)}`);
  return terms.join(' AND ');
}

function toEntry(info: WorkflowExecutionInfo): OrderListEntry | undefined {
  const id = parseOrderWorkflowId(info.workflowId);
  if (!id) return undefined;
  const attributes = info.typedSearchAttributes;
  return {
    ...id,
    workflowId: info.workflowId,
    type: ORDER_TYPES.find((type) => WORKFLOW_TYPE_OF_ORDER[type] === info.type),
    status: attributes.get(searchAttribute.orderStatus),
    needsAttention: attributes.get(searchAttribute.needsAttention) ?? false,
    currencyFrom: attributes.get(searchAttribute.currencyFrom),
    currencyTo: attributes.get(searchAttribute.currencyTo),
    orderUuid: attributes.get(searchAttribute.orderUuid),
    batchId: attributes.get(searchAttribute.batchId),
    startedAt: info.startTime,
    closedAt: info.closeTime,
  };
}

/** Orders that fit the filter, newest first. Throws InvalidInputError. */
export async function listOrders(client: Client, filter: OrderFilter): Promise<OrderListEntry[]> {
  const errors = filterErrors(filter);
  if (errors.length > 0) throw new InvalidInputError(errors);
  const limit = filter.limit ?? DEFAULT_LIMIT;
  return callTemporal(client, async () => {
    const entries: OrderListEntry[] = [];
    for await (const info of client.workflow.list({ query: orderQuery(filter), pageSize: Math.min(limit, 1000) })) {
      const entry = toEntry(info);
      if (entry) entries.push(entry);
      if (entries.length >= limit) break;
    }
    return entries;
  });
}
