import proto from '@temporalio/proto';
import type { Attempts } from './attempts.js';
import type { SandboxedWorkflow } from './sandbox.js';
import {
  type Command,
  type EventName,
  eventOf,
  type Failure,
  type Fields,
  type HistoryEvent,
  type Job,
  type Payload,
} from './wire.js';

const { WorkflowExecutionStatus: Status } = proto.temporal.api.enums.v1;

/** What a run is started with. */
export interface StartOf {
  workflowId: string;
  type: string;
  taskQueue: string;
  input: Payload[];
  headers?: Fields;
  memo?: Fields;
  searchAttributes?: Fields;
  priority?: proto.temporal.api.common.v1.IPriority | null;
  parent?: { run: Run; seq: number; closePolicy: number };
  /** The run before it of the same chain. */
  continuedFrom?: Run;
  /** The run that a reset ended. */
  reset?: Run;
}

/** An update under way. Whoever waits for it is told at each stage. */
export interface Update {
  id: string;
  name: string;
  input: Payload[];
  headers: Fields;
  stage: number;
  outcome?: proto.temporal.api.update.v1.IOutcome;
  /** A reset gave it to this run. */
  isReapplied?: true;
  waiters: (() => void)[];
}

/** What a workflow task gave to the code, and what the code wanted; `commands`: the same by names. */
export interface Activation {
  jobs: Job[];
  atMs: number;
  historyLength: number;
  given: readonly Command[];
  commands: string[];
}

/** One run: its history, its state at the server, and its sandbox. */
export class Run {
  readonly startMs: number;
  /** When this run came into being, a reset's as well. */
  readonly begunMs = Date.now();
  readonly history: HistoryEvent[] = [];
  /** All activations and their commands, to be replayed. */
  readonly activations: Activation[] = [];
  /** Flags of the SDK that its code used, which replays have to know. */
  readonly flags = new Set<number>();
  readonly timers = new Map<number, NodeJS.Timeout>();
  readonly children = new Map<number, Run>();
  readonly updates = new Map<string, Update>();
  readonly closed: (() => void)[] = [];
  searchAttributes: Fields = {};
  memo: Fields = {};
  readonly attempts: Attempts;
  status: number = Status.WORKFLOW_EXECUTION_STATUS_RUNNING;
  closeMs?: number;
  result?: Payload;
  failure?: Failure;
  /** Why its workflow code failed; on a real server the task would be repeated for ever. */
  taskFailure?: string;
  jobs: Job[] = [];
  isBusy = false;
  /** The run that a reset began instead of this one. */
  resetTo?: Run;
  workflow?: SandboxedWorkflow;

  constructor(
    readonly start: StartOf,
    readonly runId: string,
    makeAttempts: (run: Run) => Attempts,
  ) {
    this.startMs = start.reset?.startMs ?? Date.now();
    this.readProperties();
    this.attempts = makeAttempts(this);
  }

  /** Search attributes and memo by the start and by what the history says since. */
  readProperties(): void {
    this.searchAttributes = { ...this.start.searchAttributes };
    this.memo = { ...this.start.memo };
    for (const event of this.history) {
      const { searchAttributes } = event.upsertWorkflowSearchAttributesEventAttributes ?? {};
      const { upsertedMemo } = event.workflowPropertiesModifiedEventAttributes ?? {};
      this.searchAttributes = upserted(this.searchAttributes, searchAttributes?.indexedFields);
      this.memo = upserted(this.memo, upsertedMemo?.fields);
    }
  }

  get workflowId(): string {
    return this.start.workflowId;
  }

  get isOpen(): boolean {
    return this.status === Status.WORKFLOW_EXECUTION_STATUS_RUNNING;
  }

  get isCancelRequested(): boolean {
    return this.history.some((event) => event.workflowExecutionCancelRequestedEventAttributes);
  }

  get firstRunId(): string {
    return (this.start.reset ?? this.start.continuedFrom)?.firstRunId ?? this.runId;
  }

  /** The run that began this history. */
  get original(): Run {
    return this.start.reset?.original ?? this;
  }

  get execution(): { workflowId: string; runId: string } {
    return { workflowId: this.workflowId, runId: this.runId };
  }

  /** Writes an event; returns its id. */
  record(name: EventName, attributes: object = {}): number {
    const id = this.history.length + 1;
    this.history.push(eventOf(id, Date.now(), name, attributes));
    return id;
  }
}

/** Writes search attributes or a memo over others; an empty value removes one. */
export function upserted(fields: Fields, given: Fields | null | undefined): Fields {
  const left = Object.entries({ ...fields, ...given }).filter(([, payload]) => !isEmpty(payload));
  return Object.fromEntries(left);
}

const isEmpty = ({ data, metadata }: Payload): boolean =>
  !data?.length ||
  Buffer.from(metadata?.encoding ?? []).toString() === 'binary/null' ||
  ['[]', 'null'].includes(Buffer.from(data).toString());
