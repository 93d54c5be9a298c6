import {
  ActivityFailure,
  type ActivityInput,
  ApplicationFailure,
  ChildWorkflowFailure,
  log,
  TimeoutFailure,
  uuid4,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptors,
  type WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow';
import { FOREIGN_ANSWER, FOREIGN_START, Refused } from '../contract/refused.js';
import { attentionAttributes, show } from './show.js';

// The SDK takes a stack for each promise; ten frames would cost a third of a workflow's CPU.
Error.stackTraceLimit = 1;

/**
 * Handles input that was written without the payload keys, so that other code never gets a
 * `Refused`. A payload under a missing key fails the workflow task until the key is back.
 */
export const interceptors = (): WorkflowInterceptors => ({ inbound: [inbound], outbound: [outbound] });

const inbound: WorkflowInboundCallsInterceptor = {
  execute: async (input, next) => {
    const refused = refusedOf(input.args);
    if (refused) endForeignStart(refused);
    return next(input);
  },
  // A signal is a hint, also without its argument.
  handleSignal: (input, next) => next(withoutRefused(input)),
  handleQuery: (input, next) => next(withoutRefused(input)),
  validateUpdate: (input, next) => {
    const refused = refusedOf(input.args);
    if (refused) throw refusedUpdate(input.name, refused);
    next(input);
  },
  // A program without the keys may have accepted it, without the validator.
  handleUpdate: async (input, next) => {
    const refused = refusedOf(input.args);
    if (refused?.kind === 'unreadable') throw new Error(refused.why);
    if (refused) throw refusedUpdate(input.name, refused);
    return next(input);
  },
};

const outbound: WorkflowOutboundCallsInterceptor = {
  scheduleActivity: (input, next) => {
    const { activityType } = input;
    const activityId = idOf(input);
    const failed = (cause: ApplicationFailure) =>
      new ActivityFailure('Activity failed', activityType, activityId, 'NON_RETRYABLE_FAILURE', '', cause);
    return next({ ...input, options: { ...input.options, activityId } }).then(
      (answer) => checked(answer, activityType, failed),
      (error: unknown) => {
        const forged = error instanceof ActivityFailure && isTimeoutForged(error);
        const thrown = forged ? failed(foreignAnswer('a worker cannot say that its time is over')) : error;
        if (thrown instanceof ActivityFailure && isForeign(thrown)) tell(activityType, 'a failure');
        throw thrown;
      },
    );
  },
  startChildWorkflowExecution: async (input, next) => {
    const [started, ended] = await next(input);
    const { workflowType, options } = input;
    const { workflowId } = options;
    const result = ended.then((answer) =>
      checked(answer, workflowType, (cause) => {
        return new ChildWorkflowFailure(undefined, { workflowId }, workflowType, 'NON_RETRYABLE_FAILURE', cause);
      }),
    );
    // Avoids an unhandled rejection.
    result.catch(() => undefined);
    return [started, result];
  },
};

/** Digits of a random id. The few activities of an order never draw the same. */
const OWN_DIGITS = 12;

/**
 * Returns an activity id that is unique to its run, because payloads are bound to it. A reset run
 * draws the same ids up to its reset, then others.
 */
function idOf({ options, seq }: ActivityInput): string {
  const name = options.activityId ?? `${seq}`;
  return `${name}-${uuid4().slice(-OWN_DIGITS)}`;
}

const refusedOf = (args: readonly unknown[]): Refused | undefined => args.find((arg) => arg instanceof Refused);

const withoutRefused = <T extends { args: unknown[] }>(input: T): T => ({
  ...input,
  args: input.args.map((arg) => (arg instanceof Refused ? undefined : arg)),
});

const refusedUpdate = (name: string, { why }: Refused): ApplicationFailure => {
  tell(name, 'an update');
  return ApplicationFailure.nonRetryable(`${name} was not taken: ${why}`, 'Refused');
};

export const isForeign = ({ cause }: ActivityFailure): boolean =>
  cause instanceof ApplicationFailure && cause.type === FOREIGN_ANSWER;

/** Only the server ends an activity by its limits: the SDK names that event otherwise. */
const isTimeoutForged = ({ cause, message }: ActivityFailure): boolean =>
  cause instanceof TimeoutFailure && message === 'Activity task failed';

const foreignAnswer = (why: string): ApplicationFailure =>
  ApplicationFailure.create({ type: FOREIGN_ANSWER, message: why, nonRetryable: false });

/** Returns the answer. Throws `failed` for a refused one. */
function checked<T>(answer: T, from: string, failed: (cause: ApplicationFailure) => Error): T {
  if (!(answer instanceof Refused)) return answer;
  if (answer.kind === 'unreadable') throw new Error(answer.why);
  tell(from, 'a result');
  throw failed(foreignAnswer(answer.why));
}

const NEVER = '**Never start this payment under another order id: an earlier run of this one may have paid it.**';
const TODO =
  '**To do**: find out who reaches Temporal without the payload keys, then start the same id with `--again`.';

function endForeignStart({ kind, why }: Refused): never {
  if (kind === 'unreadable') throw new Error(why);
  tell('the start', 'an input');
  const reason = `this workflow was refused: ${why}. This run sent nothing`;
  const details = [NEVER, `**Why**: ${reason}`, TODO].join('\n\n');
  show(details, attentionAttributes('foreign-start'));
  throw ApplicationFailure.nonRetryable(reason, FOREIGN_START);
}

/** Logs each attempt once; a replay logs nothing. */
function tell(where: string, what: string): void {
  log.warn(`${what} of ${where} was refused: something without the payload keys reaches Temporal`);
}
