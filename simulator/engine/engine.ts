import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import {
  type DataConverter,
  defaultFailureConverter,
  defaultPayloadConverter,
  type LoadedDataConverter,
} from '@temporalio/common';
import proto from '@temporalio/proto';
import { DefaultLogger } from '@temporalio/worker';
import type { Random } from '../random.js';
import { type Host, Tokens } from './activity.js';
import { Attempts } from './attempts.js';
import { apply, closeChildren, isEnd, sent, tellParent } from './commands.js';
import { connectionTo } from './connection.js';
import { Run, type StartOf, type Update } from './run.js';
import type { WorkflowSandbox } from './sandbox.js';
import {
  decode,
  type Fields,
  GrpcError,
  type HistoryEvent,
  type Job,
  NAMESPACE,
  notFound,
  type Payload,
  timestamp,
} from './wire.js';
import { WorkflowCode } from './workflow-code.js';

const {
  WorkflowExecutionStatus: Status,
  UpdateWorkflowExecutionLifecycleStage: Stage,
  WorkflowIdReusePolicy: Reuse,
  WorkflowIdConflictPolicy: OnConflict,
  WorkflowTaskFailedCause: TaskFailed,
} = proto.temporal.api.enums.v1;

/** How a workflow is started if its id is taken. */
export interface Policies {
  reuse?: number | null;
  conflict?: number | null;
}

/** How clients and workers read and write payloads. */
export interface Converters {
  clients?: DataConverter;
  workers: LoadedDataConverter;
}

const PLAIN: Converters = {
  workers: {
    payloadConverter: defaultPayloadConverter,
    failureConverter: defaultFailureConverter,
    payloadCodecs: [],
  },
};

/** So far in this process. */
let engines = 0;

/** Temporal, as far as the product uses it, on the clock of the process. */
export class Engine {
  /** Runs by workflow id, oldest first. */
  readonly runs = new Map<string, Run[]>();
  readonly hosts: Host[] = [];
  readonly tokens = new Tokens();
  readonly logger: DefaultLogger;
  readonly code: WorkflowCode;
  readonly client: Client;
  /** When the namespace failed over, ms since the epoch; undefined: it is a local one. */
  failovers?: number[];
  /** How old lists and counts are, in ms. */
  listLagMs = 0;
  /** Runs that retention forgot, by workflow id, oldest first. */
  readonly retired = new Map<string, Run[]>();
  /** Events that a restore or failover lost, by workflow. */
  readonly forgotten: { workflowId: string; events: HistoryEvent[] }[] = [];
  readonly #number: number;
  #serial = 0;

  constructor(
    sandbox: WorkflowSandbox,
    readonly random: Random,
    log?: (line: string) => void,
    readonly converters = PLAIN,
  ) {
    engines += 1;
    this.#number = engines;
    this.logger = new DefaultLogger('WARN', ({ level, message, meta }) =>
      log?.(`${level} ${message} ${String(Object(meta).error ?? '')}`),
    );
    this.code = new WorkflowCode(sandbox, converters.workers.payloadCodecs);
    this.client = this.#newClient();
  }

  #newClient = (host?: Host): Client =>
    new Client({
      ...{ connection: connectionTo(this, host) as never, namespace: NAMESPACE },
      dataConverter: host ? this.converters.workers : this.converters.clients,
    });

  /** The client of a worker: its calls are answered never once it is killed, and late if it stands still. */
  clientOf(host: Host): Client {
    const known = clients.get(host) ?? this.#newClient(host);
    clients.set(host, known);
    return known;
  }

  /** How long the server takes for a step, in ms. */
  lag = (): number => this.random.between(1, 8);

  /** A worker that takes the next task of a queue. */
  hostOf(queue: string): Host | undefined {
    const serving = this.#serving(queue);
    return serving.length > 0 ? this.random.one(serving) : undefined;
  }

  isServed = (queue: string): boolean => this.#serving(queue).length > 0;

  #serving = (queue: string): Host[] =>
    this.hosts.filter(({ isAlive, isFrozen, queues }) => isAlive && !isFrozen && queues.has(queue));

  /** Runs by workflow, oldest first, also those that retention took. */
  allRuns(): ReadonlyMap<string, readonly Run[]> {
    const ids = new Set([...this.retired.keys(), ...this.runs.keys()]);
    return new Map([...ids].map((id) => [id, [...(this.retired.get(id) ?? []), ...(this.runs.get(id) ?? [])]]));
  }

  newest = (workflowId: string): Run | undefined => this.runs.get(workflowId)?.at(-1);

  /** The run of an execution. Throws NOT_FOUND. */
  runOf({ workflowId, runId }: { workflowId?: string | null; runId?: string | null }): Run {
    const runs = this.runs.get(workflowId ?? '') ?? [];
    const run = runId ? runs.find((one) => one.runId === runId) : runs.at(-1);
    if (!run) throw notFound(`workflow not found for ID: ${workflowId}`);
    return run;
  }

