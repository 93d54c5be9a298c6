import { BATCH_FILE_UNUSABLE, BATCH_NOT_APPROVED, BATCH_STOPPED } from '../contract/batch/batch.js';
import {
  describeFieldErrors,
  type FieldError,
  INVALID_INPUT,
  type OrderFailure,
  SERVICE_REJECTED,
} from '../contract/failures.js';
import { maskWallets } from '../contract/wallets.js';
import { ConfigError, PayloadDecryptionError, TemporalSetupError, TemporalUnreachableError } from '../temporal.js';

export { ConfigError, PayloadDecryptionError, TemporalSetupError, TemporalUnreachableError };

/**
 * Subject of an error. Ids: 'received' has an order_uuid, a schedule its plan, an address its
 * reference, a read or a reconciliation its account.
 */
export type Subject = 'order' | 'received' | 'batch' | 'account' | 'schedule' | 'address' | 'read' | 'reconcile';

/** Error about one subject. `id` is undefined for the check of a batch without an id. */
abstract class SubjectError<S extends Subject> extends Error {
  /** Masked if it holds a card number, an IBAN or an e-mail, because errors are logged whole. */
  readonly id: string | undefined;

  constructor(
    readonly subject: S,
    id: string | undefined,
    message: string,
  ) {
    super(maskWallets(message));
    this.name = new.target.name;
    this.id = id === undefined ? id : maskWallets(id);
  }
}

/** Returns the name of a subject for messages. */
function named(subject: Subject, id: string | undefined): string {
  if (subject === 'order' || subject === 'received') return `order "${id}"`;
  if (subject === 'batch') return id === undefined ? 'the plan' : `batch "${id}"`;
  if (subject === 'schedule') return `schedule of plan "${id}"`;
  return subject === 'reconcile' ? `the reconciliation of account "${id}"` : `${subject} "${id}"`;
}

/** Returns the name of a subject for the start of a message. */
const Named = (subject: Subject, id: string | undefined): string =>
  named(subject, id).replace(/^./, (letter) => letter.toUpperCase());

function different(fields: readonly string[]): string {
  const names = fields.map((field) => field.replace(/^order\./, '')).join(', ');
  return `${fields.length === 1 && !names.endsWith('s') ? 'a different' : 'different'} ${names}`;
}

/** The input is invalid; `fields` names every bad field. Nothing was started or sent. */
export class InvalidInputError extends Error {
  override readonly name = 'InvalidInputError';
  readonly kind = 'invalidInput';

  constructor(readonly fields: readonly FieldError[]) {
    super(`Nothing was started. Correct the input: ${describeFieldErrors(fields)}`);
  }
}

/**
 * The id has a run with another input; `fields` names the differences. `ended`: that run ended
 * without an order of ours, so `again` may start this input.
 */
export class ConflictError extends SubjectError<'order' | 'batch' | 'schedule'> {
  readonly kind = 'conflict';

  constructor(
    subject: ConflictError['subject'],
    id: string,
    readonly fields: readonly string[],
    readonly ended?: OrderFailure,
  ) {
    const exists = `${Named(subject, id)} exists with ${different(fields)}. This start ${subject === 'schedule' ? 'changed' : 'sent'} nothing`;
    const message = {
      order: ended
        ? `${exists}. The earlier run ended as ${ended}, so no order of ours exists. ${NEXT[ended]}`
        : `${exists}, but that order may be paid. Read its state, and never pay the same again under another id`,
      batch: `${exists}. Send the first input again, or start this one with \`again\` after that batch has ended. A new batch needs its own id`,
      schedule: `${exists}. Delete it first, or use another plan`,
    }[subject];
    super(subject, id, message);
  }
}

/** Failure types of a batch that started no order. */
export const BATCH_FAILURES = [INVALID_INPUT, BATCH_NOT_APPROVED, BATCH_FILE_UNUSABLE, BATCH_STOPPED] as const;

/** Reason why a batch failed before it started any order. */
export type BatchFailure = (typeof BATCH_FAILURES)[number];

