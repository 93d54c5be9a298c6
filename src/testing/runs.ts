import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import {
  type ApplicationFailure,
  DefaultFailureConverter,
  defaultPayloadConverter,
  type Payload,
  type SearchAttributeUpdatePair,
} from '@temporalio/common';
import { encodeUnifiedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import proto from '@temporalio/proto';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import { accountOf, decoded, grpcError, payloads, type Run, timestamp } from './run.js';

const { WorkflowIdReusePolicy } = proto.temporal.api.enums.v1;
const { v1: service } = proto.temporal.api.workflowservice;

/** Fields of a request to the gRPC service. */
export type Of<Name extends keyof typeof service> = (typeof service)[Name] extends { create(fields?: infer F): unknown }
  ? NonNullable<F>
  : never;

/** Faults: see `TestSettings`. */
export const FAULTS = ['noWorker', 'unreachable', 'answersLost'] as const;
/** Fault that the double simulates: see `TestSettings`. */
export type Fault = (typeof FAULTS)[number];

export const failureOf = (error: unknown) =>
  new DefaultFailureConverter().errorToFailure(error, defaultPayloadConverter);

/** Runs of workflows in memory. */
export abstract class TestRuns {
  protected readonly runs: Run[] = [];
  protected readonly changes = new EventEmitter().setMaxListeners(0);
  protected fault: Fault | undefined;
  protected accounts: readonly string[] = [DEFAULT_ACCOUNT];
  #lastMs = 0;

  /** Takes a run, as a worker does. Each step of a workflow happens at once. */
  protected abstract begin(run: Run): void;
  /** Does what needs a worker with the account of the run. */
  protected abstract proceed(run: Run): void;
  /** Hears of every start that Temporal has accepted. */
  protected abstract started(run: Run): void;

  /** Sets what is broken, and which accounts workers have. */
  protected serve(fault: Fault | undefined, accounts: readonly string[] = [DEFAULT_ACCOUNT]): void {
    this.fault = fault;
    this.accounts = accounts;
    for (const run of this.runs) this.#begin(run);
    this.changed();
  }

  clear(): void {
    this.runs.length = 0;
  }

  /** Wakes who waits for a change. */
  protected changed(): void {
    this.changes.emit('change');
  }

  protected newestRun(workflowId: string): Run | undefined {
    return this.runs.findLast((run) => run.workflowId === workflowId);
  }

  /** Starts a workflow as another workflow does. */
  protected startRun(workflowId: string, type: string, input: unknown, pairs: SearchAttributeUpdatePair[]): void {
    const searchAttributes = { indexedFields: encodeUnifiedSearchAttributes(undefined, pairs) };
    const request = { workflowId, workflowType: { name: type }, input: payloads(input), searchAttributes };
    this.start({ ...request, requestId: randomUUID() }, undefined);
  }

  /** Ends a run with a result, or with a failure. */
  protected end(run: Run, end: { result: unknown } | { failure: ApplicationFailure }): void {
    if ('result' in end)
      this.close(run, 'Completed', { workflowExecutionCompletedEventAttributes: { result: payloads(end.result) } });
    else this.close(run, 'Failed', { workflowExecutionFailedEventAttributes: { failure: failureOf(end.failure) } });
  }

  /** Sets search attributes of a run; null removes one. */
  protected show(run: Run, pairs: SearchAttributeUpdatePair[]): void {
    const kept = Object.entries(run.attributes).filter(([name]) => !pairs.some(({ key }) => key.name === name));
    const set = pairs.filter(({ value }) => value !== null);
    run.attributes = { ...Object.fromEntries(kept), ...encodeUnifiedSearchAttributes(undefined, set) };
    this.changed();
  }

  protected isServed(account: string): boolean {
    return this.fault !== 'noWorker' && this.accounts.includes(account);
  }

  #begin(run: Run): void {
    if (run.closed || this.fault === 'noWorker') return;
    if (!run.begun) {
      run.begun = true;
      this.begin(run);
    }
    if (run.closed || run.served || !this.isServed(accountOf(run))) return;
    run.served = true;
    this.proceed(run);
  }

  protected close(run: Run, status: NonNullable<Run['closed']>['status'], event: object): void {
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

  protected start(request: Of<'StartWorkflowExecutionRequest'>, last: Run | undefined): Run {
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
      served: false,
      cancelled: false,
      attributes: { ...(request.searchAttributes?.indexedFields as Record<string, Payload>) },
    };
    this.runs.push(run);
    this.started(run);
    this.#begin(run);
    return run;
  }
}