  /** The same, of an open one. */
  openRunOf(execution: { workflowId?: string | null; runId?: string | null }): Run {
    const run = this.runOf(execution);
    if (!run.isOpen) throw notFound('workflow execution already completed');
    return run;
  }

  /** Starts a run, or returns the open one if the policy says so. Throws ALREADY_EXISTS. */
  start(start: StartOf, { reuse, conflict }: Policies = {}): { run: Run; isNew: boolean } {
    const before = this.newest(start.workflowId);
    if (before?.isOpen && !start.continuedFrom) {
      if (conflict === OnConflict.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING) return { run: before, isNew: false };
      if (conflict !== OnConflict.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING) throw alreadyStarted(before);
      this.terminate(before, 'by a new start');
    } else if (before && !start.continuedFrom) {
      const failedOnly = reuse === Reuse.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY;
      const isRefused = reuse === Reuse.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE;
      const hasCompleted = before.status === Status.WORKFLOW_EXECUTION_STATUS_COMPLETED;
      if (isRefused || (failedOnly && hasCompleted)) throw alreadyStarted(before);
    }
    const run = this.begin(start);
    const { runId } = run;
    run.record('EVENT_TYPE_WORKFLOW_EXECUTION_STARTED', {
      ...{ workflowType: { name: start.type }, taskQueue: { name: start.taskQueue }, input: { payloads: start.input } },
      ...{
        workflowId: start.workflowId,
        originalExecutionRunId: runId,
        firstExecutionRunId: run.firstRunId,
        attempt: 1,
      },
      ...{ header: { fields: start.headers ?? {} }, memo: { fields: { ...run.memo } }, priority: start.priority },
      searchAttributes: { indexedFields: { ...run.searchAttributes } },
      ...(start.continuedFrom && { continuedExecutionRunId: start.continuedFrom.runId }),
      ...(start.parent && { parentWorkflowExecution: start.parent.run.execution }),
    });
    this.initialize(run);
    return { run, isNew: true };
  }

