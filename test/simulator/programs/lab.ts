import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Client,
  WorkflowHandle,
  WorkflowHandleWithFirstExecutionRunId,
  WorkflowStartOptions,
} from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { begun } from './activities.js';
import { historyText } from './history-text.js';
import { ended, withoutIds } from './texts.js';

const { PendingActivityState: State, EventType } = proto.temporal.api.enums.v1;

/** The task queue of all workflows, whose worker has the activity, too. */
export const QUEUE = 'programs';

/** A small program that uses Temporal and returns what it saw. */
export interface Program {
  name: string;
  run(lab: Lab): Promise<unknown>;
  /** The order of events is not determined. */
  isUnordered?: true;
}

/** A side on which programs run: the engine or a server. */
export interface Side {
  client: Client;
  /** Starts a worker for the activities of a queue. */
  serve(queue: string): Promise<void>;
}

type Start = Partial<WorkflowStartOptions> & { id?: string };

/** What a program gets: workflows of its own, and a record of what became of them. */
export class Lab {
  readonly #watched: { workflowId: string; runId?: string }[] = [];

  constructor(
    private readonly side: Side,
    private readonly program: Program,
  ) {}

  get client(): Client {
    return this.side.client;
  }

  serve = (queue: string): Promise<void> => this.side.serve(queue);

  /** A workflow id or queue of this program alone. */
  idOf = (name: string): string => `${this.program.name.replace(/\W+/g, '-')}:${name}`;

  /** Starts a workflow, whose history is compared. */
  async start(
    type: string,
    args: unknown[],
    { id = 'one', ...options }: Start = {},
  ): Promise<WorkflowHandleWithFirstExecutionRunId> {
    const workflowId = this.idOf(id);
    const handle = await this.client.workflow.start(type, { taskQueue: QUEUE, workflowId, args, ...options } as never);
    this.watch(workflowId, handle.firstExecutionRunId);
    return handle;
  }

  /** Compares the history of a run, too; by default of the newest one. */
  watch(workflowId: string, runId?: string): void {
    this.#watched.push({ workflowId, runId });
  }

  sleep = (ms: number): Promise<void> => sleep(ms);

  /** Waits until something is so. */
  async until<T>(what: () => Promise<T | undefined | false | null>): Promise<T> {
    for (let tries = 0; tries < 200; tries += 1) {
      const found = await what();
      if (found) return found;
      await sleep(150);
    }
    throw new Error('it never came to be');
  }

  /** The first open activity of a workflow. */
  async pending({ workflowId }: WorkflowHandle) {
    const { raw } = await this.client.workflow.getHandle(workflowId).describe();
    const [one] = raw.pendingActivities ?? [];
    return (
      one && {
        ...{
          id: one.activityId,
          attempt: one.attempt,
          isStarted: one.state !== State.PENDING_ACTIVITY_STATE_SCHEDULED,
        },
        ...{ state: State[one.state ?? 0]?.replace('PENDING_ACTIVITY_STATE_', ''), isPaused: one.paused ?? false },
        failure: one.lastFailure?.message,
      }
    );
  }

  /** Waits until an attempt runs. */
  started = (handle: WorkflowHandle, attempt = 1) =>
    this.until(async () => {
      const one = await this.pending(handle);
      return one?.isStarted && one.attempt === attempt && one;
    });

  /** Waits until an attempt is to come. */
  waiting = (handle: WorkflowHandle, attempt = 1) =>
    this.until(async () => {
      const one = await this.pending(handle);
      return one && !one.isStarted && one.attempt === attempt && one;
    });

  /** What calls of an operator on the one activity of a workflow need. */
  target = ({ workflowId }: WorkflowHandle, id = '1') => ({
    ...{ namespace: this.client.options.namespace, execution: { workflowId }, id, identity: 'operator' },
    ...{ workflowId, activityId: id },
  });

  /** Completes the one activity by its id. */
  complete = (handle: WorkflowHandle) =>
    this.client.workflowService.respondActivityTaskCompletedById({
      ...this.target(handle),
      result: { payloads: [defaultPayloadConverter.toPayload('by id')] },
    });

  pause = (handle: WorkflowHandle) => this.client.workflowService.pauseActivity(this.target(handle));

  unpause = (handle: WorkflowHandle, more: object = {}) =>
    this.client.workflowService.unpauseActivity({ ...this.target(handle), ...more });

  /** Resets a workflow to its n-th workflow task, negative ones from the last; returns the new run. */
  async reset(workflowId: string, task: number, more: object = {}): Promise<WorkflowHandle> {
    const end = await this.until(async () => {
      const { events } = await this.client.workflow.getHandle(workflowId).fetchHistory();
      const ends = (events ?? []).filter(({ eventType }) => eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED);
      return ends.at(task);
    });
    const { runId } = await this.client.workflowService.resetWorkflowExecution({
      ...{ namespace: this.client.options.namespace, workflowExecution: { workflowId }, reason: 'a program' },
      ...{ workflowTaskFinishEventId: end.eventId, requestId: `${workflowId} ${task}`, ...more },
    });
    this.watch(workflowId, runId);
    return this.client.workflow.getHandle(workflowId);
  }

  /** Event kinds of the newest run. */
  async events(workflowId: string): Promise<string[]> {
    const { events } = await this.client.workflow.getHandle(workflowId).fetchHistory();
    return historyText(events ?? []);
  }

  /** Waits until the newest history has an event. */
  seen = (workflowId: string, event: string | RegExp) =>
    this.until(async () => (await this.events(workflowId)).some((one) => one.search(event) === 0));

  async report(result: unknown): Promise<Report> {
    const runs: string[][] = [];
    for (const { workflowId, runId } of this.#watched) {
      const handle = this.client.workflow.getHandle(workflowId, runId);
      const { events } = await handle.fetchHistory();
      const { status } = await handle.describe();
      const text = [`${workflowId} ${status.name}`, ...historyText(events ?? [])].map(withoutIds);
      runs.push(this.program.isUnordered ? text.sort() : text);
    }
    const attempts = begun.filter(({ workflowId }) => this.#watched.some((one) => one.workflowId === workflowId));
    return { result, runs, attempts: attempts.map(({ what }) => what) };
  }
}

/** All that is compared of a program. */
export interface Report {
  result: unknown;
  runs: string[][];
  attempts: string[];
}

/** Fails long after all programs should have ended. */
const late = async (): Promise<never> => {
  await sleep(45_000);
  throw new Error('the program does not end');
};

/** Runs a program on a side. */
export async function runOn(side: Side, program: Program): Promise<Report> {
  const lab = new Lab(side, program);
  const result = await ended(Promise.race([program.run(lab), late()]));
  return JSON.parse(JSON.stringify(await lab.report(result)));
}
