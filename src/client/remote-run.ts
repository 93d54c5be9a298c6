import { randomUUID } from 'node:crypto';
import {
  type Client,
  type Workflow,
  WorkflowFailedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
  type WorkflowResultType,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { type FieldError, INVALID_INPUT } from '../contract/failures.js';
import { ORDERS_TASK_QUEUE } from '../contract/names.js';
import { CHECK_TIMEOUT_MS, type Signature, type SignedRun, type SignedUpdate } from '../contract/signature.js';
import { messageOf } from '../contract/words.js';
import {
  BATCH_FAILURES,
  FailedError,
  InvalidInputError,
  NotDecidedYetError,
  NoWorkerError,
  RefusedError,
  UnknownIdError,
  UnresolvedError,
} from './errors.js';
import { resultOfNewest, resultOfRun } from './history.js';
import { type SignOptions, signed } from './signing.js';
import { standingOfFailure } from './standing.js';
import {
  type CallOptions,
  callTemporal,
  cameTooLate,
  isNobodyAnswering,
  isTimeOver,
  translated,
  untilTaken,
} from './temporal-calls.js';

/** A worker answers an instruction or a decision at once, or once nobody has checked it in time. */
const ANSWER_TIMEOUT_MS = CHECK_TIMEOUT_MS + 5_000;
/** Bound of the one question that follows a time-out: whoever waits wants an answer soon. */
export const CONFIRM_TIMEOUT_MS = 5_000;
/** A worker answers a query at once or not at all. */
const [FIRST_QUERY_MS, SECOND_QUERY_MS] = [4_000, 11_000];

/** How long a call may wait, in milliseconds above 0. Omitted = as long as it takes, which may be days. */
export interface WaitOptions {
  timeoutMs?: number;
}

/** Which order or batch callers talk to. */
interface RunOptions {
  subject: 'order' | 'received' | 'batch';
  id: string;
  account: string;
  workflowId: string;
  /** Set when Temporal has accepted the start or named it as started before. */
  attached?: boolean;
  /** The run that a start made. */
  started?: string;
}

/** What a person chooses by an update. */
interface Choice {
  runId?: string;
  signature?: Signature;
}

/** How an update is told. `request` and `meanwhile`: as NoWorkerError has them. */
interface TellOptions extends WaitOptions {
  refused: 'decision' | 'instruction';
  request: string;
  meanwhile?: string;
}

/** How a wait differs for a start that Temporal may not have taken. */
interface WaitMeanings {
  /** Resolves when Temporal is known to have what is waited for: nothing else goes on by itself after a time-out. */
  confirm?: () => Promise<void>;
  /** As CallOptions have it. */
  unanswered?: string;
}

/** The newest run of an order's or a batch's id, as callers talk to it: ask, tell and wait, in the library's errors. */
export class RemoteRun<W extends Workflow> {
  readonly handle: WorkflowHandle<W>;
  #isKnown: boolean;

  constructor(
    readonly client: Client,
    readonly about: RunOptions,
  ) {
    this.handle = client.workflow.getHandle<W>(about.workflowId);
    this.#isKnown = about.attached !== undefined;
  }

  /** True while the workflow is open; needs no worker. */
  async isOpen(options?: CallOptions): Promise<boolean> {
    try {
      const { status } = await callTemporal(this.client, () => this.handle.describe(), options);
      return status.name === 'RUNNING';
    } catch (error) {
      throw await this.#explained(error);
    }
  }

  /** Hands a cancellation to the open run; throws RefusedError when there is none. */
  async cancel(): Promise<void> {
    // Temporal takes the cancellation of what has ended, and does nothing.
    if (!(await this.isOpen())) {
      throw new RefusedError(this.about.subject, this.about.id, 'cancellation', 'it has ended');
    }
    await callTemporal(this.client, () => this.handle.cancel());
  }

  /** Which run a choice is for: the one that was shown, or the newest one. */
  async signedRun(shown?: string): Promise<SignedRun> {
    const { account, workflowId } = this.about;
    if (shown !== undefined) return { namespace: this.client.options.namespace, account, workflowId, runId: shown };
    try {
      const { runId } = await callTemporal(this.client, () => this.handle.describe());
      return { namespace: this.client.options.namespace, account, workflowId, runId };
    } catch (error) {
      throw await this.#explained(error);
    }
  }

  /**
   * What a person chose, for the run that it names, the newest one when it names none, and signed where somebody signs. What was
   * signed before stays as it is.
   */
  async chosen<T extends Choice>(update: SignedUpdate, choice: T, { signer }: SignOptions): Promise<T> {
    if (choice?.signature && !signer) return choice;
    const run = await this.signedRun(choice?.runId ?? undefined);
    const named = { ...choice, runId: run.runId };
    return signer ? signed(named, signer, { update, run }) : named;
  }

  /** Returns the answer of a query. Throws NoWorkerError within 15 s when no worker answers. */
  ask<T>(query: string): Promise<T> {
    const ask = (timeoutMs: number) =>
      this.client.withDeadline(Date.now() + timeoutMs, () => this.handle.query<T>(query));
    const askTwice = () =>
      ask(FIRST_QUERY_MS).catch((error: unknown) => {
        // A question handed to a worker that has just gone is lost, and costs its asker the whole wait.
        if (isTimeOver(error)) return ask(SECOND_QUERY_MS);
        throw error;
      });
    return this.#answered(askTwice, ANSWER_TIMEOUT_MS, async () => {
      await this.isOpen();
      return new NoWorkerError(ORDERS_TASK_QUEUE);
    });
  }

  /** Hands an update in; resolves to what the workflow answers. Throws RefusedError with its reason, or NoWorkerError. */
  async tell<T>(update: string, argument: object, { refused, request, meanwhile, ...wait }: TellOptions): Promise<T> {
    const timeoutMs = checkTimeout(wait) ?? ANSWER_TIMEOUT_MS;
    const options = { args: [argument] as [object], updateId: randomUUID() };
    const refusal = (reason: string) => new RefusedError(this.about.subject, this.about.id, refused, reason);
    const tell = async (): Promise<T> => {
      try {
        return await untilTaken(() => this.handle.executeUpdate<T, [object]>(update, options));
      } catch (error) {
        if (!cameTooLate(error))
          throw error instanceof WorkflowUpdateFailedError ? refusal(messageOf(error.cause)) : error;
        // Temporal answers "not found" for ended workflows too; of the others, which are unknown, `isOpen` throws that.
        await this.isOpen();
        throw refusal('it has ended');
      }
    };
    return this.#answered(tell, timeoutMs, async () => {
      await this.isOpen({ timeoutMs: CONFIRM_TIMEOUT_MS });
      return new NoWorkerError(ORDERS_TASK_QUEUE, request, meanwhile);
    });
  }

  /** The workflow's result. Throws as `wait` does. */
  result(options?: WaitOptions): Promise<WorkflowResultType<W>> {
    const { workflowId, started } = this.about;
    const result = () =>
      started ? resultOfNewest<W>(this.client, workflowId, started) : resultOfRun<W>(this.client, workflowId);
    return this.wait(result, options);
  }

  /** Runs a call that waits for the workflow, and says in the library's errors why it did not get there. */
  async wait<T>(call: () => Promise<T>, options: WaitOptions = {}, meanings: WaitMeanings = {}): Promise<T> {
    const timeoutMs = checkTimeout(options);
    const { confirm = () => this.#confirmStarted(), unanswered } = meanings;
    try {
      return timeoutMs === undefined ? await call() : await this.client.withDeadline(Date.now() + timeoutMs, call);
    } catch (error) {
      if (timeoutMs === undefined || !isTimeOver(error)) throw await this.#explained(error, unanswered);
    }
    try {
      await confirm();
    } catch (error) {
      throw await this.#explained(error, unanswered);
    }
    throw new NotDecidedYetError(this.about.subject, this.about.id);
  }

  /** Resolves when Temporal has the workflow. What it has named once is not asked again after every time-out. */
  async #confirmStarted(): Promise<void> {
    if (this.#isKnown) return;
    await callTemporal(this.client, () => this.handle.describe(), { timeoutMs: CONFIRM_TIMEOUT_MS });
    this.#isKnown = true;
  }

  /** Runs a call that only a worker answers. A silent Temporal looks like no worker: `nobody` asks it, which tells. */
  async #answered<T>(call: () => Promise<T>, timeoutMs: number, nobody: () => Promise<Error>): Promise<T> {
    try {
      return await this.client.withDeadline(Date.now() + timeoutMs, call);
    } catch (error) {
      throw isNobodyAnswering(error) ? await nobody() : await this.#explained(error);
    }
  }

  /** The library's error for what the SDK threw. */
  async #explained(error: unknown, unanswered?: string): Promise<unknown> {
    const { subject, id, account } = this.about;
    if (error instanceof WorkflowNotFoundError) return new UnknownIdError(subject, id, account);
    if (error instanceof WorkflowFailedError || error instanceof WorkflowUpdateFailedError) {
      return failureOf(subject, id, error.cause);
    }
    return translated(this.client, error, unanswered);
  }
}