const AGAIN = 'To pay it after all, use --again (in code: `again: true`)';

const NEXT: Record<OrderFailure | BatchFailure, string> & Record<string, string> = {
  InvalidOrder: 'Correct the input, then start it with --again (in code: `again: true`)',
  // The reason already contains the next step in the words of the command line.
  OrderRejected: 'The id stays (in code: `again: true`)',
  OrderConflict:
    'Find out whose order has this id at the service. If it is this payment, start it with its own input and --again',
  OrderCancelled: `Nothing was sent. ${AGAIN}`,
  OrderAbsent: AGAIN,
  [INVALID_INPUT]: 'Correct it',
  [BATCH_NOT_APPROVED]: 'Have somebody else approve the plan in time',
  [BATCH_FILE_UNUSABLE]: 'Put the file in place',
  [BATCH_STOPPED]: 'If it is to be sent after all, plan it',
};

const TRY_AGAIN = 'Try again later';

/** A callback or reconcile starts a received order; callers never do. */
const NEXT_OF_RECEIVED: Record<string, string> = {
  ...NEXT,
  InvalidOrder: 'Correct the input',
  OrderConflict: 'It is no receipt on that address: look at it at the service',
  OrderAbsent: 'If the service lists it later, reconcile follows it',
};

const NEXT_OF_READ: Readonly<Record<string, string>> = {
  [SERVICE_REJECTED]: 'Correct the request',
  [BATCH_FILE_UNUSABLE]: 'The orders are as they were. Put the file back',
};

/**
 * The subject ended without success: no order of ours exists, no row was started, or no answer
 * came. `type` says which; `fields` names bad input.
 */
export class FailedError extends SubjectError<Exclude<Subject, 'schedule'>> {
  readonly kind = 'failed';

  constructor(
    subject: FailedError['subject'],
    id: string | undefined,
    readonly type: string,
    reason: string,
    readonly fields: readonly FieldError[] = [],
  ) {
    const next = (subject === 'received' ? NEXT_OF_RECEIVED : NEXT)[type] ?? TRY_AGAIN;
    const start = id === undefined ? 'start it again' : 'start it again with `again`';
    const isRead = subject === 'address' || subject === 'read' || subject === 'reconcile';
    // The reason of an absent order is a whole sentence that names who closed it.
    const end = type === 'OrderAbsent' ? reason : `${Named(subject, id)} ended as ${type}: ${reason}`;
    const ended = `${end}. ${next}${subject === 'batch' ? `, then ${start}` : ''}`;
    const noAnswer = `${type}: ${reason}. ${NEXT_OF_READ[type] ?? TRY_AGAIN}`;
    super(subject, id, isRead ? noAnswer : ended);
  }
}

/** Temporal has no run with this id, or no longer. The order may exist at the service. */
export class UnknownIdError extends SubjectError<'order' | 'received' | 'batch' | 'schedule'> {
  readonly kind = 'unknown';

  constructor(subject: UnknownIdError['subject'], id: string, account: string, afterEnd = false) {
    const none = `Temporal has no ${named(subject, id)} of account "${account}"`;
    const order = afterEnd
      ? `No change of ${named(subject, id)} after its end is known (account "${account}"), so nobody is asked. For the order itself, leave out --after-end (in code: \`afterEnd\`)`
      : `${none}. Check id and account. An order older than the retention is known to the service only`;
    const message = {
      order,
      received: order,
      batch: `${none}. Check id and account`,
      schedule: `${none}. Check both, or create it`,
    }[subject];
    super(subject, id, message);
  }
}

/**
 * A decision, cancellation, instruction or restart was refused, and nothing changed. `undecided`:
 * the order is open, or may be.
 */
export class RefusedError extends SubjectError<'order' | 'received' | 'batch' | 'account'> {
  readonly kind = 'refused';

