import type { EventEmitter } from 'node:events';
import { ApplicationFailure, ensureApplicationFailure, type SerializationContext } from '@temporalio/common';
import {
  decodeArrayFromPayloads,
  decodeFromPayloadsAtIndex,
  encodeErrorToFailure,
  encodeToPayload,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto from '@temporalio/proto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { isCancellation } from '@temporalio/workflow';
import { outside } from '../outside.js';
import type { Activity, Host, Options, TimedOut } from './activity.js';
import type { Engine } from './engine.js';
import type { Run } from './run.js';
import { durationMs, encode, type Failure, NAMESPACE, notFound, type Payload } from './wire.js';

const { RetryState, TimeoutType } = proto.temporal.api.enums.v1;
const { ActivityCancellationType: Cancelling } = proto.coresdk.workflow_commands;

type Scheduled = proto.coresdk.workflow_commands.IScheduleActivity;
type Resolution = proto.coresdk.activity_result.IActivityResolution;

/** Activities of one run: attempts, retries, time-outs, heartbeats. */
export class Attempts {
  readonly open = new Map<number, Activity>();

  constructor(
    private readonly engine: Engine,
    private readonly run: Run,
  ) {}

  schedule(command: Scheduled): void {
    const { seq, activityId, activityType, taskQueue, arguments: input } = command;
    const header = { fields: command.headers ?? {} };
    const scheduledEventId = this.run.record('EVENT_TYPE_ACTIVITY_TASK_SCHEDULED', {
      ...{ activityId, activityType: { name: activityType }, taskQueue: { name: taskQueue }, header },
      ...{ input: { payloads: input }, retryPolicy: command.retryPolicy, priority: command.priority },
      ...{ startToCloseTimeout: command.startToCloseTimeout, heartbeatTimeout: command.heartbeatTimeout },
    });
    const nowMs = Date.now();
    const activity: Activity = {
      ...{ seq: seq ?? 0, id: activityId ?? '', type: activityType ?? '', queue: taskQueue ?? '', input: input ?? [] },
      ...{ command, scheduledMs: nowMs, scheduledEventId, attempt: 1, attemptScheduledMs: nowMs },
    };
    this.open.set(activity.seq, activity);
    this.#enqueue(activity, 0);
  }

  /** The run wants an activity cancelled. What it gives up goes on at the server. */
  requestCancel(seq: number): void {
    const activity = this.open.get(seq);
    if (!activity || activity.cancelRequested) return;
    const { scheduledEventId, command } = activity;
    const { cancellationType } = command;
    if (cancellationType !== Cancelling.WAIT_CANCELLATION_COMPLETED) this.#resolve(activity, this.#cancelled(activity));
    if (cancellationType === Cancelling.ABANDON) return;
    activity.cancelRequested = true;
    this.run.record('EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED', { scheduledEventId });
    if (activity.host) return;
    this.run.record('EVENT_TYPE_ACTIVITY_TASK_CANCELED', { scheduledEventId });
    this.#end(activity, this.#cancelled(activity, NOT_STARTED));
  }

  /** Stores a heartbeat; tells whether the attempt is still wanted. Undefined: it is over. */
  beat(activity: Activity, attempt: number, details: Payload[] | undefined) {
    if (activity.isOver || activity.attempt !== attempt || !activity.host) return undefined;
    if (details?.length) activity.heartbeat = details;
    activity.beatMs = Date.now();
    this.#watch(activity);
    return { cancelRequested: activity.cancelRequested ?? false, activityPaused: activity.paused ?? false };
  }

  /** Ends the attempt under way by its id, as anyone may who reaches the server. */
  answer(activity: Activity, answer: { result?: Payload; failure?: Failure }): void {
    if (!answer.failure) this.#complete(activity, answer.result);
    else if (activity.host) this.#fail(activity, answer.failure);
    else throw notFound('invalid activityID or activity already timed out or invoking workflow is completed');
  }

  pause(activity: Activity): void {
    activity.paused = true;
    this.#watch(activity);
  }

  /** A limit that passed meanwhile ends it now: while it is paused, no activity times out. */
  unpause(activity: Activity, reset: { attempts?: boolean; heartbeat?: boolean }): void {
    if (!activity.paused) return;
    activity.paused = false;
    if (reset.attempts) activity.attempt = 1;
    if (reset.heartbeat) activity.heartbeat = undefined;
    if (!activity.host) this.#enqueueAgain(activity, 0);
    this.#watch(activity);
  }

  /** Gives an activity other limits and tries; an attempt under way has the new limit, from its start. */
  change(activity: Activity, { startToCloseTimeout, retryPolicy }: Options): void {
    if (startToCloseTimeout) activity.command = { ...activity.command, startToCloseTimeout };
    if (retryPolicy)
      activity.command = { ...activity.command, retryPolicy: { ...activity.command.retryPolicy, ...retryPolicy } };
    const { host, attempt, failedMs = 0, attemptScheduledMs } = activity;
    const dueMs = attempt > 1 ? failedMs + backoffMs(activity) : attemptScheduledMs;
    if (!host) this.#enqueueAgain(activity, Math.max(0, dueMs - Date.now()));
    this.#watch(activity);
  }

  /** The run is over: nobody waits for its activities any more. */
  abandon(): void {
    for (const activity of this.open.values()) this.#forget(activity);
    this.open.clear();
  }

  /** Offers an attempt after a time. That the one before died with its host, only its time-out tells. */
  #enqueue(activity: Activity, delayMs: number): void {
    activity.host = undefined;
    activity.attemptScheduledMs = Date.now() + delayMs;
    this.#offer(activity, delayMs + this.engine.lag());
    this.#watch(activity);
  }

  /** The server forgets why the attempt before failed when an operator has the next one offered anew. */
  #enqueueAgain(activity: Activity, delayMs: number): void {
    activity.lastFailure = undefined;
    this.#enqueue(activity, delayMs);
  }

  #offer(activity: Activity, delayMs: number): void {
    clearTimeout(activity.offer);
    activity.offer = setTimeout(() => {
      if (activity.paused) return;
      const host = this.engine.hostOf(activity.queue);
      if (host) void this.#start(activity, host);
      else this.#offer(activity, OFFER_EVERY_MS);
    }, delayMs);
  }

  async #start(activity: Activity, host: Host): Promise<void> {
    const { attempt } = activity;
    activity.host = host;
    activity.identity = host.identity;
    activity.startedMs = Date.now();
    activity.beatMs = activity.startedMs;
    this.#watch(activity);
    const { workers } = this.engine.converters;
    const context = this.#contextOf(activity);
    const left = await decodeFromPayloadsAtIndex(workers, 0, activity.heartbeat, context);
    const environment = this.#environment(activity, host, left);
    activity.shutDown = () => environment.cancel('WORKER_SHUTDOWN');
    const { startedMs } = activity;
    const isCurrent = () =>
      !activity.isOver && activity.attempt === attempt && activity.startedMs === startedMs && activity.host === host;
    const run = host.activities[activity.type] as ((...args: unknown[]) => Promise<unknown>) | undefined;
    try {
      if (!run) throw new Error(`no activity ${activity.type}`);
      const given = await decodeArrayFromPayloads(workers, activity.input as never, context);
      const value = await environment.run(run, ...given);
      await host.thawed?.();
      if (isCurrent() && host.isAlive) this.#complete(activity, await encodeToPayload(workers, value, context));
    } catch (error) {
      await host.thawed?.();
      if (!isCurrent() || !host.isAlive) return;
      if (isCancellation(error) && activity.cancelRequested) {
        this.#confirmCancel(activity);
        return;
      }
      const failure = ensureApplicationFailure(isPause(error) ? PAUSED : error);
      this.#fail(activity, await encodeErrorToFailure(workers, failure, context));
    }
  }

  #contextOf = ({ id }: Activity): SerializationContext => ({
    ...{ type: 'activity', namespace: NAMESPACE, workflowId: this.run.workflowId, activityId: id, isLocal: false },
  });

  #environment(activity: Activity, host: Host, heartbeatDetails: unknown): MockActivityEnvironment {
    const { attempt, type, id, command } = activity;
    const environment = new MockActivityEnvironment(
      {
        ...{
          attempt,
          activityId: id,
          activityType: type,
          taskQueue: activity.queue,
          workflowType: this.run.start.type,
        },
        ...{ workflowExecution: this.run.execution, scheduledTimestampMs: activity.scheduledMs },
        ...{ currentAttemptScheduledTimestampMs: activity.attemptScheduledMs },
        heartbeatDetails,
        heartbeatTimeoutMs: durationMs(command.heartbeatTimeout),
        startToCloseTimeoutMs: durationMs(command.startToCloseTimeout) ?? 0,
        taskToken: this.engine.tokens.add({ run: this.run, activity, attempt }),
        priority: { priorityKey: command.priority?.priorityKey ?? undefined },
      } as never,
      { client: this.engine.clientOf(host), logger: this.engine.logger, interceptors: host.interceptors },
    );
    (environment as unknown as EventEmitter).on('heartbeat', async (details: unknown) => {
      const payload = await encodeToPayload(this.engine.converters.workers, details, this.#contextOf(activity));
      if (!host.isAlive || host.isFrozen) return;
      const told = outside(() => this.beat(activity, attempt, details === undefined ? undefined : [payload]));
      if (!told) environment.cancel('NOT_FOUND');
      else if (told.cancelRequested) environment.cancel('CANCELLED');
      else if (told.activityPaused) environment.cancel('PAUSED' as never);
    });
    return environment;
  }

  #complete(activity: Activity, result: Payload | undefined): void {
    if (activity.isOver) return;
    const startedEventId = this.#recordStart(activity);
    const { scheduledEventId } = activity;
    const payloads = { payloads: result ? [result] : [] };
    this.run.record('EVENT_TYPE_ACTIVITY_TASK_COMPLETED', { scheduledEventId, startedEventId, result: payloads });
    this.#end(activity, { completed: { result } });
  }

  #confirmCancel(activity: Activity): void {
    if (activity.isOver) return;
    this.#recordStart(activity);
    this.run.record('EVENT_TYPE_ACTIVITY_TASK_CANCELED', { scheduledEventId: activity.scheduledEventId });
    this.#end(activity, this.#cancelled(activity));
  }

  /** Fails the attempt, and the activity if the policy allows no other. */
  #fail(activity: Activity, failure: Failure): void {
    if (activity.isOver) return;
    activity.failedMs = Date.now();
    const retryState = this.#retry(activity, failure);
    if (retryState === undefined) return;
    const startedEventId = this.#recordStart(activity);
    const { scheduledEventId } = activity;
    this.run.record('EVENT_TYPE_ACTIVITY_TASK_FAILED', { scheduledEventId, startedEventId, failure, retryState });
    this.#end(activity, { failed: { failure: this.#wrapped(activity, failure, retryState, 'Activity task failed') } });
  }

  #timeOut(activity: Activity, kind: TimedOut): void {
    const retryState = this.#retry(activity, timeOutOf(kind));
    if (retryState === undefined) return;
    const isTooLate = retryState === RetryState.RETRY_STATE_TIMEOUT && kind !== 'SCHEDULE_TO_START';
    const failure = isTooLate ? timeOutOf('SCHEDULE_TO_CLOSE', TOO_LATE) : timeOutOf(kind);
    failure.cause = activity.lastFailure;
    Object.assign(failure.timeoutFailureInfo ?? {}, {
      lastHeartbeatDetails: activity.heartbeat && { payloads: activity.heartbeat },
    });
    const startedEventId = activity.host ? this.#recordStart(activity) : 0;
    const { scheduledEventId } = activity;
    this.run.record('EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT', { scheduledEventId, startedEventId, failure, retryState });
    const message = 'Activity task timed out';
    this.#end(activity, { failed: { failure: this.#wrapped(activity, failure, retryState, message) } });
  }

  /** Plans the attempt after one that failed; a paused activity has it wait. Returns why there is none. */
  #retry(activity: Activity, failure: Failure): number | undefined {
    if (activity.cancelRequested) return RetryState.RETRY_STATE_CANCEL_REQUESTED;
    const { command, attempt, scheduledMs } = activity;
    const { maximumAttempts, nonRetryableErrorTypes } = command.retryPolicy ?? {};
    const { timeoutFailureInfo: timedOut, applicationFailureInfo: given, canceledFailureInfo } = failure;
    if (timedOut && isOfSchedule(timedOut.timeoutType)) return RetryState.RETRY_STATE_TIMEOUT;
    if (given?.nonRetryable || canceledFailureInfo || nonRetryableErrorTypes?.includes(given?.type ?? ''))
      return RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE;
    const waitMs = durationMs(given?.nextRetryDelay) ?? backoffMs(activity);
    if (!activity.paused) {
      if (maximumAttempts && attempt >= maximumAttempts) return RetryState.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED;
      const limitMs = durationMs(command.scheduleToCloseTimeout);
      if (limitMs !== undefined && Date.now() + waitMs > scheduledMs + limitMs) return RetryState.RETRY_STATE_TIMEOUT;
    }
    activity.lastFailure = failure;
    activity.attempt += 1;
    this.#enqueue(activity, waitMs);
    return undefined;
  }

  #wrapped({ id, type, scheduledEventId }: Activity, cause: Failure, retryState: number, message: string): Failure {
    const about = { activityId: id, activityType: { name: type }, scheduledEventId, retryState };
    return { message, source: 'Server', cause, activityFailureInfo: about as never };
  }

  #cancelled(activity: Activity, details?: object): Resolution {
    const cause = { canceledFailureInfo: { ...details } };
    const state = RetryState.RETRY_STATE_CANCEL_REQUESTED;
    return { cancelled: { failure: this.#wrapped(activity, cause, state, 'Activity cancelled') } };
  }

  #recordStart({ scheduledEventId, attempt, lastFailure, identity }: Activity): number {
    return this.run.record('EVENT_TYPE_ACTIVITY_TASK_STARTED', { scheduledEventId, attempt, lastFailure, identity });
  }

  /** Tells the run. An attempt that it gave up may go on: nobody hears its answer. */
  #end(activity: Activity, result: Resolution): void {
    this.#forget(activity);
    this.open.delete(activity.seq);
    this.#resolve(activity, result);
  }

  #resolve(activity: Activity, result: Resolution): void {
    if (!activity.isResolved) this.engine.tell(this.run, { resolveActivity: { seq: activity.seq, result } });
    activity.isResolved = true;
  }

  #forget(activity: Activity): void {
    activity.isOver = true;
    clearTimeout(activity.offer);
    clearTimeout(activity.limit);
  }

  /** Waits for the first of an activity's limits, all of which rest while it is paused. */
  #watch(activity: Activity): void {
    clearTimeout(activity.limit);
    if (activity.paused || activity.isOver) return;
    const first = limitsOf(activity).sort((one, other) => one.atMs - other.atMs)[0];
    if (!first) return;
    activity.limit = setTimeout(() => this.#timeOut(activity, first.kind), Math.max(0, first.atMs - Date.now()));
  }
}

