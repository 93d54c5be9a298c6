import { tsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { tellParent } from './commands.js';
import type { Engine } from './engine.js';
import { reapply, takeOver } from './reset.js';
import type { Run } from './run.js';

const { WorkflowExecutionStatus: Status } = proto.temporal.api.enums.v1;

/**
 * Puts all runs back to what a database knew at a time (ms since the epoch). Attempts that had begun are forgotten, as if the
 * backup were of the moment before them.
 */
export function restore(engine: Engine, atMs: number): void {
  bringBack(engine, atMs);
  const all = [...engine.runs.values()].flat();
  const isKept = (run: Run) => run.begunMs <= atMs;
  const goingOn = all.filter((run) => isKept(run) && (run.closeMs === undefined || run.closeMs > atMs));
  for (const run of all) {
    if (!isKept(run)) engine.forgotten.push({ workflowId: run.workflowId, events: run.history });
    if (!isKept(run) || goingOn.includes(run)) stop(run);
  }
  for (const [workflowId, runs] of engine.runs) {
    const kept = runs.filter(isKept);
    if (kept.length > 0) engine.runs.set(workflowId, kept);
    else engine.runs.delete(workflowId);
  }
  for (const run of goingOn) rewind(engine, run, atMs, isKept);
  // Once each child is what it was.
  for (const child of goingOn.flatMap((run) => [...run.children.values()]))
    if (!child.isOpen) tellParent(engine, child);
}

/** Retention took since then what was open at the time, or not begun. */
function bringBack({ runs, retired }: Engine, atMs: number): void {
  for (const [workflowId, taken] of retired) {
    const hadEnded = taken.filter(({ closeMs = 0 }) => closeMs <= atMs);
    if (hadEnded.length > 0) retired.set(workflowId, hadEnded);
    else retired.delete(workflowId);
    const back = taken.filter((run) => !hadEnded.includes(run));
    if (back.length > 0) runs.set(workflowId, [...back, ...(runs.get(workflowId) ?? [])]);
  }
}

/** Nothing of a run goes on. */
function stop(run: Run): void {
  for (const timer of run.timers.values()) clearTimeout(timer);
  run.timers.clear();
  run.attempts.abandon();
  run.status = Status.WORKFLOW_EXECUTION_STATUS_TERMINATED;
  const { workflow } = run;
  run.workflow = undefined;
  void workflow?.dispose();
}

function rewind(engine: Engine, run: Run, atMs: number, isKept: (run: Run) => boolean): void {
  run.status = Status.WORKFLOW_EXECUTION_STATUS_RUNNING;
  for (const what of ['closeMs', 'result', 'failure', 'taskFailure'] as const) run[what] = undefined;
  if (run.resetTo && !isKept(run.resetTo)) run.resetTo = undefined;
  const tasks = run.activations.filter((one) => one.atMs <= atMs).length;
  engine.forgotten.push({ workflowId: run.workflowId, events: run.history.filter((event) => timeOf(event) > atMs) });
  run.activations.length = tasks;
  // What a task wants is written in its own moment; what had come since then is told again.
  const last = run.activations.at(-1);
  const from = last
    ? run.history.findIndex((event, n) => n > last.historyLength && timeOf(event) > last.atMs)
    : STARTED_EVENTS;
  const events = from < 0 ? [] : run.history.splice(from);
  run.jobs = [];
  run.isBusy = false;
  run.readProperties();
  const children = new Map([...run.children].filter(([, child]) => isKept(child)));
  const updates = new Map(run.updates);
  run.children.clear();
  if (!last) engine.initialize(run);
  takeOver(
    engine,
    { children, updates },
    run,
    run.activations.flatMap(({ jobs }) => jobs),
  );
  for (const event of events) {
    if (timeOf(event) > atMs) continue;
    reapply(engine, new Map(), run, event);
    if (event.workflowExecutionCancelRequestedEventAttributes) engine.requestCancel(run);
  }
}

/** A run begins with one event. */
const STARTED_EVENTS = 1;

const timeOf = ({ eventTime }: Run['history'][number]): number => tsToMs(eventTime);