  constructor(
    subject: RefusedError['subject'],
    id: string,
    readonly request: 'decision' | 'cancellation' | 'instruction' | 'again',
    reason: string,
    readonly undecided = false,
  ) {
    const what = Named(subject, id);
    const message = {
      decision: `${what} refused the decision: ${reason}. Read its state again and decide on what it shows`,
      cancellation: `${what} cannot be cancelled: ${reason}. Read its result`,
      instruction: `${what} refused: ${reason}. Read its state again`,
      again: `${what} cannot be started again: ${reason}. ${undecided ? 'Never start it under another id' : 'Its id is used up'}`,
    }[request];
    super(subject, id, message);
  }
}

/** The caller's time is over, or a person has to decide. Ask again later with the same id. */
export class NotDecidedYetError extends SubjectError<'order' | 'received' | 'batch' | 'reconcile'> {
  readonly kind = 'notDecidedYet';

  /** `unserved`: account that no worker serves. */
  constructor(
    subject: NotDecidedYetError['subject'],
    id: string,
    { reason, unserved }: { reason?: string; unserved?: string } = {},
  ) {
    const what = Named(subject, id);
    const silent = unserved === undefined ? '' : `. No worker serves account "${unserved}" now: start one`;
    const known =
      reason ?? `${what} is still running or is waiting for a person: see state(). Call again with the same id`;
    const order = `${known}. A new id could pay twice`;
    const message = {
      order,
      received: order,
      batch: `${what} has not ended yet and continues by itself. Ask again later. Never send its rows under other ids: they could be paid twice`,
      reconcile: `${what} continues: ${reason ?? 'it has not ended yet. Ask again later'}`,
    }[subject];
    super(subject, id, `${message}${silent}`);
  }
}

/** The workflow broke or was stopped, or closed in doubt (`closed`). The order may exist. */
export class UnresolvedError extends SubjectError<'order' | 'received' | 'batch'> {
  readonly kind = 'unresolved';

  constructor(
    subject: UnresolvedError['subject'],
    id: string,
    reason: string,
    readonly closed = false,
  ) {
    const what = named(subject, id);
    const order =
      `${closed ? `${Named(subject, id)} was closed` : `The workflow of ${what} ended`} without a verdict (${reason}). The order may exist. ` +
      'Look for it at the service, and never start it under another id. If it is not final there, `reconcile --recover` follows it';
    const message = {
      order,
      received: order,
      batch:
        `The workflow of ${what} ended without a result (${reason}). Orders that it started continue. ` +
        'List them by the batch, then start the same file again with `again`: rows that have an order are not paid twice',
    }[subject];
    super(subject, id, message);
  }
}

/** No worker answers. Nothing is lost: Temporal may still deliver `update`. */
export class NoWorkerError extends Error {
  override readonly name = 'NoWorkerError';
  readonly kind = 'noWorker';

  /** `unserved`: account that no worker has served lately. */
  constructor(taskQueue: string, { update, unserved }: { update?: string | undefined; unserved?: string } = {}) {
    const wrong = update ? 'If the name is wrong, the account that you mean is as it was: use its name. ' : '';
    const right = update ? 'nothing of it is sent without a worker: ' : '';
    const silent = unserved
      ? `No worker has served account "${unserved}" in the last minutes. ${wrong}If the name is right, ${right}start one that has this account`
      : `No worker answered in time on task queue ${taskQueue}. If none runs, start one`;
    const next = update
      ? `. Then read the state again before you repeat "${update}": Temporal may still deliver it`
      : '. Then ask again. Orders wait and nothing is lost';
    super(`${silent}${next}`);
  }
}

const ABOUT_A_SUBJECT = [ConflictError, FailedError, UnknownIdError, RefusedError, NotDecidedYetError, UnresolvedError];
const ABOUT_A_CALL = [InvalidInputError, NoWorkerError, TemporalSetupError, TemporalUnreachableError];
const CLASSES = [...ABOUT_A_SUBJECT, ...ABOUT_A_CALL, ConfigError, PayloadDecryptionError];

/** Union of all errors of this library, discriminated by `kind`. */
export type ClientError = InstanceType<(typeof CLASSES)[number]>;

/** Returns true for an error of this library. Any other error is a bug. */
export const isClientError = (error: unknown): error is ClientError => CLASSES.some((one) => error instanceof one);