/** The limits that an activity has now. One without a limit of its queue has that of the whole. */
function limitsOf({ command, host, scheduledMs, attemptScheduledMs, startedMs = 0, beatMs = 0 }: Activity) {
  const whole = command.scheduleToCloseTimeout;
  const given: [TimedOut, number, typeof whole][] = host
    ? [
        ['START_TO_CLOSE', startedMs, command.startToCloseTimeout],
        ['HEARTBEAT', beatMs, command.heartbeatTimeout],
      ]
    : [['SCHEDULE_TO_START', attemptScheduledMs, command.scheduleToStartTimeout ?? whole]];
  return [...given, ['SCHEDULE_TO_CLOSE', scheduledMs, whole] as const].flatMap(([kind, fromMs, limit]) => {
    const ms = durationMs(limit);
    return ms === undefined ? [] : [{ kind, atMs: fromMs + ms }];
  });
}

/** How long the policy waits after an attempt. */
function backoffMs({ command, attempt }: Activity): number {
  const { initialInterval, maximumInterval, backoffCoefficient } = command.retryPolicy ?? {};
  const firstMs = durationMs(initialInterval) ?? 1_000;
  return Math.min(firstMs * (backoffCoefficient || 2) ** (attempt - 1), durationMs(maximumInterval) ?? 100 * firstMs);
}

const isOfSchedule = (type: number | null | undefined): boolean =>
  type === TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START || type === TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE;

/** A time-out, in the server's words: `START_TO_CLOSE` is `StartToClose` there. */
function timeOutOf(kind: TimedOut, message?: string): Failure {
  const words = kind.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());
  return {
    ...{ message: message ?? `activity ${words} timeout`, source: 'Server' },
    timeoutFailureInfo: { timeoutType: TimeoutType[`TIMEOUT_TYPE_${kind}`] },
  };
}

const isPause = (error: unknown): boolean => isCancellation(error) && (error as Error).message === 'PAUSED';
const PAUSED = new ApplicationFailure('Activity paused', 'ActivityPause');
const TOO_LATE = 'Not enough time to schedule next retry before activity ScheduleToClose timeout, giving up retrying';
const NOT_STARTED = { details: { payloads: [encode('ACTIVITY_ID_NOT_STARTED')] } };
const OFFER_EVERY_MS = 200;
