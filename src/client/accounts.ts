import {
  type Client,
  isGrpcServiceError,
  type WorkflowExecutionInfo,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { type AccountStop, stopText } from '../contract/account-stop.js';
import type { BatchInstruction } from '../contract/batch/batch.js';
import { messageOf } from '../contract/failures.js';
import {
  ACCOUNT_FORMAT,
  ACCOUNT_STOP_WORKFLOW,
  accountStopWorkflowId,
  ORDERS_TASK_QUEUE,
  quoted,
  RESUME_ACCOUNT_UPDATE,
  STOP_ACCOUNT_UPDATE,
  STOP_MEMO,
  searchAttribute,
} from '../contract/names.js';
import { CHECK_TIMEOUT_MS } from '../contract/signature.js';
import { stoppedQueue } from '../temporal/pollers.js';
import { PayloadDecryptionError } from '../temporal.js';
import type { WaitOptions } from './bounded.js';
import { InvalidInputError, RefusedError } from './errors.js';
import { resultOfRun } from './history.js';
import { waitWithin } from './remote-run.js';
import { refuseUnserved } from './service-calls.js';
import { type SignOptions, signed } from './signing.js';
import { callTemporal, cameTooLate, throwNoWorker, untilTaken } from './temporal-calls.js';

/**
 * Who instructs (1 to 120 characters), and why (to 500). `runId`, `signature`: set by the library,
 * or by callers that sign themselves.
 */
export type Instruction = Omit<BatchInstruction, 'pausedAt'>;

/** A stopped account. */
export interface StoppedAccount extends AccountStop {
  account: string;
}

/** `stop`: set while it is stopped. `runId`: the run that a signature names, if one is open. */
export interface AccountState {
  account: string;
  runId?: string;
  stop?: AccountStop;
}

const ANSWER_TIMEOUT_MS = CHECK_TIMEOUT_MS + 5_000;
/** A worker that serves the account mostly answers by then. */
const TAKEN_AFTER_MS = 3_000;

/** Stops and resumes accounts. */
export class Accounts {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Stops an account: after 2 s, no worker sends a create of it, and its orders wait. Throws
   * RefusedError if it is stopped already, and NoWorkerError after 15 s (3 s if no worker serves the
   * account): it may be stopped.
   */
  stop(account: string, instruction: Instruction, options?: SignOptions & WaitOptions): Promise<void> {
    return this.#tell(account, STOP_ACCOUNT_UPDATE, instruction, options);
  }

  /** Ends a stop, and waiting orders go on by themselves. Throws as `stop` does. */
  resume(account: string, instruction: Instruction, options?: SignOptions & WaitOptions): Promise<void> {
    return this.#tell(account, RESUME_ACCOUNT_UPDATE, instruction, options);
  }

  /** Returns whether an account is stopped. Needs no worker. */
  state(account: string, wait?: WaitOptions): Promise<AccountState> {
    return callTemporal(this.#client, () => stateOf(this.#client, account), wait);
  }

  /** Returns the stopped accounts, of `accounts` if given. A new stop may lack for a second. */
  async stopped(accounts?: ReadonlySet<string>, wait?: WaitOptions): Promise<StoppedAccount[]> {
    const client = this.#client;
    const query = `WorkflowType = ${quoted(ACCOUNT_STOP_WORKFLOW)}`;
    const read = async () => {
      const named = new Set<string>();
      for await (const { workflowId } of client.workflow.list({ query })) {
        const account = workflowId.slice(accountStopWorkflowId('').length);
        if (accounts?.has(account) !== false) named.add(account);
      }
      return Promise.all([...named].map((account) => stateOf(client, account)));
    };
    const states = await callTemporal(client, read, wait);
    return states.flatMap(({ account, stop }) => (stop ? [{ account, ...stop }] : []));
  }

  #tell(
    account: string,
    update: typeof STOP_ACCOUNT_UPDATE | typeof RESUME_ACCOUNT_UPDATE,
    instruction: Instruction,
    { signer, timeoutMs = ANSWER_TIMEOUT_MS, ...wait }: SignOptions & WaitOptions = {},
  ): Promise<void> {
    const client = this.#client;
    if (!ACCOUNT_FORMAT.test(account)) {
      throw new InvalidInputError([{ field: 'account', reason: `must match ${ACCOUNT_FORMAT.source}` }]);
    }
    const workflowId = accountStopWorkflowId(account);
    const refused = (why: string) => new RefusedError('account', account, 'instruction', why);
    const tell = async (): Promise<void> => {
      const before = await stateOf(client, account);
      const opens = before.stop || update === STOP_ACCOUNT_UPDATE;
      const runId = before.runId ?? (opens ? await this.#open(before) : instruction.runId);
      if (!runId) throw refused('it is not stopped');
      const choice = { runId, ...instruction };
      const run = { namespace: client.options.namespace, account, workflowId, runId };
      const argument = signer ? await signed(choice, signer, { update, run }) : choice;
      const handle = client.workflow.getHandle(workflowId, runId);
      await untilTaken(() => handle.executeUpdate<void, [object]>(update, { args: [argument] }));
    };
    const told = async (): Promise<void> => {
      try {
        await tell();
      } catch (error) {
        if (cameTooLate(error)) throw refused('it changed a moment ago');
        throw error instanceof WorkflowUpdateFailedError ? refused(messageOf(error.cause)) : error;
      }
    };
    const about = { subject: 'account', id: account, ...wait, timeoutMs } as const;
    const unserved = () => refuseUnserved(client, account, { afterMs: TAKEN_AFTER_MS, update });
    return waitWithin(
      client,
      about,
      () => Promise.race([told(), unserved()]),
      () => throwNoWorker(client, update),
    );
  }

  /** Starts the workflow that may stop the account, and returns its run. Takes over a terminated stop. */
  async #open({ account, stop }: AccountState): Promise<string> {
    const { firstExecutionRunId } = await this.#client.workflow.start(ACCOUNT_STOP_WORKFLOW, {
      workflowId: accountStopWorkflowId(account),
      taskQueue: ORDERS_TASK_QUEUE,
      args: [{ account, ...(stop && { stop }) }],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      typedSearchAttributes: [{ key: searchAttribute.account, value: account }],
      staticSummary: `stop of account ${account}`,
    });
    return firstExecutionRunId;
  }
}

