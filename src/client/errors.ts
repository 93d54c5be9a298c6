import { BATCH_FILE_UNUSABLE, BATCH_NOT_APPROVED, BATCH_STOPPED } from '../contract/batch/batch.js';
import {
  describeFieldErrors,
  type FieldError,
  INVALID_INPUT,
  type OrderFailure,
  SERVICE_REJECTED,
} from '../contract/failures.js';
import { maskCards } from '../contract/wallets.js';

export { ConfigError, PayloadDecryptionError, TemporalUnreachableError } from '../temporal.js';

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
      `order ${maskCards(orderId)} was started before with another ${fields.join(', ')}; nothing was sent. ` +
        'Send the first input again. If that start came to nothing, start this one with `again`. Every payment keeps its own id',
    );
  }
}

const NEXT_STEP: Record<OrderFailure, string> = {
  InvalidOrder: 'Correct the input and start it again with `again`',
  // What to do stands in the reason, in the words of the command line.
  OrderRejected: 'The id stays (in code: `again: true`)',
  OrderConflict:
    'Find out whose order has this id at the service; if it is this payment, start it with its own input and `again`',
  OrderCancelled: 'Nothing was sent; it may be started again with `again`',
  OrderAbsent: 'Its absence was proven; it may be started again with `again`',
};

/** A received order is started by its callback or by reconcile, never by hand. */
const NEXT_STEP_RECEIVED: Record<OrderFailure, string> = {
  ...NEXT_STEP,
  InvalidOrder: 'Correct the input',
  OrderConflict: 'It is no receipt on that address: look at it at the service',
  OrderAbsent: 'If the service lists it later, reconcile follows it',
};

/** The order ended and no order of ours exists at the service. `fields` is filled for `InvalidOrder`. */
export class OrderFailedError extends Error {
  override readonly name = 'OrderFailedError';

  constructor(
    readonly orderId: string,
    readonly type: OrderFailure,
    reason: string,
    readonly fields: readonly FieldError[] = [],
    { received = false }: { received?: boolean } = {},
  ) {
    const next = (received ? NEXT_STEP_RECEIVED : NEXT_STEP)[type];
    super(`order ${maskCards(orderId)} ended as ${type}: ${reason}. ${next}`);
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
      `no order ${maskCards(orderId)} of account ${account} in Temporal. ` +
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
    super(
      `order ${maskCards(orderId)} refused the decision: ${reason}. Read its state again and decide on what it shows`,
    );
  }
}

/** The time the caller gave is over; Temporal has the order, which goes on or, if its state says so, waits for a person. */
export class NotDecidedYetError extends Error {
  override readonly name = 'NotDecidedYetError';

  constructor(readonly orderId: string) {
    super(
      `order ${maskCards(orderId)} is not decided yet. Unless its state asks for a person it goes on by itself: ask again later, and ` +
        'never start it under another id',
    );
  }
}

/** The id may not be started again. `undecided` is true while its order is or may be open. */
export class AgainRefusedError extends Error {
  override readonly name = 'AgainRefusedError';

  constructor(
    readonly orderId: string,
    reason: string,
    readonly undecided: boolean,
  ) {
    const next = undecided ? 'Never start it under another id' : 'Its id is used up';
    super(`order ${maskCards(orderId)} cannot be started again: ${reason}. ${next}`);
  }
}

/**
 * The workflow was terminated or broke, or a person closed it (`closed`) while an order that is not like it had its id:
 * Temporal does not know whether the order exists at the service.
 */
export class OrderUnresolvedError extends Error {
  override readonly name = 'OrderUnresolvedError';

  constructor(
    readonly orderId: string,
    reason: string,
    readonly closed = false,
  ) {
    const order = maskCards(orderId);
    super(
      `${closed ? `order ${order} was closed` : `the workflow of order ${order} ended`} without a verdict (${reason}); the order may exist. ` +
        'Look for it at the service, and never start it under another id; where it is not final, `reconcile --recover` has it followed',
    );
  }
}

/**
 * No worker answers. Orders wait and nothing is lost. `request`: what was asked for, such as 'approve', which Temporal may
 * still deliver once a worker is there; `meanwhile`: what to do about that.
 */
export class NoWorkerError extends Error {
  override readonly name = 'NoWorkerError';

