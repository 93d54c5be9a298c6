import proto from '@temporalio/proto';
import { apply } from './commands.js';
import type { Engine } from './engine.js';
import type { Run } from './run.js';
import { type Command, durationMs, GrpcError, type HistoryEvent, type Job } from './wire.js';

const { UpdateWorkflowExecutionLifecycleStage: Stage } = proto.temporal.api.enums.v1;

/**
 * Ends a run and begins another one that has its history up to a workflow task, whose jobs it gets again, and the signals and
 * updates that came after it. What was under way at that point is under way in the new run.
 */
export function reset(
  engine: Engine,
  before: Run,
  { finishEventId, reason, isWithoutUpdates }: { finishEventId: number; reason: string; isWithoutUpdates: boolean },
): Run {
  // The start of a task names it, too.
  const task = before.activations.findIndex(({ historyLength: n }) => n === finishEventId || n + 1 === finishEventId);
  const again = before.activations[task];
  if (!again) throw new GrpcError(3, 'Workflow task finish ID must be > 1 && <= workflow last event ID.');
  const later = before.history.slice(finishEventId);
  const run = engine.begin({ ...before.start, reset: before });
  before.resetTo = run;
  if (before.isOpen) engine.terminate(before, reason);
  // Up to the task, which is in the history as failed.
  run.history.push(...before.history.slice(0, again.historyLength));
  const failure = { message: reason, resetWorkflowFailureInfo: {} };
  run.record('EVENT_TYPE_WORKFLOW_TASK_FAILED', { cause: 'RESET_WORKFLOW', baseRunId: before.runId, failure });
  run.activations.push(...before.activations.slice(0, task));
  run.readProperties();
  takeOver(
    engine,
    before,
    run,
    before.activations.slice(0, task + 1).flatMap(({ jobs }) => jobs),
  );
  // Each reset draws anew, also of the same task.
  engine.tell(run, { updateRandomSeed: { randomnessSeed: Number(run.runId.slice(-12)) as never } });
  // An update is in the history only once it was accepted, after the task began, or if an earlier reset wrote it there.
  for (const job of again.jobs) {
    const update = before.updates.get(job.doUpdate?.id ?? '');
    if (update?.isReapplied) engine.update(run, update);
    else if (!job.doUpdate) engine.tell(run, job);
  }
  for (const event of later) if (!isWithoutUpdates || !isOfUpdate(event)) reapply(engine, before.updates, run, event);
  return run;
}

const isOfUpdate = (event: HistoryEvent): boolean =>
  Boolean(event.workflowExecutionUpdateAcceptedEventAttributes || event.workflowExecutionUpdateAdmittedEventAttributes);

/** A run of which some tasks are kept. `isOver`: it had come by then; `isCancelled`: the code did not want it any more. */
interface Kept {
  engine: Engine;
  run: Run;
  children: Run['children'];
  isOver(kind: keyof Job, seq: number | null | undefined): boolean;
  isCancelled(kind: 'cancelTimer' | 'requestCancelActivity', seq: number | null | undefined): boolean;
}