  /** Gives a run its first job. */
  initialize = (run: Run): void => this.tell(run, { initializeWorkflow: this.#initial(run) });

  /** Forgets runs that ended before a time, as retention does, of one workflow or of all. */
  forget(endedBeforeMs: number, only?: string): void {
    for (const [workflowId, runs] of this.runs) {
      if (only !== undefined && workflowId !== only) continue;
      const isKept = ({ closeMs = Number.POSITIVE_INFINITY }: Run) => closeMs >= endedBeforeMs;
      const kept = runs.filter(isKept);
      if (kept.length === runs.length) continue;
      this.retired.set(workflowId, [...(this.retired.get(workflowId) ?? []), ...runs.filter((run) => !isKept(run))]);
      if (kept.length > 0) this.runs.set(workflowId, kept);
      else this.runs.delete(workflowId);
    }
  }

  /** Forgets a workflow, which ends if it is open. */
  remove(workflowId: string): void {
    for (const run of this.runs.get(workflowId) ?? []) if (run.isOpen) this.terminate(run, 'deleted');
    this.forget(Number.POSITIVE_INFINITY, workflowId);
  }

  /** Makes a run, the newest of its workflow. */
  begin(start: StartOf): Run {
    this.#serial += 1;
    // Never used before in this process, as on a real server: the product remembers runs.
    const runId = `${String(this.#number).padStart(8, '0')}-0000-4000-8000-${String(this.#serial).padStart(12, '0')}`;
    const run = new Run(start, runId, (one) => new Attempts(this, one));
    this.runs.set(start.workflowId, [...(this.runs.get(start.workflowId) ?? []), run]);
    return run;
  }

  #initial(run: Run) {
    const { start } = run;
    const parent = start.parent?.run;
    return {
      ...{
        workflowId: start.workflowId,
        workflowType: start.type,
        arguments: start.input,
        headers: start.headers ?? {},
      },
      randomnessSeed: { low: this.#serial, high: this.random.between(0, 2 ** 31), unsigned: true } as never,
      ...{ firstExecutionRunId: run.firstRunId, attempt: 1, startTime: timestamp(run.startMs) },
      memo: { fields: { ...run.memo } },
      searchAttributes: { indexedFields: { ...run.searchAttributes } },
      priority: start.priority ?? undefined,
      workflowTaskTimeout: { seconds: 10 as never, nanos: 0 },
      ...(start.continuedFrom && { continuedFromExecutionRunId: start.continuedFrom.runId }),
      ...(parent && { parentWorkflowInfo: { namespace: NAMESPACE, ...parent.execution } }),
    };
  }

  signal(run: Run, signalName: string, input: Payload[], headers: Fields = {}, identity = 'client'): void {
    run.record('EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED', { signalName, input: { payloads: input }, identity });
    this.tell(run, { signalWorkflow: { signalName, input, headers, identity } });
  }

  /** A second request changes nothing, nor does one to a closed run. */
  requestCancel(run: Run, reason = ''): void {
    if (!run.isOpen || run.isCancelRequested) return;
    run.record('EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED', { cause: reason });
    this.tell(run, { cancelWorkflow: { reason } });
  }

  terminate(run: Run, reason: string): void {
    run.record('EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED', { reason });
    run.failure = { message: reason, terminatedFailureInfo: {} };
    this.close(run, Status.WORKFLOW_EXECUTION_STATUS_TERMINATED);
  }

  /** Admits an update; the same id is the same update. */
  update(run: Run, given: Pick<Update, 'id' | 'name' | 'input' | 'headers' | 'isReapplied'>): Update {
    const known = run.updates.get(given.id);
    if (known) return known;
    const { id, name, input, headers, isReapplied } = given;
    const stage = Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ADMITTED;
    const update: Update = { id, name, input, headers, stage, waiters: [], ...(isReapplied && { isReapplied }) };
    run.updates.set(id, update);
    const meta = { updateId: id, identity: 'client' };
    this.tell(run, { doUpdate: { id, protocolInstanceId: id, name, input, headers, meta, runValidator: true } });
    return update;
  }

  /** Gives a job to the run's next workflow task. */
  tell(run: Run, job: Job): void {
    if (!run.isOpen) return;
    run.jobs.push(job);
    if (run.isBusy) return;
    run.isBusy = true;
    setTimeout(() => void this.#task(run), this.lag());
  }

  async #task(run: Run): Promise<void> {
    while (run.jobs.length > 0 && run.isOpen) {
      if (!this.isServed(run.start.taskQueue)) {
        await sleep(UNSERVED_MS);
        continue;
      }
      const jobs = run.jobs.splice(0);
      run.record('EVENT_TYPE_WORKFLOW_TASK_SCHEDULED');
      const startedEventId = run.record('EVENT_TYPE_WORKFLOW_TASK_STARTED');
      const { commands, failed } = await this.code.activate(run, jobs, run.history.length);
      if (failed !== undefined) {
        run.taskFailure = failed;
        run.record('EVENT_TYPE_WORKFLOW_TASK_FAILED', { startedEventId, failure: { message: failed } });
        this.logger.error(`workflow task of ${run.workflowId} failed: ${failed}`);
        break;
      }
      if (commands.some(isEnd) && run.jobs.some(({ doUpdate }) => !doUpdate)) {
        run.record('EVENT_TYPE_WORKFLOW_TASK_FAILED', { startedEventId, cause: UNHANDLED_COMMAND });
        this.#repeat(run, jobs);
        continue;
      }
      run.record('EVENT_TYPE_WORKFLOW_TASK_COMPLETED', { startedEventId });
      for (const command of sent(commands)) apply(this, run, command);
    }
    run.isBusy = false;
  }

  /** The code forgets a task that would have ended its run past events that it has not seen. */
  #repeat(run: Run, jobs: Job[]): void {
    run.jobs.unshift(...jobs);
    run.activations.pop();
    void run.workflow?.dispose();
    run.workflow = undefined;
  }

  /** Ends a run at the server: its waiters, its parent and its children are told. */
  close(run: Run, status: number): void {
    run.status = status;
    run.closeMs = Date.now();
    for (const timer of run.timers.values()) clearTimeout(timer);
    run.attempts.abandon();
    for (const update of run.updates.values()) this.settle(update);
    for (const tell of run.closed.splice(0)) tell();
    if (!run.resetTo) {
      tellParent(this, run);
      closeChildren(this, run);
    }
    const { workflow } = run;
    run.workflow = undefined;
    // Not within its own activation.
    setTimeout(() => void workflow?.dispose(), 0);
  }

  /** Whatever is open stays as it is, and takes no time any more. */
  rest(): void {
    for (const run of [...this.runs.values()].flat()) {
      for (const timer of run.timers.values()) clearTimeout(timer);
      run.attempts.abandon();
      run.jobs.length = 0;
      void run.workflow?.dispose();
      run.workflow = undefined;
    }
  }

  /** Tells who waits for an update. */
  settle(update: Update): void {
    for (const tell of update.waiters.splice(0)) tell();
  }
}

/** How often a task that nobody polls for looks for a worker. */
const UNSERVED_MS = 200;
const UNHANDLED_COMMAND = TaskFailed.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND;
const clients = new WeakMap<Host, Client>();

const alreadyStarted = ({ workflowId, runId }: Run): GrpcError =>
  new GrpcError(6, `Workflow execution already started. WorkflowId: ${workflowId}, RunId: ${runId}.`);

/** Values of payloads of search attributes, which lists read again and again. */
const values = new WeakMap<Payload, unknown>();

function readOf(payload: Payload): unknown {
  if (!values.has(payload)) values.set(payload, decode(payload));
  return values.get(payload);
}

/** Values of search attributes as they are compared. */
export const attributesOf = (run: Run): Record<string, unknown> =>
  Object.fromEntries(Object.entries(run.searchAttributes).map(([name, payload]) => [name, readOf(payload)]));
