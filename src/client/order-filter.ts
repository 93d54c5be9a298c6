import type { FieldError } from '../contract/failures.js';
import { AMOUNT_FORMAT, decimal } from '../contract/money.js';
import { ACCOUNT_FORMAT, quoted, RECEIVED_DEPOSIT_WORKFLOW } from '../contract/names.js';
import { ORDER_TYPES, type OrderType, workflowTypeOf } from '../contract/order/types.js';
import { SHOWN_STATUSES } from '../contract/service-objects.js';
import { holdsWallet } from '../contract/wallets.js';
import { CURRENCY_FORMAT } from '../validation/request-schemas.js';

const MAX_LIMIT = 10_000;

const RECEIVED = 'received';

const typeNamed = (type: OrderType | typeof RECEIVED): string =>
  type === RECEIVED ? RECEIVED_DEPOSIT_WORKFLOW : workflowTypeOf(type);

/** The workflow types of orders, as a query lists them. */
export const orderTypes = [...ORDER_TYPES.map(workflowTypeOf), RECEIVED_DEPOSIT_WORKFLOW].map(quoted).join(', ');

/** Shown as an order's status; its search attribute still says what it was when the workflow was stopped. */
export const STOPPED = 'stopped';

/** Ends that Temporal or an operator makes, by their names in queries; `standingOfRun` reads them. */
const stoppedStatuses = ['Terminated', 'TimedOut', 'Canceled'].map(quoted).join(', ');
const IS_STOPPED = `ExecutionStatus IN (${stoppedStatuses})`;
const IS_NOT_STOPPED = `ExecutionStatus NOT IN (${stoppedStatuses})`;

/** What `status` may be: the states of open orders, the final ones, and three for orders without an end. */
const STATUSES: readonly string[] = [...SHOWN_STATUSES, 'stopped'];

/** Which orders to list; fields are combined with "and". */
export interface OrderFilter {
  account?: string;
  /** `open`, `uncertain`, `parked`, `stopped`, `none`, `unresolved` or a final status. */
  status?: string;
  /** Stopped orders need attention, too. */
  needsAttention?: boolean;
  batchId?: string;
  /** The service's order type, or `received` for orders that receipts on permanent addresses made. */
  type?: OrderType | 'received';
  /** One of the two currencies of the order, in lower case. */
  currency?: string;
  /**
   * Of `currency`, which it needs, and of orders that want a person, which alone show an amount: those below it are left out. What shows
   * none stays, so that nothing that may be large is hidden.
   */
  minAmount?: string;
  /** Started before this time. */
  startedBefore?: Date;
  /** At most this many, newest first; 50 when omitted. */
  limit?: number;
}

/** The fields of a filter: another one would be passed over, and what was asked for not be what is listed. */
const FIELDS: Readonly<Record<keyof OrderFilter, true>> = {
  account: true,
  status: true,
  needsAttention: true,
  batchId: true,
  type: true,
  currency: true,
  minAmount: true,
  startedBefore: true,
  limit: true,
};

/** What of a filter cannot be meant. */
export function filterErrors(filter: OrderFilter): FieldError[] {
  const { account, status, type, currency, minAmount, needsAttention, limit } = filter;
  const unknown = Object.keys(filter).filter((field) => !Object.hasOwn(FIELDS, field));
  const errors: FieldError[] = unknown.map((field) => ({
    field,
    reason: `unknown field, known are ${Object.keys(FIELDS).join(', ')}`,
  }));
  if (type !== undefined && type !== RECEIVED && !ORDER_TYPES.includes(type)) {
    errors.push({ field: 'type', reason: `must be one of ${[...ORDER_TYPES, RECEIVED].join(', ')}` });
  }
  if (currency !== undefined && !CURRENCY_FORMAT.test(currency)) {
    errors.push({ field: 'currency', reason: 'must be a lowercase currency code, like "usd"' });
  }
  if (minAmount !== undefined && !AMOUNT_FORMAT.test(minAmount)) {
    errors.push({ field: 'minAmount', reason: 'must be a decimal number such as 12.50' });
  }
  if (minAmount !== undefined && (currency === undefined || needsAttention !== true)) {
    errors.push({
      field: 'minAmount',
      reason: 'needs a currency, and the list of what wants a person: no other shows amounts',
    });
  }
  if (status !== undefined && !STATUSES.includes(status)) {
    errors.push({ field: 'status', reason: `must be one of ${STATUSES.join(', ')}` });
  }
  if (account !== undefined && !(ACCOUNT_FORMAT.test(account) && !holdsWallet(account))) {
    errors.push({ field: 'account', reason: 'must be 1 to 32 of a-z 0-9 -' });
  }
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT)) {
    errors.push({ field: 'limit', reason: `must be whole, 1 to ${MAX_LIMIT}` });
  }
  return errors;
}

const startsWith = (account: string) => (kind: string) => `WorkflowId STARTS_WITH ${quoted(`${kind}:${account}:`)}`;

/** The visibility query of a filter; every value is a literal, whatever it holds. */
export function orderQuery(filter: OrderFilter): string {
  const { account, status, needsAttention, batchId, type, currency, startedBefore } = filter;
  const terms = [type === undefined ? `WorkflowType IN (${orderTypes})` : `WorkflowType = ${quoted(typeNamed(type))}`];
  // By the id, which every order has; a start by hand has no search attributes of its own.
  if (account !== undefined) terms.push(`(${['order', 'received'].map(startsWith(account)).join(' OR ')})`);
  if (status === STOPPED) terms.push(IS_STOPPED);
  else if (status !== undefined) terms.push(`PaymentOrderStatus = ${quoted(status)}`, IS_NOT_STOPPED);
  if (needsAttention === true) terms.push(`(PaymentNeedsAttention = true OR ${IS_STOPPED})`);
  if (needsAttention === false) terms.push('PaymentNeedsAttention = false', IS_NOT_STOPPED);
  if (batchId !== undefined) terms.push(`PaymentBatchId = ${quoted(batchId)}`);
  if (currency !== undefined) {
    terms.push(`(PaymentCurrencyFrom = ${quoted(currency)} OR PaymentCurrencyTo = ${quoted(currency)})`);
  }
  if (startedBefore !== undefined) terms.push(`StartTime < ${quoted(startedBefore.toISOString())}`);
  return terms.join(' AND ');
}

/** True where what is shown is less; of another currency, where an order shows its other side. */
export function isBelow({ minAmount, currency }: OrderFilter, shown: string | undefined): boolean {
  const [amount, ofCurrency] = shown?.split(' ') ?? [];
  if (minAmount === undefined || amount === undefined || ofCurrency !== currency) return false;
  return AMOUNT_FORMAT.test(amount) && decimal(amount).lt(decimal(minAmount));
}
