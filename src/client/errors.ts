import { describeFieldErrors, type FieldError, type OrderFailure, SERVICE_REJECTED } from '../contract/failures.js';

export { TemporalUnreachableError } from '../temporal.js';

/** The input is bad; `fields` names every bad field. Nothing was started and nothing was sent. */
export class InvalidInputError extends Error {
  override readonly name = 'InvalidInputError';

  constructor(readonly fields: readonly FieldError[]) {
    super(`nothing was started, correct the input: ${describeFieldErrors(fields)}`);
  }
}

/** The order id belongs to an order with another input; `fields` names what differs. Nothing was sent. */
export class OrderConflictError extends Error {
  override readonly name = 'OrderConflictError';

  constructor(
    readonly orderId: string,
    readonly fields: readonly string[],
  ) {
    super(
      `order ${orderId} was started before with another ${fields.join(', ')}; nothing was sent. ` +
        'Send the first input again, or use a new id if this is another order',
    );
  }
}

const NEXT_STEP: Record<OrderFailure, string> = {
  InvalidOrder: 'Correct the input and start it again with `again`',
  OrderRejected: 'Look at the reason, then start it again with `again`',
  OrderConflict: 'Another order has this id at the service: use a new id',
  OrderCancelled: 'Nothing was sent; it may be started again with `again`',
  OrderAbsent: 'Its absence was proven; it may be started again with `again`',
};

/** The order ended and no order of ours exists at the service. `fields` is filled for `InvalidOrder`. */
export class OrderFailedError extends Error {
  override readonly name = 'OrderFailedError';

  constructor(
    readonly orderId: string,
    readonly type: OrderFailure,
    reason: string,
    readonly fields: readonly FieldError[] = [],
  ) {
    super(`order ${orderId} ended as ${type}: ${reason}. ${NEXT_STEP[type]}`);
  }
}

/** Temporal has no such order: never started, or older than the namespace keeps closed workflows. */
export class UnknownOrderError extends Error {
  override readonly name = 'UnknownOrderError';

  constructor(
    readonly orderId: string,
    account: string,
  ) {
    super(
      `no order ${orderId} of account ${account} in Temporal. ` +
        'Check id and account; an order older than the retention is known to the service only',
    );
  }
}

/** The order did not take the decision; the message carries its reason. Nothing changed. */
export class DecisionRefusedError extends Error {
  override readonly name = 'DecisionRefusedError';

  constructor(
    readonly orderId: string,
    reason: string,
  ) {
    super(`order ${orderId} refused the decision: ${reason}. Read its state again and decide on what it shows`);
  }
}

/** The time the caller gave is over and the order goes on. */
export class NotDecidedYetError extends Error {
  override readonly name = 'NotDecidedYetError';

  constructor(readonly orderId: string) {
    super(
      `order ${orderId} is not decided yet and goes on by itself. Ask again later; never start it under another id`,
    );
  }
}

/** The id may not be started again. `undecided` is true while its order is open: then wait or decide. */
export class AgainRefusedError extends Error {
  override readonly name = 'AgainRefusedError';

  constructor(
    readonly orderId: string,
    reason: string,
    readonly undecided: boolean,
  ) {
    const next = undecided ? 'Wait for it or decide; never start it under another id' : 'Its id is used up';
    super(`order ${orderId} cannot be started again: ${reason}. ${next}`);
  }
}

/** The workflow was terminated or broke: Temporal does not know whether the order exists at the service. */
export class OrderUnresolvedError extends Error {
  override readonly name = 'OrderUnresolvedError';

  constructor(
    readonly orderId: string,
    reason: string,
  ) {
    super(
      `the workflow of order ${orderId} ended without a verdict (${reason}); the order may exist. ` +
        'Look it up at the service; never start it under another id',
    );
  }
}

/** No worker answers. Orders wait and nothing is lost. */
export class NoWorkerError extends Error {
  override readonly name = 'NoWorkerError';

  constructor(taskQueue: string) {
    super(`no worker answers on task queue ${taskQueue}: start one and ask again. Orders wait and nothing is lost`);
  }
}

/** A read or an address creation failed; `type` is the failure type, such as `ServiceUnavailable`. */
export class ServiceRequestFailedError extends Error {
  override readonly name = 'ServiceRequestFailedError';

  constructor(
    readonly type: string,
    reason: string,
  ) {
    super(`${type}: ${reason}. ${type === SERVICE_REJECTED ? 'Correct the request' : 'Ask again later'}`);
  }
}

/** Temporal refuses the call as it is set up: search attributes or permissions are missing. */
export class TemporalSetupError extends Error {
  override readonly name = 'TemporalSetupError';

  constructor(reason: string, next: string) {
    super(`Temporal refused the call: ${reason}. ${next}`);
  }
}
