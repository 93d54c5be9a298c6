import { randomUUID } from 'node:crypto';
import {
  type Client,
  type Workflow,
  type WorkflowExecutionDescription,
  WorkflowFailedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
  type WorkflowResultType,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { type FieldError, INVALID_INPUT, messageOf } from '../contract/failures.js';
import { DECIDE_UPDATE, ORDERS_TASK_QUEUE, parseAfterEndWorkflowId, searchAttribute } from '../contract/names.js';
import { CHECK_TIMEOUT_MS, type Signature, type SignedRun, type SignedUpdate } from '../contract/signature.js';
import { bounded, pause, type WaitOptions } from './bounded.js';
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
import { isAccountServed } from './served.js';
import { type SignOptions, signed } from './signing.js';
import { standingOfFailure } from './standing.js';
import {
  CHECK_WITHIN,
  callTemporal,
  cameTooLate,
  isNobodyAnswering,
  translated,
  untilTaken,
} from './temporal-calls.js';

/** Maximum wait for an answer: the signature check takes most of it. */
const ANSWER_TIMEOUT_MS = CHECK_TIMEOUT_MS + 5_000;
/** Pauses between looks whether a person has to decide. */
const [FIRST_LOOK_MS, MAX_LOOK_MS] = [2_000, 10_000];

/** Order or batch that waits for a person. */
export interface Parked<S> {
  outcome: 'parked';
  state: S;
}

/** `until: 'parked'`: waits for the end, or until a person has to decide. */
export interface UntilParked extends WaitOptions {
  until: 'parked';
}

function unlessNoWorker(error: unknown): undefined {
  if (!(error instanceof NoWorkerError)) throw error;
}

/** Identifies the order or batch that callers talk to. */
interface RunOptions {
  subject: 'order' | 'received' | 'batch';
  id: string;
  account: string;
  workflowId: string;
  /** Set if Temporal has accepted the start or named it as started before. */
  attached?: boolean;
  /** Run that a start made. */
  started?: string;
}

/** Choice that a person sends by an update. */
interface Choice {
  runId?: string;
  signature?: Signature;
}

/** Newest run of an order's or batch's id, with three calls: ask, tell and wait. */
export abstract class RemoteRun<W extends Workflow> {
  readonly account: string;
  readonly workflowId: string;
  /** A start found it already started. */
  readonly attached?: boolean | undefined;
  // Private, so that a logged handle does not contain the client's credentials.
  readonly #client: Client;
  readonly #about: Pick<RunOptions, 'subject' | 'id' | 'account'>;
  readonly #started: string | undefined;
  #isKnown: boolean;

  constructor(client: Client, { workflowId, attached, started, ...about }: RunOptions) {
    this.account = about.account;
    this.workflowId = workflowId;
    this.attached = attached;
    this.#client = client;
    this.#about = about;
    this.#started = started;
    this.#isKnown = attached !== undefined;
  }

  protected get client(): Client {
    return this.#client;
  }

  protected get run(): WorkflowHandle<W> {
    return this.#client.workflow.getHandle<W>(this.workflowId);
  }

  /** Returns true while the workflow is open. Needs no worker. */
  async isOpen(wait?: WaitOptions): Promise<boolean> {
    return (await this.#describe(wait)).status.name === 'RUNNING';
  }

  /** Returns the run that a choice is for: the shown one, or the newest. */
  protected async signedRun(shown?: string): Promise<SignedRun> {
    const { account, workflowId } = this;
    const runId = shown ?? (await this.#describe()).runId;
    return { namespace: this.client.options.namespace, account, workflowId, runId };
  }

  /** Returns a choice with its run (default: the newest), signed if a signer is given. */
  protected async chosen<T extends Choice>(update: SignedUpdate, choice: T, { signer }: SignOptions): Promise<T> {
    if (choice?.signature && !signer) return choice;
    const run = await this.signedRun(choice?.runId ?? undefined);
    const named = { ...choice, runId: run.runId };
    return signer ? signed(named, signer, { update, run }) : named;
  }

  /** Bounds several steps that need a worker. Throws NoWorkerError when the time is over. */
  protected within<T>(wait: WaitOptions, call: () => Promise<T>, update?: string): Promise<T> {
    return waitWithin(this.client, { ...this.#about, ...wait }, call, () => this.#noWorker(update));
  }

  /** Returns the answer of a query. Throws NoWorkerError if no worker answers within 15 s. */
  ask<T>(query: string, { timeoutMs = ANSWER_TIMEOUT_MS, ...wait }: WaitOptions = {}): Promise<T> {
    return this.within({ ...wait, timeoutMs }, () => this.run.query<T>(query));
  }

  /** Sends an update and returns its answer. Throws RefusedError (with reason) or NoWorkerError. */
  tell<T>(update: string, argument: object, { timeoutMs = ANSWER_TIMEOUT_MS, ...wait }: WaitOptions = {}): Promise<T> {
    const options = { args: [argument] as [object], updateId: randomUUID() };
    const { subject, id } = this.#about;
    const request = update === DECIDE_UPDATE ? 'decision' : 'instruction';
    const refusal = (reason: string) => new RefusedError(subject, id, request, reason);
    const call = async (): Promise<T> => {
      try {
        return await untilTaken(() => this.run.executeUpdate<T, [object]>(update, options));
      } catch (error) {
        if (!cameTooLate(error))
          throw error instanceof WorkflowUpdateFailedError ? refusal(messageOf(error.cause)) : error;
        // Temporal answers "not found" for an ended workflow, too. For an unknown one, `isOpen`
        // throws UnknownIdError.
        await this.isOpen();
        throw refusal('it has ended');
      }
    };
    return this.within({ ...wait, timeoutMs }, call, update);
  }

  /** Returns the workflow's result. Throws as `wait` does. */
  result(options?: WaitOptions): Promise<WorkflowResultType<W>> {
    const [workflowId, started] = [this.workflowId, this.#started];
    const result = () =>
      started ? resultOfNewest<W>(this.client, workflowId, started) : resultOfRun<W>(this.client, workflowId);
    return this.wait(result, options);
  }

  /** Waits for an end, or until a person has to decide. Looks for that every few seconds. */
  protected async orParked<T, S>(
    end: () => Promise<T>,
    { state, wantsPerson }: { state: () => Promise<S>; wantsPerson: (state: S) => boolean },
    { until, ...wait }: UntilParked,
  ): Promise<T | Parked<S>> {
    if (until !== 'parked') throw new InvalidInputError([{ field: 'until', reason: "must be 'parked'" }]);
    const parked = async (): Promise<Parked<S>> => {
      for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(1.5 * pauseMs, MAX_LOOK_MS)) {
        const { typedSearchAttributes: shown } = await this.#describe();
        const found = shown.get(searchAttribute.needsAttention) && (await state().catch(unlessNoWorker));
        if (found && wantsPerson(found)) return { outcome: 'parked', state: found };
        await pause(pauseMs);
      }
    };
    return this.wait(() => Promise.race([end(), parked()]), wait);
  }

  /** Runs a call that waits for the workflow. Throws NotDecidedYetError when the time is over. */
  async wait<T>(call: () => Promise<T>, options: WaitOptions = {}): Promise<T> {
    const { subject, id, account } = this.#about;
    return waitWithin(this.client, { ...this.#about, ...options }, call, async () => {
      const served = isAccountServed(this.client, account, CHECK_WITHIN).catch(() => undefined);
      if (!this.#isKnown) await this.isOpen(CHECK_WITHIN);
      throw new NotDecidedYetError(subject, id, { unserved: (await served) === false ? account : undefined });
    });
  }

  async #describe(options?: WaitOptions): Promise<WorkflowExecutionDescription> {
    try {
      const described = await callTemporal(this.client, () => this.run.describe(), options);
      this.#isKnown = true;
      return described;
    } catch (error) {
      throw await explained(this.client, this.#about, error);
    }
  }

  /** Throws NoWorkerError. Asks Temporal first: a silent Temporal looks like a missing worker. */
  async #noWorker(update?: string): Promise<never> {
    await this.isOpen(CHECK_WITHIN);
    throw new NoWorkerError(ORDERS_TASK_QUEUE, { update });
  }
}

/** Subject of a wait. `account` is set only for subjects that may be unknown. */
type About = { subject: FailedError['subject']; id?: string } & Partial<Pick<RunOptions, 'account'>>;

/** Waits for an answer and throws the library's errors. `over` runs when `timeoutMs` is over. */
export async function waitWithin<T>(
  client: Client,
  { subject, id, account, ...wait }: About & WaitOptions,
  call: () => Promise<T>,
  over: () => T | Promise<T>,
): Promise<T> {
  try {
    return await bounded(client, wait, call, over);
  } catch (error) {
    const about = { subject, ...(id !== undefined && { id }), ...(account !== undefined && { account }) };
    if (wait.timeoutMs === undefined || !isNobodyAnswering(error)) throw await explained(client, about, error);
  }
  return over();
}

/** Returns the library's error for an error of the SDK. */
async function explained(client: Client, about: About, error: unknown): Promise<unknown> {
  const { subject, id = '', account } = about;
  const isRun = subject === 'order' || subject === 'received' || subject === 'batch';
  if (error instanceof WorkflowNotFoundError) {
    return isRun && account
      ? new UnknownIdError(subject, id, account, parseAfterEndWorkflowId(error.workflowId) !== undefined)
      : new FailedError(subject, about.id, 'Unknown', 'Temporal no longer has its run');
  }
  if (error instanceof WorkflowFailedError || error instanceof WorkflowUpdateFailedError) {
    return failureOf(subject, about.id, error.cause);
  }
  return translated(client, error);
}

/** Returns the library's error for the failure of a workflow or update. */
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

/** Returns the bad fields in a failure's details; [] if there are none. */
export const fieldsOfFailure = (failure: ApplicationFailure): FieldError[] =>
  (failure.details ?? []).flat().filter(isFieldError);