  constructor(taskQueue: string, request?: string, meanwhile = 'To take it back, stop the batch') {
    const next = request
      ? `start one, then look whether the ${request} was taken: Temporal may still deliver it. ${meanwhile}`
      : 'start one and ask again. Orders wait and nothing is lost';
    super(`no worker answers on task queue ${taskQueue}: ${next}`);
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

/** The batch id belongs to a batch with another input; `fields` names what differs. Nothing was sent. */
export class BatchConflictError extends Error {
  override readonly name = 'BatchConflictError';

  constructor(
    readonly batchId: string,
    readonly fields: readonly string[],
  ) {
    super(
      `batch ${batchId} was started before with another ${fields.join(', ')}; nothing was sent. ` +
        'Send the first input again, or start this one with `again` once it has ended. Every batch has its own id',
    );
  }
}

/** Why a batch failed before any order was started. */
export type BatchFailure =
  | typeof INVALID_INPUT
  | typeof BATCH_NOT_APPROVED
  | typeof BATCH_FILE_UNUSABLE
  | typeof BATCH_STOPPED;

const BATCH_NEXT_STEP: Record<BatchFailure, string> = {
  [INVALID_INPUT]: 'Correct it',
  [BATCH_NOT_APPROVED]: 'Have somebody else approve the plan in time',
  [BATCH_FILE_UNUSABLE]: 'Put the file in place',
  [BATCH_STOPPED]: 'If it is to be sent after all, plan it',
};

/**
 * A batch (or, without `batchId`, a plan) ended before any order was started. `fields` names bad fields, those of rows
 * with their line.
 */
export class BatchFailedError extends Error {
  override readonly name = 'BatchFailedError';

  constructor(
    readonly batchId: string | undefined,
    readonly type: BatchFailure,
    reason: string,
    readonly fields: readonly FieldError[] = [],
  ) {
    const [what, how] = batchId === undefined ? ['the plan', ''] : [`batch ${batchId}`, ' with `again`'];
    super(`${what} ended as ${type}: ${reason}. ${BATCH_NEXT_STEP[type]}, then start it again${how}`);
  }
}

/** The batch's workflow was terminated or broke: some rows may have been started, and those orders go on. */
export class BatchUnresolvedError extends Error {
  override readonly name = 'BatchUnresolvedError';

  constructor(
    readonly batchId: string,
    reason: string,
  ) {
    super(
      `the workflow of batch ${batchId} ended without a result (${reason}); orders it started go on. ` +
        'List them by the batch, then start the same file again with `again`: rows that have an order are not paid twice',
    );
  }
}

/** Temporal has no such batch: never started, or older than the namespace keeps closed workflows. */
export class UnknownBatchError extends Error {
  override readonly name = 'UnknownBatchError';

  constructor(
    readonly batchId: string,
    account: string,
  ) {
    super(`no batch ${batchId} of account ${account} in Temporal. Check id and account`);
  }
}

/** The batch did not take an approval, pause, resume or stop; the message carries its reason. Nothing changed. */
export class BatchRefusedError extends Error {
  override readonly name = 'BatchRefusedError';

  constructor(
    readonly batchId: string,
    reason: string,
  ) {
    super(`batch ${batchId} refused: ${reason}. Read its state again`);
  }
}

/** The time the caller gave is over and the batch goes on. */
export class BatchNotDecidedYetError extends Error {
  override readonly name = 'BatchNotDecidedYetError';

  constructor(readonly batchId: string) {
    super(
      `batch ${batchId} has not ended yet and goes on by itself. Ask again later; never send its rows under other ids`,
    );
  }
}

/** A schedule of this plan exists with other settings; `fields` names what differs. Nothing was changed. */
export class ScheduleConflictError extends Error {
  override readonly name = 'ScheduleConflictError';

  constructor(
    readonly plan: string,
    readonly fields: readonly string[],
  ) {
    super(
      `a schedule of plan ${plan} exists with another ${fields.join(', ')}; nothing was changed. ` +
        'Delete it first, or use another plan',
    );
  }
}

/** Temporal has no schedule of this plan. */
export class UnknownScheduleError extends Error {
  override readonly name = 'UnknownScheduleError';

  constructor(
    readonly plan: string,
    account: string,
  ) {
    super(`no schedule of plan ${plan} of account ${account}. Check both, or create it`);
  }
}
