import { type Client, isGrpcServiceError, WorkflowUpdateFailedError } from '@temporalio/client';
import { requiredTsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { type AccountStop, stopText } from '../contract/account-stop.js';
import type { BatchInstruction } from '../contract/batch/batch.js';
import { shownInterruption } from '../contract/batch/batch.js';
import { messageOf } from '../contract/failures.js';
import {
  ACCOUNT_FORMAT,
  ACCOUNT_STOP_WORKFLOW,
  accountStopWorkflowId,
  BRAKE_PRIORITY,
  ORDERS_TASK_QUEUE,
  quoted,
  RESUME_ACCOUNT_UPDATE,
  STOP_ACCOUNT_UPDATE,
  STOP_ASKED_MEMO,
  STOP_MEMO,
  searchAttribute,
} from '../contract/names.js';
import { CHECK_TIMEOUT_MS } from '../contract/signature.js';
import { stoppedQueue } from '../temporal/pollers.js';
import { GRPC, PayloadDecryptionError } from '../temporal.js';
import type { WaitOptions } from './bounded.js';
import { InvalidInputError, RefusedError } from './errors.js';
import { decodeFirst, ofWorkflow, resultOfRun } from './history.js';
import { allRuns } from './pages.js';
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

/**
 * `stop`: set while it is stopped. `runId`: the run that a signature names, if one is open.
 * `foreign`: run under the id of its stop that nobody with the payload keys made; it stops nothing.
 */
export interface AccountState {
  account: string;
  runId?: string;
  foreign?: string;
  stop?: AccountStop;
}

const STATUS = {
  RUNNING: proto.temporal.api.enums.v1.WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING,
  COMPLETED: proto.temporal.api.enums.v1.WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED,
};

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
      for await (const { workflowId } of allRuns(client, query)) {
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
      const asked = update === STOP_ACCOUNT_UPDATE ? instruction : undefined;
      const runId = before.runId ?? (opens ? await this.#open(before, asked) : instruction.runId);
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
  async #open({ account, stop, foreign }: AccountState, asked?: Instruction): Promise<string> {
    const at = new Date().toISOString();
    const { firstExecutionRunId } = await this.#client.workflow.start(ACCOUNT_STOP_WORKFLOW, {
      workflowId: accountStopWorkflowId(account),
      taskQueue: ORDERS_TASK_QUEUE,
      args: [{ account, ...(stop && { stop }) }],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: foreign ? 'TERMINATE_EXISTING' : 'USE_EXISTING',
      typedSearchAttributes: [{ key: searchAttribute.account, value: account }],
      staticSummary: `stop of account ${account}`,
      priority: { priorityKey: BRAKE_PRIORITY },
      ...(asked && { memo: { [STOP_ASKED_MEMO]: { ...shownInterruption(asked), at } satisfies AccountStop } }),
    });
    return firstExecutionRunId;
  }
}

/** Returns why an account sends nothing: a person, or the limit 0 of its create queue. */
export async function whyStopped(client: Client, account: string): Promise<string | undefined> {
  const { connection, options } = client;
  const [{ stop, asked }, byLimit] = await Promise.all([
    readState(client, account),
    stoppedQueue({ connection, namespace: options.namespace }, account).catch(unlessUnimplemented),
  ]);
  const byPerson = stop ?? asked;
  return byPerson ? stopText(account, byPerson) : byLimit;
}

/** gRPC code of a server without queues' limits, such as the SDK's test server. */
const UNIMPLEMENTED = 12;

function unlessUnimplemented(error: unknown): undefined {
  if (!isGrpcServiceError(error) || error.code !== UNIMPLEMENTED) throw error;
}

/** Ended runs whose account is not stopped. Workers read it once. */
const over = new Set<string>();
/** Lists show the earlier runs by then. */
const LISTED_AFTER_MS = 60_000;

/** Returns whether an account is stopped. Throws if Temporal does not say. */
export async function stateOf(client: Client, account: string): Promise<AccountState> {
  const { asked: _, ...state } = await readState(client, account);
  return state;
}

