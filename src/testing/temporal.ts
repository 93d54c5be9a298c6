import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { setImmediate } from 'node:timers';
import { Client, type ConnectionLike } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import proto from '@temporalio/proto';
import { CREATED_UPDATE, FINAL_UPDATE, lookupTaskQueue } from '../contract/names.js';
import { notInDouble } from './lacks.js';
import { selects } from './query.js';
import { decoded, eventsOf, grpcError, infoOf, payloads, placeOf, type Run, rowOf } from './run.js';
import { failureOf, type Of, TestRuns } from './runs.js';

const { v1: service } = proto.temporal.api.workflowservice;
const { HistoryEventFilterType, UpdateWorkflowExecutionLifecycleStage } = proto.temporal.api.enums.v1;

/** Updates that callers share. Temporal keeps their answers after the end. */
const KEPT = [CREATED_UPDATE, FINAL_UPDATE];

/** Temporal in memory: the calls that the library makes, for a `Client` of the SDK. */
export abstract class TestTemporal extends TestRuns {
  readonly client: Client;
  readonly #limits = new AsyncLocalStorage<{ deadline?: true; signal?: AbortSignal }>();

  constructor() {
    super();
    this.client = new Client({ connection: this.#connection(), namespace: 'test' });
  }

  /** Throws for workflows that the double does not have. */
  protected abstract requireKnown(type: string, input: unknown): void;
  /** Returns the answer of a query. */
  protected abstract state(run: Run): unknown;
  /** Returns the answer of an update; undefined: not yet, null: none. Throws its failure. */
  protected abstract update(run: Run, name: string, argument: unknown): unknown;
  protected abstract cancel(run: Run): void;

  /** Waits for an answer. A time limit is over at once, after one turn of the event loop. */
  async #until<T>(answer: () => T | undefined): Promise<T> {
    const { deadline, signal } = this.#limits.getStore() ?? {};
    for (let isOver = false; ; isOver = deadline === true) {
      const found = answer();
      if (found !== undefined) return found;
      if (signal?.aborted) throw grpcError('cancelled', 'the caller aborted');
      if (isOver) throw grpcError('deadlineExceeded', 'the time limit is over');
      if (deadline) await new Promise((resolve) => setImmediate(resolve));
      else await once(this.changes, 'change', { signal }).catch(() => undefined);
    }
  }

  #connection(): ConnectionLike {
    const within = <R>(limits: object, call: () => Promise<R>): Promise<R> =>
      this.#limits.run({ ...this.#limits.getStore(), ...limits }, call);
    const calls: Record<string, unknown> = this.#calls();
    const answer = (name: string) => async (request: unknown) => {
      if (this.fault === 'unreachable') throw grpcError('unavailable', 'the test made it unreachable');
      if (!(name in calls)) throw notInDouble(`the call ${name} of Temporal`);
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
    const run = this.runs.findLast((one) => one.workflowId === workflowId && (!runId || one.runId === runId));
    if (!run) throw grpcError('notFound', `workflow not found for ID: ${workflowId}`);
    return run;
  }

  /** Returns the calls of the gRPC service by their names there. */
  #calls() {
    return {
      getSystemInfo: () => ({}),
      describeTaskQueue: ({ taskQueue }: Of<'DescribeTaskQueueRequest'>) => {
        const served = this.accounts.filter((account) => this.isServed(account));
        return { pollers: served.some((account) => lookupTaskQueue(account) === taskQueue?.name) ? [{}] : [] };
      },
      startWorkflowExecution: (request: Of<'StartWorkflowExecutionRequest'>) => {
        this.requireKnown(request.workflowType?.name ?? '', decoded(request.input?.payloads?.[0]));
        const last = this.newestRun(request.workflowId ?? '');
        const run = last && last.requestId === request.requestId ? last : this.start(request, last);
        if (this.fault === 'answersLost') throw grpcError('unavailable', 'the test lost the answer');
        return { runId: run.runId };
      },
      describeWorkflowExecution: ({ execution }: Of<'DescribeWorkflowExecutionRequest'>) => ({
        workflowExecutionInfo: infoOf(this.#run(execution)),
      }),
      queryWorkflow: async ({ execution }: Of<'QueryWorkflowRequest'>) => {
        const run = this.#run(execution);
        const state = () => (run.begun && this.fault !== 'noWorker' ? this.state(run) : undefined);
        return { queryResult: payloads(await this.#until(state)) };
      },
      updateWorkflowExecution: async ({ workflowExecution, request }: Of<'UpdateWorkflowExecutionRequest'>) => {
        const run = this.#run(workflowExecution);
        const [name, argument] = [request?.input?.name ?? '', decoded(request?.input?.args?.payloads?.[0])];
        if (run.closed && !KEPT.includes(name)) throw grpcError('notFound', 'the workflow has completed');
        const outcome = await this.#until(() => {
          if (!run.begun || this.fault === 'noWorker') return undefined;
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
        this.close(this.#run(workflowExecution), 'Terminated', {
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
      countWorkflowExecutions: ({ query }: Of<'CountWorkflowExecutionsRequest'>) =>
        service.CountWorkflowExecutionsResponse.fromObject({
          count: this.runs.filter((run) => selects(query ?? '', rowOf(run))).length,
        }),
      listWorkflowExecutions: ({ query, nextPageToken, pageSize }: Of<'ListWorkflowExecutionsRequest'>) => {
        // Refuses what it cannot read also while there is no run.
        selects(query ?? '', {});
        const before = Buffer.from(nextPageToken ?? []).toString();
        const page = this.runs
          .filter((run) => selects(query ?? '', rowOf(run)) && (before === '' || placeOf(run) < before))
          .sort((one, other) => (placeOf(one) < placeOf(other) ? 1 : -1))
          .slice(0, pageSize || undefined);
        const last = page.length === pageSize ? page.at(-1) : undefined;
        return { executions: page.map(infoOf), nextPageToken: Buffer.from(last ? placeOf(last) : '') };
      },
    };
  }
}