/** Longer timers fire at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** The time to wait, cut to what timers can take. Throws InvalidInputError; call it before anything is started. */
export function checkTimeout({ timeoutMs }: WaitOptions): number | undefined {
  if (timeoutMs === undefined) return undefined;
  if (Number.isFinite(timeoutMs) && timeoutMs > 0) return Math.min(timeoutMs, MAX_TIMEOUT_MS);
  throw new InvalidInputError([{ field: 'timeoutMs', reason: 'must be a number of milliseconds above 0' }]);
}

/** Waits for a workflow that is no order or batch, in the library's errors. `over` says what the end of the time means. */
export async function waitWithin<T>(
  client: Client,
  { subject, id, timeoutMs }: { subject: FailedError['subject']; id?: string; timeoutMs: number },
  call: () => Promise<T>,
  over: () => T | Promise<T>,
): Promise<T> {
  try {
    return await client.withDeadline(Date.now() + timeoutMs, call);
  } catch (error) {
    if (error instanceof WorkflowFailedError) throw failureOf(subject, id, error.cause);
    if (isTimeOver(error)) return over();
    throw await translated(client, error);
  }
}

/** The library's error for the failure of a workflow or its update; a batch's check has no id and started nothing. */
function failureOf(subject: FailedError['subject'], id: string | undefined, cause: unknown): Error {
  const failure = cause instanceof ApplicationFailure ? cause : undefined;
  const type = failure?.type || 'Unknown';
  const reason = messageOf(cause);
  const fields = failure ? fieldsOfFailure(failure) : [];
  if (subject === 'order' || subject === 'received') {
    const standing = standingOfFailure(type);
    if (standing.kind === 'noOrder') return new FailedError(subject, id, type, reason, fields);
    return new UnresolvedError(subject, id ?? '', reason, standing.how === 'closed');
  }
  if (subject === 'batch' && !BATCH_FAILURES.some((known) => known === type)) {
    return new UnresolvedError(subject, id ?? 'plan', reason);
  }
  if (subject === 'batch') return new FailedError(subject, id, type, reason, fields);
  if (type !== INVALID_INPUT) return new FailedError(subject, id, type, reason);
  return new InvalidInputError(fields.length > 0 ? fields : [{ field: 'input', reason }]);
}

const isFieldError = (value: unknown): value is FieldError =>
  typeof value === 'object' && value !== null && 'field' in value && 'reason' in value;

/** The bad fields a failure carries in its details; [] when it names none. */
export const fieldsOfFailure = (failure: ApplicationFailure): FieldError[] =>
  (failure.details ?? []).flat().filter(isFieldError);
