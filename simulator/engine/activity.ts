import proto from '@temporalio/proto';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Run } from './run.js';
import { type Failure, type Payload, timestamp } from './wire.js';

const { PendingActivityState: State } = proto.temporal.api.enums.v1;

type Scheduled = proto.coresdk.workflow_commands.IScheduleActivity;

/** What may be changed of an open activity. */
export type Options = proto.temporal.api.activity.v1.IActivityOptions;

/** The limits of an activity, by the server's names. */
export type TimedOut = 'START_TO_CLOSE' | 'HEARTBEAT' | 'SCHEDULE_TO_START' | 'SCHEDULE_TO_CLOSE';

/** A worker process, as the engine sees it. */
export interface Host {
  readonly queues: ReadonlySet<string>;
  readonly activities: Readonly<Record<string, (...args: never[]) => Promise<unknown>>>;
  /** Around each activity. */
  readonly interceptors?: ActivityInterceptorsFactory[];
  readonly identity: string;
  readonly isAlive: boolean;
  /** It stands still. */
  readonly isFrozen?: boolean;
  /** Resolves once it goes on; at once if it does not stand still. */
  readonly thawed?: () => Promise<void>;
}

/** An activity of a run, from its schedule to its end. */
export interface Activity {
  seq: number;
  id: string;
  type: string;
  queue: string;
  input: Payload[];
  command: Scheduled;
  scheduledMs: number;
  scheduledEventId: number;
  attempt: number;
  attemptScheduledMs: number;
  startedMs?: number;
  /** Tells the attempt under way that its worker stops. */
  shutDown?: () => void;
  /** Where the attempt under way runs. */
  host?: Host;
  /** Who took an attempt last. */
  identity?: string;
  heartbeat?: Payload[];
  /** When the attempt under way began or last sent a heartbeat. */
  beatMs?: number;
  cancelRequested?: boolean;
  paused?: boolean;
  /** Why the attempt before failed, and when the last failure came. */
  lastFailure?: Failure | undefined;
  failedMs?: number;
  /** Timers of the next offer to a worker, and of the first limit. */
  offer?: NodeJS.Timeout;
  limit?: NodeJS.Timeout;
  /** The run has its result, or gave it up. */
  isResolved?: boolean;
  isOver?: boolean;
}

/** What an attempt's token stands for. */
export interface Held {
  run: Run;
  activity: Activity;
  attempt: number;
}

/** Tokens of attempts. */
export class Tokens {
  readonly #held: Held[] = [];

  add(held: Held): Uint8Array {
    this.#held.push(held);
    return Buffer.from(String(this.#held.length - 1));
  }

  of(token: Uint8Array | null | undefined): Held | undefined {
    return this.#held[Number(Buffer.from(token ?? []).toString())];
  }
}

function stateOf({ host, paused, cancelRequested }: Activity) {
  if (!host) return paused ? 'PAUSED' : 'SCHEDULED';
  if (cancelRequested) return 'CANCEL_REQUESTED';
  return paused ? 'PAUSE_REQUESTED' : 'STARTED';
}

/** An open activity as a description of its run shows it. */
export function pendingOf(activity: Activity) {
  const { id, type, attempt, startedMs, attemptScheduledMs, paused, lastFailure, queue, identity, heartbeat } =
    activity;
  const { startToCloseTimeout, heartbeatTimeout, retryPolicy } = activity.command;
  const state = State[`PENDING_ACTIVITY_STATE_${stateOf(activity)}`];
  return {
    ...{ activityId: id, activityType: { name: type }, attempt, state, paused: paused ?? false, lastFailure },
    ...(heartbeat && { heartbeatDetails: { payloads: heartbeat } }),
    ...(identity !== undefined && { lastWorkerIdentity: identity }),
    activityOptions: { taskQueue: { name: queue }, startToCloseTimeout, heartbeatTimeout, retryPolicy },
    scheduledTime: timestamp(attemptScheduledMs),
    ...(startedMs !== undefined && { lastStartedTime: timestamp(startedMs) }),
  };
}