/** A request to stop is heeded for this long, until the workflow has taken or refused it. */
const ASKED_FOR_MS = 10_000;

async function readState(client: Client, account: string): Promise<AccountState & { asked?: AccountStop }> {
  const newest = await readRun(client, accountStopWorkflowId(account));
  if (!newest) return { account };
  const { isOpen, isForeign, runId, startMs, asked } = newest;
  const stop = await stopInForce(client, newest);
  if (!stop && !isOpen && !isForeign && Date.now() - startMs > LISTED_AFTER_MS) over.add(runId);
  return {
    account,
    ...(isOpen && !isForeign && { runId }),
    ...(isForeign && { foreign: runId }),
    ...(stop && { stop }),
    ...(asked && isOpen && Math.abs(Date.now() - Date.parse(asked.at)) < ASKED_FOR_MS && { asked }),
  };
}

function unlessNotFound(error: unknown): undefined {
  if (!isGrpcServiceError(error) || error.code !== GRPC.notFound) throw error;
}

/** Run under the id of a stop. `isForeign`: no worker of ours made it, or it cannot be read. */
interface StopRun {
  workflowId: string;
  runId: string;
  startMs: number;
  /** The stop that its start asked for, and that it may refuse. */
  asked?: AccountStop;
  isOpen: boolean;
  isForeign: boolean;
  /** Absent: it took no stop. Null: it says that the account was resumed. */
  stop?: AccountStop | null;
}

/** Reads a run; without `runId`, the newest. What is not authentic is no stop, but an alarm. */
async function readRun(client: Client, workflowId: string, runId?: string): Promise<StopRun | undefined> {
  const { namespace } = client.options;
  const execution = { workflowId, ...(runId && { runId }) };
  const found = await client.workflowService.describeWorkflowExecution({ namespace, execution }).catch(unlessNotFound);
  const info = found?.workflowExecutionInfo;
  if (!info?.execution?.runId) return undefined;
  const run = { workflowId, runId: info.execution.runId, startMs: requiredTsToMs(info.startTime, 'startTime') };
  const isOpen = info.status === STATUS.RUNNING;
  // Its result needs the history, and workers ask before each send. A failover may open it again.
  if (!isOpen && over.has(run.runId)) return { ...run, isOpen, isForeign: false, stop: null };
  const isOurs = info.type?.name === ACCOUNT_STOP_WORKFLOW && info.taskQueue === ORDERS_TASK_QUEUE;
  if (!isOurs) return { ...run, isOpen, isForeign: true };
  const memoOf = <T>(name: string): Promise<T | undefined> => {
    const memo = info.memo?.fields?.[name];
    return decodeFirst<T>(client, { payloads: memo ? [memo] : [] }, ofWorkflow(client, workflowId));
  };
  try {
    const stop = await memoOf<AccountStop>(STOP_MEMO);
    const asked = await memoOf<AccountStop>(STOP_ASKED_MEMO);
    const result = info.status === STATUS.COMPLETED && (await resultOfRun(client, workflowId, run.runId));
    return {
      ...run,
      isOpen,
      isForeign: false,
      ...(asked && { asked }),
      ...(stop && { stop: Object(result).at ? null : stop }),
    };
  } catch (error) {
    if (!PayloadDecryptionError.is(error)) throw error;
    return { ...run, isOpen, isForeign: true };
  }
}

/** Returns what the newest run says that took a stop. Anybody may start one that took none. */
async function stopInForce(client: Client, newest: StopRun): Promise<AccountStop | undefined> {
  if (newest.stop !== undefined) return newest.stop ?? undefined;
  const query = `WorkflowId = ${quoted(newest.workflowId)}`;
  for await (const { runId } of allRuns(client, query)) {
    const run = runId === newest.runId ? undefined : await readRun(client, newest.workflowId, runId);
    if (run?.stop !== undefined) return run.stop ?? undefined;
  }
  return undefined;
}
