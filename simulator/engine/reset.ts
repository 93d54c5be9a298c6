import proto from '@temporalio/proto';
import { apply } from './commands.js';
import type { Engine } from './engine.js';
import type { Run } from './run.js';
import { durationMs, GrpcError, type HistoryEvent } from './wire.js';

const { EventType } = proto.temporal.api.enums.v1;

/**
 * Ends a run and begins another one that has its history up to a workflow task, whose jobs it gets again, and the signals and
 * updates that came after it. What was under way at that point is under way in the new run.
 */
export function reset(engine: Engine, before: Run, finishEventId: number): Run {
  const task = before.activations.findIndex(({ historyLength }) => historyLength + 1 === finishEventId);
  const again = before.activations[task];
  if (!again) throw new GrpcError(3, `event ${finishEventId} ends no workflow task`);
  const later = before.history.slice(finishEventId);
  const run = engine.begin({ ...before.start, reset: before });
  before.resetTo = run;
  if (before.isOpen) engine.terminate(before, 'reset');
  // Up to the task, which is in the history as failed.
  run.history.push(...before.history.slice(0, again.historyLength));
  run.record('EVENT_TYPE_WORKFLOW_TASK_FAILED', { cause: 'RESET_WORKFLOW', baseRunId: before.runId });
  run.activations.push(...before.activations.slice(0, task));
  takeOver(engine, before, run, task);
  engine.tell(run, { updateRandomSeed: { randomnessSeed: before.history.length as never } });
  // An update is in the history only once it was accepted, after the task began.
  for (const job of again.jobs) if (!job.doUpdate) engine.tell(run, job);
  for (const event of later) reapply(engine, before, run, event);
  return run;
}

/** Schedules again what the tasks before had begun and what had not ended before the task. */
function takeOver(engine: Engine, before: Run, run: Run, task: number): void {
  const jobs = before.activations.slice(0, task + 1).flatMap((one) => one.jobs);
  const over = (kind: 'resolveActivity' | 'fireTimer' | 'resolveChildWorkflowExecution') =>
    new Set(jobs.map((job) => job[kind]?.seq));
  const [activities, timers, children] = [
    over('resolveActivity'),
    over('fireTimer'),
    over('resolveChildWorkflowExecution'),
  ];
  const commands = run.activations.flatMap(({ atMs, given }) => given.map((command) => ({ atMs, command })));
  const cancelled = (kind: 'cancelTimer' | 'requestCancelActivity') =>
    new Set(commands.map(({ command }) => command[kind]?.seq));
  const [noTimers, noActivities] = [cancelled('cancelTimer'), cancelled('requestCancelActivity')];
  const length = run.history.length;
  for (const { atMs, command } of commands) {
    const { scheduleActivity, startTimer, startChildWorkflowExecution: started } = command;
    const seq = scheduleActivity?.seq ?? startTimer?.seq ?? started?.seq ?? -1;
    if (scheduleActivity && !activities.has(seq)) {
      apply(engine, run, command);
      if (noActivities.has(seq)) run.attempts.requestCancel(seq);
    }
    if (startTimer && !timers.has(seq) && !noTimers.has(seq)) {
      const leftMs = Math.max(0, atMs + (durationMs(startTimer.startToFireTimeout) ?? 0) - Date.now());
      const startToFireTimeout = { seconds: Math.floor(leftMs / 1_000), nanos: (leftMs % 1_000) * 1e6 } as never;
      apply(engine, run, { startTimer: { ...startTimer, startToFireTimeout } });
    }
    const child = started && !children.has(seq) ? before.children.get(seq) : undefined;
    if (child) run.children.set(seq, child);
  }
  // Their events are in the history already.
  run.history.length = length;
  for (const [id, update] of before.updates) {
    const isKept = run.activations.some(({ commands: names }) => names.includes(`updateResponse ${id}`));
    if (isKept) run.updates.set(id, { ...update, waiters: [] });
  }
}

function reapply(engine: Engine, before: Run, run: Run, event: HistoryEvent): void {
  const { workflowExecutionSignaledEventAttributes: signal, workflowExecutionUpdateAcceptedEventAttributes: update } =
    event;
  if (signal) engine.signal(run, signal.signalName ?? '', signal.input?.payloads ?? []);
  const id = update?.acceptedRequest?.meta?.updateId ?? '';
  const known = update && before.updates.get(id);
  if (known && !run.updates.has(id)) engine.update(run, known);
  if (event.eventType === EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED) engine.requestCancel(run);
}
