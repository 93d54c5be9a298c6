import type { SentTo } from './order/sent-to.js';

/** Failure types of order workflows: no order of ours exists. One that exists never ends in a failure. */
export const ORDER_FAILURES = [
  'InvalidOrder',
  'OrderRejected',
  'OrderConflict',
  'OrderCancelled',
  'OrderAbsent',
] as const;

/** One of the five order failure types. */
export type OrderFailure = (typeof ORDER_FAILURES)[number];

/**
 * Failure type of an order that was closed in doubt: by a person, when a create may have been sent, and something unlike it was
 * shown under its id, or it is not known where it was sent; by itself, when its input is refused after an earlier run that may
 * have sent it. It may exist: NOT one of the five, and never started again.
 */
export const ORDER_UNRESOLVED = 'OrderUnresolved';

/** Failure type of bad input of workflows that are not orders. */
export const INVALID_INPUT = 'InvalidInput';
/** Failure type of a signed read that got no answer within its time. */
export const SERVICE_UNAVAILABLE = 'ServiceUnavailable';
/** Failure type of a signed read that the service refused with 400. */
export const SERVICE_REJECTED = 'ServiceRejected';
/**
 * Failure type of a look-up that the service refused for the account's key, reported to its
 * workflow at once.
 */
export const KEY_REFUSED = 'KeyRefused';
/** Failure type of an address creation that never came to exist. */
export const ADDRESS_ABSENT = 'AddressAbsent';

/** One bad field: its path (`order.amount`, `order.wallet_details[3].amount`) and what is wrong with it, values masked. */
export interface FieldError {
  field: string;
  reason: string;
}

/** Returns true for the five failure types after which `--again` may be allowed. */
export function isOrderFailure(type: unknown): type is OrderFailure {
  return (ORDER_FAILURES as readonly unknown[]).includes(type);
}

/**
 * Returns true for ends after which a create may have reached the service: refused there, absent by a person's word, or cancelled while it
 * was in a queue from which somebody may have handed it out by other means.
 */
export const mayHaveSent = (type: OrderFailure): boolean => type !== 'InvalidOrder';

/** Last of the details of such an end: where its creates went. */
export interface SentBefore {
  sentTo: SentTo;
}

/** Returns true for the failures that may end an order workflow at all. */
export const endsOrder = (type: unknown): boolean => type === ORDER_UNRESOLVED || isOrderFailure(type);

/** An HTTP status and what the service said with it (masked), for people: `HTTP 400: order not found`. */
export const statusText = (status: number, excerpt?: string): string =>
  excerpt === undefined ? `HTTP ${status}` : `HTTP ${status}: ${excerpt}`;

/** One line that names every bad field. */
export const describeFieldErrors = (errors: readonly FieldError[]): string =>
  errors.map(({ field, reason }) => `${field}: ${reason}`).join('; ');
