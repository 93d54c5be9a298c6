import { ApplicationFailure } from '@temporalio/common';
import type { SentTo } from './order/sent-to.js';

/**
 * Failure types of order workflows: no order of ours exists. An existing order never ends in a
 * failure.
 */
export const ORDER_FAILURES = [
  'InvalidOrder',
  'OrderRejected',
  'OrderConflict',
  'OrderCancelled',
  'OrderAbsent',
] as const;

/** Type of a failure that ended an order without an order of ours. */
export type OrderFailure = (typeof ORDER_FAILURES)[number];
/** Failure type of an order that was closed in doubt and may exist. It is never started again. */
export const ORDER_UNRESOLVED = 'OrderUnresolved';

/* Failure types of other workflows. */
export const INVALID_INPUT = 'InvalidInput';
export const SERVICE_UNAVAILABLE = 'ServiceUnavailable';
/** The service answered 400. */
export const SERVICE_REJECTED = 'ServiceRejected';
export const ADDRESS_ABSENT = 'AddressAbsent';
/** The service refused the account's key in a look-up. The workflow learns it at once. */
export const KEY_REFUSED = 'KeyRefused';

/**
 * One bad field with its path (`order.amount`, `order.wallet_details[3].amount`) and a masked
 * reason.
 */
export interface FieldError {
  field: string;
  reason: string;
}

export const isOrderFailure = (type: unknown): type is OrderFailure =>
  (ORDER_FAILURES as readonly unknown[]).includes(type);

/** Returns true for ends after which a create may have reached the service. */
export const mayHaveSent = (type: OrderFailure): boolean => type !== 'InvalidOrder';

/** Last detail of such an end: the account of its creates. */
export type SentBefore = { sentTo: SentTo } | { accountUnknown: true };

/** Detail of an order that ended while a person held it: why it was held. */
export interface EndedHeld {
  held: string;
}

/** Returns true for failures that may end an order workflow. */
export const endsOrder = (type: unknown): boolean => type === ORDER_UNRESOLVED || isOrderFailure(type);

/** Returns an HTTP status with the service's masked answer: `HTTP 400: order not found`. */
export const statusText = (status: number, excerpt?: string): string =>
  excerpt === undefined ? `HTTP ${status}` : `HTTP ${status}: ${excerpt}`;

export const describeFieldErrors = (errors: readonly FieldError[]): string =>
  errors.map(({ field, reason }) => `${field}: ${reason}`).join('; ');

/** Returns the failure for bad fields of an order or of another workflow. Nothing was sent. */
export const badInput = (type: OrderFailure | typeof INVALID_INPUT, errors: readonly FieldError[]) =>
  ApplicationFailure.nonRetryable(`${describeFieldErrors(errors)}. Nothing was sent`, type, errors);

/** Error of a write that may not be on the disk. `code`: the system's, such as ENOSPC. */
export class NotWrittenError extends Error {
  override readonly name: string = 'NotWrittenError';

  constructor(
    what: string,
    variable: string,
    readonly code: string,
  ) {
    super(`${what} cannot be written (${code}): see to ${variable} of this worker`);
  }
}

export function systemCodeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,63}$/.test(code) ? code : 'failed';
}

/** Returns the first line of an error's stack behind its message, which names no value. */
export function placeOf(error: unknown): string | undefined {
  const { message = '', stack = '' }: Partial<Error> = Object(error);
  if (!stack.includes(message)) return undefined;
  return /^ +(at .+)$/m.exec(stack.slice(stack.indexOf(message) + message.length))?.[1];
}

/** Returns what a log may contain of a bug. Its message could quote a request. */
export const bugIn = (error: unknown): { error: string; place?: string | undefined } =>
  error instanceof Error ? { error: error.name, place: placeOf(error) } : { error: 'something that is no error' };

/** Returns an error's message. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown error');