/** How a command of a kept task goes on that has not ended. */
const GOING_ON: {
  [K in keyof Command]?: (kept: Kept, command: NonNullable<Command[K]>, atMs: number) => void;
} = {
  scheduleActivity({ engine, run, isOver, isCancelled }, command) {
    if (isOver('resolveActivity', command.seq)) return;
    apply(engine, run, { scheduleActivity: command });
    if (isCancelled('requestCancelActivity', command.seq)) run.attempts.requestCancel(command.seq ?? 0);
  },
  startTimer({ engine, run, isOver, isCancelled }, command, atMs) {
    const { seq, startToFireTimeout } = command;
    if (isOver('fireTimer', seq) || isCancelled('cancelTimer', seq)) return;
    const leftMs = Math.max(0, atMs + (durationMs(startToFireTimeout) ?? 0) - Date.now());
    const left = { seconds: Math.floor(leftMs / 1_000), nanos: (leftMs % 1_000) * 1e6 } as never;
    apply(engine, run, { startTimer: { ...command, startToFireTimeout: left } });
  },
  startChildWorkflowExecution({ engine, run, children, isOver }, command) {
    const { seq } = command;
    const child = isOver('resolveChildWorkflowExecution', seq) ? undefined : children.get(seq ?? 0);
    if (child) run.children.set(seq ?? 0, child);
    if (isOver('resolveChildWorkflowExecutionStart', seq)) return;
    if (!child) apply(engine, run, { startChildWorkflowExecution: command });
    else engine.tell(run, { resolveChildWorkflowExecutionStart: { seq, succeeded: { runId: child.runId } } });
  },
  signalExternalWorkflowExecution({ engine, run, isOver }, command) {
    if (isOver('resolveSignalExternalWorkflow', command.seq)) return;
    apply(engine, run, { signalExternalWorkflowExecution: command });
  },
  requestCancelExternalWorkflowExecution({ engine, run, isOver }, command) {
    if (isOver('resolveRequestCancelExternalWorkflow', command.seq)) return;
    apply(engine, run, { requestCancelExternalWorkflowExecution: command });
  },
};

/** Goes on with all that the kept tasks had begun and that had not ended. `told`: the jobs that had come by then. */
export function takeOver(
  engine: Engine,
  { children, updates }: Pick<Run, 'children' | 'updates'>,
  run: Run,
  told: readonly Job[],
): void {
  const commands = run.activations.flatMap(({ atMs, given }) => given.map((command) => ({ atMs, command })));
  const namesIn = (all: readonly object[]) =>
    new Set(all.flatMap((one) => Object.entries(one).map(([kind, given]) => `${kind} ${Object(given).seq}`)));
  const [over, wanted] = [namesIn(told), namesIn(commands.map(({ command }) => command))];
  const kept: Kept = {
    ...{ engine, run, children },
    isOver: (kind, seq) => over.has(`${kind} ${seq}`),
    isCancelled: (kind, seq) => wanted.has(`${kind} ${seq}`),
  };
  const { length } = run.history;
  for (const { atMs, command } of commands) {
    for (const [kind, goOn] of Object.entries(GOING_ON)) {
      const given = command[kind as keyof Command];
      if (given) (goOn as (kept: Kept, given: unknown, atMs: number) => void)(kept, given, atMs);
    }
  }
  // Their events are in the history already.
  run.history.length = length;
  keepUpdates(updates, run);
}

/** Updates as they stood after the kept tasks. */
function keepUpdates(updates: Run['updates'], run: Run): void {
  const responses = run.activations.flatMap(({ given }) => given.flatMap(({ updateResponse }) => updateResponse ?? []));
  const kept = [...updates.values()].flatMap((update) => {
    const own = responses.filter(({ protocolInstanceId }) => protocolInstanceId === update.id);
    if (own.length === 0) return [];
    const { outcome, ...rest } = update;
    if (own.some(({ accepted }) => !accepted)) return [{ ...update, waiters: [] }];
    return [{ ...rest, stage: Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ACCEPTED, waiters: [] }];
  });
  run.updates.clear();
  for (const update of kept) run.updates.set(update.id, update);
}

/** What callers gave the run that was ended, the new one gets again; a request to cancel is lost. */
export function reapply(engine: Engine, updates: Run['updates'], run: Run, event: HistoryEvent): void {
  const {
    workflowExecutionSignaledEventAttributes: signal,
    workflowExecutionUpdateAcceptedEventAttributes: accepted,
    workflowExecutionUpdateAdmittedEventAttributes: admitted,
  } = event;
  if (signal) engine.signal(run, signal.signalName ?? '', signal.input?.payloads ?? []);
  const request = accepted?.acceptedRequest ?? admitted?.request;
  const known = updates.get(request?.meta?.updateId ?? '');
  if (!known || run.updates.has(known.id)) return;
  run.record('EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ADMITTED', { request });
  engine.update(run, { ...known, isReapplied: true });
}