/** Returns why an account sends nothing: a person, or the limit 0 of its create queue. */
export async function whyStopped(client: Client, account: string): Promise<string | undefined> {
  const { connection, options } = client;
  const [{ stop }, byLimit] = await Promise.all([
    stateOf(client, account),
    stoppedQueue({ connection, namespace: options.namespace }, account).catch(unlessUnimplemented),
  ]);
  return stop ? stopText(account, stop) : byLimit;
}

/** gRPC code of a server without queues' limits, such as the SDK's test server. */
const UNIMPLEMENTED = 12;

function unlessUnimplemented(error: unknown): undefined {
  if (!isGrpcServiceError(error) || error.code !== UNIMPLEMENTED) throw error;
}

/** Ended runs whose account is not stopped. That never changes, so workers read it once. */
const over = new Set<string>();
/** Lists show the earlier runs by then. */
const LISTED_AFTER_MS = 60_000;

async function stateOf(client: Client, account: string): Promise<AccountState> {
  const newest = await client.workflow.getHandle(accountStopWorkflowId(account)).describe().catch(unlessNotFound);
  if (!newest || over.has(newest.runId)) return { account };
  const isOpen = newest.status.name === 'RUNNING';
  const stop = await stopInForce(client, newest);
  if (!stop && !isOpen && Date.now() - newest.startTime.getTime() > LISTED_AFTER_MS) over.add(newest.runId);
  return { account, ...(isOpen && { runId: newest.runId }), ...(stop && { stop }) };
}

function unlessNotFound(error: unknown): undefined {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}

type Run = Pick<WorkflowExecutionInfo, 'workflowId' | 'runId' | 'status' | 'startTime' | 'memo'>;

/** Returns what the newest run says that took a stop. Anybody may start one that took none. */
async function stopInForce(client: Client, newest: Run): Promise<AccountStop | undefined> {
  for await (const run of newestFirst(client, newest)) {
    const stop = await stopIn(client, run);
    if (stop !== undefined) return stop ?? undefined;
  }
  return undefined;
}

async function* newestFirst(client: Client, newest: Run): AsyncGenerator<Run> {
  yield newest;
  const earlier: Run[] = [];
  for await (const run of client.workflow.list({ query: `WorkflowId = ${quoted(newest.workflowId)}` })) {
    if (run.runId !== newest.runId) earlier.push(run);
  }
  yield* earlier.sort((a, b) => b.startTime.getTime() - a.startTime.getTime());
}

/** Returns the stop of a run, undefined if it took none; null if its own result says: resumed. */
async function stopIn(client: Client, run: Run): Promise<AccountStop | null | undefined> {
  const stop = run.memo?.[STOP_MEMO] as AccountStop | undefined;
  if (run.status.name !== 'COMPLETED') return stop;
  const result = await resultOfRun(client, run.workflowId, run.runId).catch(unlessForeign);
  return Object(result).at ? null : stop;
}

function unlessForeign(error: unknown): undefined {
  if (!PayloadDecryptionError.is(error)) throw error;
}
