import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setImmediate } from 'node:timers';
import { Client, type ConnectionLike } from '@temporalio/client';
import {
  ApplicationFailure,
  DefaultFailureConverter,
  defaultPayloadConverter,
  type Payload,
  type SearchAttributeUpdatePair,
} from '@temporalio/common';
import { encodeUnifiedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import proto from '@temporalio/proto';
import { CREATED_UPDATE, FINAL_UPDATE } from '../contract/names.js';
import { selects } from './query.js';
import { decoded, eventsOf, grpcError, infoOf, payloads, placeOf, type Run, rowOf, timestamp } from './run.js';

const { v1: service } = proto.temporal.api.workflowservice;
const { HistoryEventFilterType, UpdateWorkflowExecutionLifecycleStage, WorkflowIdReusePolicy } =
  proto.temporal.api.enums.v1;

/** Fields of a request to the gRPC service. */
type Of<Name extends keyof typeof service> = (typeof service)[Name] extends { create(fields?: infer F): unknown }
  ? NonNullable<F>
  : never;

/** Faults: see `TestSettings`. */
export type Fault = 'noWorker' | 'unreachable' | 'answersLost';

/** Updates that callers share. Temporal keeps their answers after the end. */
const KEPT = [CREATED_UPDATE, FINAL_UPDATE];

const failureOf = (error: unknown) => new DefaultFailureConverter().errorToFailure(error, defaultPayloadConverter);

/** Returns the error for what the double does not do. */
export const notInDouble = (what: string): Error =>
  new Error(`The double of payment-orders has no ${what}: test that with a worker and the sandbox`);

/** Temporal in memory: the calls that the library makes, for a `Client` of the SDK. */
export abstract class TestTemporal {
  readonly client: Client;
  readonly #runs: Run[] = [];
  readonly #limits = new AsyncLocalStorage<{ deadline?: true; signal?: AbortSignal }>();
  readonly #changes = new EventEmitter().setMaxListeners(0);
  #fault: Fault | undefined;
  #lastMs = 0;

  constructor() {
    this.client = new Client({
      connection: this.#connection(),
      namespace: 'test',
      interceptors: {
        workflow: [
          {
            // The SDK would hide an error of the call behind one of its own.
            startWithDetails: async (start, next) => {
              this.requireKnown(start.workflowType, start.options.args[0]);
              return next(start);
            },
          },
        ],
      },
    });
  }

  /** Throws for workflows that the double does not have. */
  protected abstract requireKnown(type: string, input: unknown): void;
  /** Takes a run, as a worker does. Each step of a workflow happens at once. */
  protected abstract begin(run: Run): void;
  /** Returns the answer of a query. */
  protected abstract state(run: Run): unknown;
  /** Returns the answer of an update; undefined: not yet, null: none. Throws its failure. */
  protected abstract update(run: Run, name: string, argument: unknown): unknown;
  protected abstract cancel(run: Run): void;

  protected breakDown(fault: Fault | undefined): void {
    this.#fault = fault;
    for (const run of this.#runs) this.#begin(run);
    this.changed();
  }

  clear(): void {
    this.#runs.length = 0;
  }

  /** Wakes who waits for a change. */
  protected changed(): void {
    this.#changes.emit('change');
  }

  protected newestRun(workflowId: string): Run | undefined {
    return this.#runs.findLast((run) => run.workflowId === workflowId);
  }

  /** Starts a workflow as another workflow does. */
  protected startRun(workflowId: string, type: string, input: unknown, pairs: SearchAttributeUpdatePair[]): void {
    const searchAttributes = { indexedFields: encodeUnifiedSearchAttributes(undefined, pairs) };
    const request = { workflowId, workflowType: { name: type }, input: payloads(input), searchAttributes };
    this.#start({ ...request, requestId: randomUUID() }, undefined);
  }

  /** Ends a run with a result, or with a failure. */
  protected end(run: Run, end: { result: unknown } | { failure: ApplicationFailure }): void {
    if ('result' in end)
      this.#close(run, 'Completed', { workflowExecutionCompletedEventAttributes: { result: payloads(end.result) } });
    else this.#close(run, 'Failed', { workflowExecutionFailedEventAttributes: { failure: failureOf(end.failure) } });
  }

  /** Sets search attributes of a run; null removes one. */
  protected show(run: Run, pairs: SearchAttributeUpdatePair[]): void {
    const kept = Object.entries(run.attributes).filter(([name]) => !pairs.some(({ key }) => key.name === name));
    const set = pairs.filter(({ value }) => value !== null);
    run.attributes = { ...Object.fromEntries(kept), ...encodeUnifiedSearchAttributes(undefined, set) };
    this.changed();
  }

  #begin(run: Run): void {
    if (run.begun || run.closed || this.#fault === 'noWorker') return;
    run.begun = true;
    this.begin(run);
  }

  #close(run: Run, status: NonNullable<Run['closed']>['status'], event: object): void {
    if (run.closed) throw grpcError('notFound', 'the workflow has completed');
    const at = this.#now();
    run.closed = { status, at, event: { ...event, eventTime: timestamp(at) } };
    this.changed();
  }

  /** Returns the time, later with each call: lists compare times. */
  #now(): Date {
    this.#lastMs = Math.max(Date.now(), this.#lastMs + 1);
    return new Date(this.#lastMs);
  }

  /** Waits for an answer. A time limit is over at once, after one turn of the event loop. */
  async #until<T>(answer: () => T | undefined): Promise<T> {
    const { deadline, signal } = this.#limits.getStore() ?? {};
    for (let isOver = false; ; isOver = deadline === true) {
      const found = answer();
      if (found !== undefined) return found;
      if (signal?.aborted) throw grpcError('cancelled', 'the caller aborted');
      if (isOver) throw grpcError('deadlineExceeded', 'the time limit is over');
      if (deadline) await new Promise((resolve) => setImmediate(resolve));
      else await once(this.#changes, 'change', { signal }).catch(() => undefined);
    }
  }

  #connection(): ConnectionLike {
    const within = <R>(limits: object, call: () => Promise<R>): Promise<R> =>
      this.#limits.run({ ...this.#limits.getStore(), ...limits }, call);
    const calls: Record<string, unknown> = this.#calls();
    const answer = (name: string) => async (request: unknown) => {
      if (this.#fault === 'unreachable') throw grpcError('unavailable', 'the test made it unreachable');
      if (!(name in calls)) throw notInDouble(`${name} of Temporal`);
      return (calls[name] as (request: unknown) => unknown)(request);
    };
    const services = new Proxy({}, { get: (_, name) => answer(String(name)) });
    return {
      workflowService: services as ConnectionLike['workflowService'],
      operatorService: services as ConnectionLike['operatorService'],
      plugins: [],
      close: async () => {},
      ensureConnected: async () => {},
      withDeadline: (_, call) => within({ deadline: true }, call),
      withMetadata: (_, call) => call(),
      withAbortSignal: (signal, call) => within({ signal }, call),
    };
  }

  #run(execution: { workflowId?: string | null; runId?: string | null } | null | undefined): Run {
    const { workflowId, runId } = execution ?? {};
    const run = this.#runs.findLast((one) => one.workflowId === workflowId && (!runId || one.runId === runId));
    if (!run) throw grpcError('notFound', `workflow not found for ID: ${workflowId}`);
    return run;
  }

  /** Returns the calls of the gRPC service by their names there. */
  #calls() {
    return {
      getSystemInfo: () => ({}),
      describeTaskQueue: () => ({ pollers: this.#fault === 'noWorker' ? [] : [{}] }),
      startWorkflowExecution: (request: Of<'StartWorkflowExecutionRequest'>) => {
        const last = this.newestRun(request.workflowId ?? '');
        const run = last && last.requestId === request.requestId ? last : this.#start(request, last);
        if (this.#fault === 'answersLost') throw grpcError('unavailable', 'the test lost the answer');
        return { runId: run.runId };
      },
      describeWorkflowExecution: ({ execution }: Of<'DescribeWorkflowExecutionRequest'>) => ({
        workflowExecutionInfo: infoOf(this.#run(execution)),
      }),
      queryWorkflow: async ({ execution }: Of<'QueryWorkflowRequest'>) => {
        const run = this.#run(execution);
        const state = () => (run.begun && this.#fault !== 'noWorker' ? this.state(run) : undefined);
        return { queryResult: payloads(await this.#until(state)) };
      },
      updateWorkflowExecution: async ({ workflowExecution, request }: Of<'UpdateWorkflowExecutionRequest'>) => {
        const run = this.#run(workflowExecution);
        const [name, argument] = [request?.input?.name ?? '', decoded(request?.input?.args?.payloads?.[0])];
        if (run.closed && !KEPT.includes(name)) throw grpcError('notFound', 'the workflow has completed');
        const outcome = await this.#until(() => {
          if (!run.begun || this.#fault === 'noWorker') return undefined;
          try {
            const answer = this.update(run, name, argument);
            return answer === undefined ? undefined : { success: answer === null ? {} : payloads(answer) };
          } catch (error) {
            if (!(error instanceof ApplicationFailure)) throw error;
            return { failure: failureOf(error) };
          }
        });
        const { UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED: stage } = UpdateWorkflowExecutionLifecycleStage;
        return { stage, outcome, updateRef: { workflowExecution: run } };
      },
      requestCancelWorkflowExecution: ({ workflowExecution }: Of<'RequestCancelWorkflowExecutionRequest'>) => {
        const run = this.#run(workflowExecution);
        run.cancelled = true;
        if (run.begun && !run.closed) this.cancel(run);
        return {};
      },
      terminateWorkflowExecution: ({ workflowExecution, reason }: Of<'TerminateWorkflowExecutionRequest'>) => {
        this.#close(this.#run(workflowExecution), 'Terminated', {
          workflowExecutionTerminatedEventAttributes: { reason },
        });
        return {};
      },
      getWorkflowExecutionHistory: async (request: Of<'GetWorkflowExecutionHistoryRequest'>) => {
        const run = this.#run(request.execution);
        const isEnd = request.historyEventFilterType === HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT;
        if (isEnd) await this.#until(() => run.closed);
        const events = eventsOf(run).slice(isEnd ? -1 : 0, request.maximumPageSize || undefined);
        return { history: { events }, nextPageToken: [] };
      },
      getWorkflowExecutionHistoryReverse: ({ execution }: Of<'GetWorkflowExecutionHistoryReverseRequest'>) => ({
        history: { events: eventsOf(this.#run(execution)).slice(-1) },
      }),
      listWorkflowExecutions: ({ query, nextPageToken, pageSize }: Of<'ListWorkflowExecutionsRequest'>) => {
        // Refuses what it cannot read also while there is no run.
        selects(query ?? '', {});
        const before = Buffer.from(nextPageToken ?? []).toString();
        const page = this.#runs
          .filter((run) => selects(query ?? '', rowOf(run)) && (before === '' || placeOf(run) < before))
          .sort((one, other) => (placeOf(one) < placeOf(other) ? 1 : -1))
          .slice(0, pageSize || undefined);
        const last = page.length === pageSize ? page.at(-1) : undefined;
        return { executions: page.map(infoOf), nextPageToken: Buffer.from(last ? placeOf(last) : '') };
      },
    };
  }

  #start(request: Of<'StartWorkflowExecutionRequest'>, last: Run | undefined): Run {
    const { WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE: never, ...policies } = WorkflowIdReusePolicy;
    const { workflowIdReusePolicy: policy } = request;
    const failedOnly = policy === policies.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY;
    const isUsed = policy === never || (failedOnly && last?.closed?.status === 'Completed');
    if (last && (!last.closed || isUsed)) throw grpcError('alreadyExists', 'the workflow was started before');
    const payload = request.input?.payloads?.[0] as Payload | undefined;
    const run: Run = {
      workflowId: request.workflowId ?? '',
      runId: randomUUID(),
      type: request.workflowType?.name ?? '',
      input: decoded(payload),
      payload,
      requestId: request.requestId ?? '',
      startedAt: this.#now(),
      begun: false,
      cancelled: false,
      attributes: { ...(request.searchAttributes?.indexedFields as Record<string, Payload>) },
    };
    this.#runs.push(run);
    this.started(run);
    this.#begin(run);
    return run;
  }

  /** Hears of every start that Temporal has accepted. */
  protected abstract started(run: Run): void;
}
