import type { EventEmitter } from 'node:events';
import { defaultFailureConverter, ensureApplicationFailure } from '@temporalio/common';
import { msOptionalToNumber } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { isCancellation } from '@temporalio/workflow';
import { outside } from '../outside.js';
import type { Activity, Host, Options, TimedOut } from './activity.js';
import type { Engine } from './engine.js';
import type { Run } from './run.js';
import { cancelledFailure, decode, durationMs, encode, type Failure, type Payload } from './wire.js';

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
      ...{ command, scheduledMs: nowMs, scheduledEventId, attempt: 0, attemptScheduledMs: nowMs, timers: new Set() },
    };
    this.open.set(activity.seq, activity);
    this.#limit(activity, durationMs(command.scheduleToCloseTimeout), () =>
      this.#timeOut(activity, 'SCHEDULE_TO_CLOSE'),
    );
    this.#enqueue(activity, this.engine.lag());
  }

  /** The run wants an activity cancelled. */
  requestCancel(seq: number): void {
    const activity = this.open.get(seq);
    if (!activity || activity.cancelRequested) return;
    const { scheduledEventId, command } = activity;
    activity.cancelRequested = true;
    if (command.cancellationType === Cancelling.ABANDON) {
      this.#end(activity, this.#cancelled(activity));
      return;
    }
    this.run.record('EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED', { scheduledEventId });
    if (!activity.host) this.run.record('EVENT_TYPE_ACTIVITY_TASK_CANCELED', { scheduledEventId });
    else if (command.cancellationType !== Cancelling.TRY_CANCEL) return;
    this.#end(activity, this.#cancelled(activity));
  }

  /** Stores a heartbeat; tells whether the attempt is still wanted. Undefined: it is over. */
  beat(activity: Activity, attempt: number, details: Payload[] | undefined) {
    if (activity.isOver || activity.attempt !== attempt || !activity.host) return undefined;
    if (details?.length) activity.heartbeat = details;
    this.#watchHeartbeat(activity);
    return { cancelRequested: activity.cancelRequested ?? false, activityPaused: activity.paused ?? false };
  }

  /** Ends the attempt under way by its id, as anyone may who reaches the server. */
  answer(activity: Activity, answer: { result?: Payload; failure?: Failure }): void {
    if (answer.failure) this.#fail(activity, answer.failure);
    else this.#complete(activity, answer.result);
  }

  pause(activity: Activity): void {
    activity.paused = true;
  }

  /** What ended in time only now is told: while it is paused, no activity times out. */
  unpause(activity: Activity, reset: { attempts?: boolean; heartbeat?: boolean }): void {
    if (!activity.paused) return;
    activity.paused = false;
    if (reset.attempts) activity.attempt = 1;
    if (reset.heartbeat) activity.heartbeat = undefined;
    const { overdue } = activity;
    activity.overdue = undefined;
    if (overdue) this.#timeOut(activity, overdue);
    else if (!activity.host) this.#later(activity, this.engine.lag(), () => this.#offer(activity));
  }

  /** Gives an activity other limits and tries; an attempt under way has the new limit, from its start. */
  change(activity: Activity, { startToCloseTimeout, retryPolicy }: Options): void {
    if (startToCloseTimeout) activity.command = { ...activity.command, startToCloseTimeout };
    if (retryPolicy)
      activity.command = { ...activity.command, retryPolicy: { ...activity.command.retryPolicy, ...retryPolicy } };
    if (activity.host) this.#watchClose(activity);
  }

  /** The run is over: nobody waits for its activities any more. */
  abandon(): void {
    for (const activity of this.open.values()) this.#forget(activity);
    this.open.clear();
  }

  /** Offers the next attempt after a time. That the one before died with its host, only its time-out tells. */
  #enqueue(activity: Activity, delayMs: number): void {
    activity.host = undefined;
    activity.attempt += 1;
    activity.attemptScheduledMs = Date.now() + delayMs;
    const untaken = durationMs(activity.command.scheduleToStartTimeout);
    this.#limit(activity, untaken && untaken + delayMs, () => {
      if (!activity.host) this.#timeOut(activity, 'SCHEDULE_TO_START');
    });
    this.#later(activity, delayMs, () => this.#offer(activity));
  }

  #offer(activity: Activity): void {
    if (activity.isOver || activity.host || activity.paused) return;
    const host = this.engine.hostOf(activity.queue);
    if (!host) {
      this.#later(activity, OFFER_EVERY_MS, () => this.#offer(activity));
      return;
    }
    void this.#start(activity, host);
  }

  async #start(activity: Activity, host: Host): Promise<void> {
    const { attempt } = activity;
    activity.host = host;
    activity.startedMs = Date.now();
    this.#watchClose(activity);
    this.#watchHeartbeat(activity);
    const environment = this.#environment(activity, host);
    const { startedMs } = activity;
    const isCurrent = () =>
      !activity.isOver && activity.attempt === attempt && activity.startedMs === startedMs && activity.host === host;
    const run = host.activities[activity.type] as ((...args: unknown[]) => Promise<unknown>) | undefined;
    try {
      if (!run) throw new Error(`no activity ${activity.type}`);
      const value = await environment.run(run, ...activity.input.map(decode));
      if (isCurrent() && host.isAlive) this.#complete(activity, encode(value));
    } catch (error) {
      if (!isCurrent() || !host.isAlive) return;
      if (isCancellation(error) && activity.cancelRequested) {
        this.#confirmCancel(activity);
        return;
      }
      const failure = ensureApplicationFailure(error);
      const retryMs = msOptionalToNumber(failure.nextRetryDelay ?? undefined);
      this.#fail(activity, defaultFailureConverter.errorToFailure(failure, PLAIN), retryMs);
    }
  }

  #environment(activity: Activity, host: Host): MockActivityEnvironment {
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
        heartbeatDetails: decode(activity.heartbeat?.[0]),
        heartbeatTimeoutMs: durationMs(command.heartbeatTimeout),
        startToCloseTimeoutMs: durationMs(command.startToCloseTimeout) ?? 0,
        taskToken: this.engine.tokens.add({ run: this.run, activity, attempt }),
        priority: { priorityKey: command.priority?.priorityKey ?? undefined },
      } as never,
      { client: this.engine.clientOf(host), logger: this.engine.logger },
    );
    (environment as unknown as EventEmitter).on('heartbeat', (details: unknown) => {
      if (!host.isAlive) return;
      const told = outside(() => this.beat(activity, attempt, details === undefined ? undefined : [encode(details)]));
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
  #fail(activity: Activity, failure: Failure, wantedMs?: number): void {
    if (activity.isOver) return;
    activity.lastFailure = failure;
    const isFinal = failure.applicationFailureInfo?.nonRetryable === true;
    const waitMs = isFinal ? undefined : this.#retryAfterMs(activity, wantedMs);
    if (waitMs !== undefined && !activity.cancelRequested) {
      this.#enqueue(activity, waitMs);
      return;
    }
    const startedEventId = this.#recordStart(activity);
    const { scheduledEventId } = activity;
    this.run.record('EVENT_TYPE_ACTIVITY_TASK_FAILED', { scheduledEventId, startedEventId, failure });
    const retryState = isFinal
      ? RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE
      : RetryState.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED;
    this.#end(activity, { failed: { failure: this.#wrapped(activity, failure, startedEventId, retryState) } });
  }

  #timeOut(activity: Activity, kind: TimedOut): void {
    if (activity.isOver) return;
    if (activity.paused) {
      activity.overdue = kind;
      return;
    }
    const lastHeartbeatDetails = activity.heartbeat && { payloads: activity.heartbeat };
    const timeoutFailureInfo = { timeoutType: TimeoutType[`TIMEOUT_TYPE_${kind}`], lastHeartbeatDetails };
    const failure: Failure = { message: `activity ${kind} timeout`, source: 'Server', timeoutFailureInfo };
    const mayRetry = kind === 'START_TO_CLOSE' || kind === 'HEARTBEAT';
    const waitMs = mayRetry ? this.#retryAfterMs(activity) : undefined;
    activity.lastFailure = failure;
    if (waitMs !== undefined && !activity.cancelRequested) {
      this.#enqueue(activity, waitMs);
      return;
    }
    const startedEventId = activity.host ? this.#recordStart(activity) : 0;
    const { scheduledEventId } = activity;
    const retryState = mayRetry ? RetryState.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED : RetryState.RETRY_STATE_TIMEOUT;
    this.run.record('EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT', { scheduledEventId, startedEventId, failure, retryState });
    this.#end(activity, { failed: { failure: this.#wrapped(activity, failure, startedEventId, retryState) } });
  }

  #retryAfterMs({ command, attempt, scheduledMs }: Activity, wantedMs?: number): number | undefined {
    const { maximumAttempts, initialInterval, maximumInterval, backoffCoefficient } = command.retryPolicy ?? {};
    if (maximumAttempts && attempt >= maximumAttempts) return undefined;
    const firstMs = durationMs(initialInterval) ?? 1_000;
    const grownMs = firstMs * (backoffCoefficient || 2) ** (attempt - 1);
    const waitMs = wantedMs ?? Math.min(grownMs, durationMs(maximumInterval) ?? 100 * firstMs);
    const limitMs = durationMs(command.scheduleToCloseTimeout);
    return limitMs !== undefined && Date.now() + waitMs > scheduledMs + limitMs ? undefined : waitMs;
  }

  #wrapped(
    { id, type, scheduledEventId }: Activity,
    cause: Failure,
    startedEventId: number,
    retryState: number,
  ): Failure {
    const about = { activityId: id, activityType: { name: type }, scheduledEventId, startedEventId, retryState };
    return { message: 'Activity task failed', source: 'Server', cause, activityFailureInfo: about as never };
  }

  #cancelled(activity: Activity): Resolution {
    const startedEventId = activity.host ? 1 : 0;
    return { cancelled: { failure: this.#wrapped(activity, cancelledFailure, startedEventId, 0) } };
  }

  #recordStart({ scheduledEventId, attempt, lastFailure }: Activity): number {
    return this.run.record('EVENT_TYPE_ACTIVITY_TASK_STARTED', { scheduledEventId, attempt, lastFailure });
  }

  /** Tells the run. An attempt that it gave up may go on: nobody hears its answer. */
  #end(activity: Activity, result: Resolution): void {
    this.#forget(activity);
    this.open.delete(activity.seq);
    this.engine.tell(this.run, { resolveActivity: { seq: activity.seq, result } });
  }

  #forget(activity: Activity): void {
    activity.isOver = true;
    for (const timer of activity.timers) clearTimeout(timer);
  }

  #watchClose(activity: Activity): void {
    const { startedMs = 0 } = activity;
    const limitMs = () => durationMs(activity.command.startToCloseTimeout);
    const ms = limitMs();
    this.#limit(activity, ms && Math.max(0, startedMs + ms - Date.now()), () => {
      if (activity.host && activity.startedMs === startedMs && limitMs() === ms)
        this.#timeOut(activity, 'START_TO_CLOSE');
    });
  }

  #watchHeartbeat(activity: Activity): void {
    const limitMs = durationMs(activity.command.heartbeatTimeout);
    if (limitMs === undefined) return;
    const { startedMs } = activity;
    const beatMs = Date.now();
    activity.beatMs = beatMs;
    this.#limit(activity, limitMs, () => {
      if (activity.beatMs === beatMs && activity.startedMs === startedMs && activity.host)
        this.#timeOut(activity, 'HEARTBEAT');
    });
  }

  #limit(activity: Activity, ms: number | undefined, task: () => void): void {
    if (ms !== undefined) this.#later(activity, ms, task);
  }

  #later(activity: Activity, ms: number, task: () => void): void {
    const timer = setTimeout(() => {
      activity.timers.delete(timer);
      if (!activity.isOver) task();
    }, ms);
    activity.timers.add(timer);
  }
}

const OFFER_EVERY_MS = 200;
const PLAIN = { toPayload: encode, fromPayload: decode } as never;
