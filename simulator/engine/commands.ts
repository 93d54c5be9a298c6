import proto from '@temporalio/proto';
import type { Engine } from './engine.js';
import { type Run, upserted } from './run.js';
import { type Command, cancelledFailure, decode, durationMs, encode, type Failure, NAMESPACE } from './wire.js';

const {
  WorkflowExecutionStatus: Status,
  RetryState,
  UpdateWorkflowExecutionLifecycleStage: Stage,
  SignalExternalWorkflowExecutionFailedCause: SignalFailed,
} = proto.temporal.api.enums.v1;
const { StartChildWorkflowExecutionFailedCause: ChildFailed, ParentClosePolicy } = proto.coresdk.child_workflow;

type Kind = Exclude<keyof Command, 'variant' | 'userMetadata'>;
type Given<K extends Kind> = NonNullable<Command[K]>;
type Handlers = { [K in Kind]?: (engine: Engine, run: Run, given: Given<K>) => void };

/** What reaches the server: a timer that the task which starts it cancels never does. */
export function sent(commands: readonly Command[]): Command[] {
  const numbers = (kind: 'startTimer' | 'cancelTimer') => new Set(commands.map((one) => one[kind]?.seq ?? undefined));
  const [started, cancelled] = [numbers('startTimer'), numbers('cancelTimer')];
  return commands.filter(({ startTimer, cancelTimer }) => {
    const seq = (startTimer ?? cancelTimer)?.seq ?? undefined;
    return seq === undefined || !started.has(seq) || !cancelled.has(seq);
  });
}

/** Whether a command ends its run. */
export const isEnd = (command: Command): boolean =>
  Boolean(
    command.completeWorkflowExecution ??
      command.failWorkflowExecution ??
      command.cancelWorkflowExecution ??
      command.continueAsNewWorkflowExecution,
  );

/** Does what a workflow wants. Throws for a command that the engine does not know. */
export function apply(engine: Engine, run: Run, command: Command): void {
  for (const kind of Object.keys(HANDLERS) as Kind[]) {
    const given = command[kind];
    if (!given) continue;
    (HANDLERS[kind] as (engine: Engine, run: Run, given: unknown) => void)(engine, run, given);
    return;
  }
  throw new Error(`the engine does not know this command: ${JSON.stringify(command)}`);
}

const HANDLERS: Handlers = {
  startTimer(engine, run, { seq, startToFireTimeout }) {
    const startedEventId = run.record('EVENT_TYPE_TIMER_STARTED', { timerId: String(seq), startToFireTimeout });
    const fire = () => {
      run.timers.delete(seq ?? 0);
      run.record('EVENT_TYPE_TIMER_FIRED', { timerId: String(seq), startedEventId });
      engine.tell(run, { fireTimer: { seq } });
    };
    run.timers.set(seq ?? 0, setTimeout(fire, durationMs(startToFireTimeout) ?? 0));
  },
  cancelTimer(_, run, { seq }) {
    clearTimeout(run.timers.get(seq ?? 0));
    run.timers.delete(seq ?? 0);
    run.record('EVENT_TYPE_TIMER_CANCELED', { timerId: String(seq) });
  },
  scheduleActivity: (_, run, given) => run.attempts.schedule(given),
  requestCancelActivity: (_, run, { seq }) => run.attempts.requestCancel(seq ?? 0),
  upsertWorkflowSearchAttributes(_, run, { searchAttributes }) {
    run.record('EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES', { searchAttributes });
    run.searchAttributes = upserted(run.searchAttributes, searchAttributes?.indexedFields);
  },
  modifyWorkflowProperties(_, run, { upsertedMemo }) {
    run.record('EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED', { upsertedMemo });
    run.memo = upserted(run.memo, upsertedMemo?.fields);
  },
  setPatchMarker(_, run, { patchId }) {
    run.record('EVENT_TYPE_MARKER_RECORDED', { markerName: 'core_patch' });
    const before = (decode(run.searchAttributes.TemporalChangeVersion) as string[] | undefined) ?? [];
    const indexedFields = { TemporalChangeVersion: encode([...before, patchId]) };
    run.record('EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES', { searchAttributes: { indexedFields } });
    run.searchAttributes = upserted(run.searchAttributes, indexedFields);
  },
  updateResponse(engine, run, { protocolInstanceId, accepted, rejected, completed }) {
    const update = run.updates.get(protocolInstanceId ?? '');
    if (!update) return;
    if (accepted) {
      update.stage = Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ACCEPTED;
      const { id, name, input } = update;
      const acceptedRequest = { meta: { updateId: id }, input: { name, args: { payloads: input } } };
      // A reset wrote the request of one that it applies again.
      const given = update.isReapplied ? {} : { acceptedRequest };
      run.record('EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED', { protocolInstanceId, ...given });
    } else {
      const isAccepted = update.stage === Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ACCEPTED;
      update.stage = Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED;
      update.outcome = rejected ? { failure: rejected } : { success: { payloads: completed ? [completed] : [] } };
      const about = { meta: { updateId: update.id }, outcome: update.outcome };
      // The server forgets it: the same id may come again.
      if (!isAccepted) run.updates.delete(update.id);
      else run.record('EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED', about);
    }
    engine.settle(update);
  },
  startChildWorkflowExecution(engine, run, given) {
    const { seq, workflowId, workflowType, taskQueue, input, headers, memo, searchAttributes, priority } = given;
    const about = { workflowId, workflowType: { name: workflowType }, input: { payloads: input } };
    const task = run.history.findLast((event) => event.workflowTaskCompletedEventAttributes);
    const initiatedEventId = run.record('EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED', {
      ...about,
      workflowTaskCompletedEventId: task?.eventId,
    });
    const closePolicy = given.parentClosePolicy ?? ParentClosePolicy.PARENT_CLOSE_POLICY_TERMINATE;
    setTimeout(() => {
      // A child of a closed parent never starts.
      if (!run.isOpen) return;
      try {
        const { run: child } = engine.start(
          {
            ...{ workflowId: workflowId ?? '', type: workflowType ?? '', taskQueue: taskQueue || run.start.taskQueue },
            ...{ input: input ?? [], headers: headers ?? {}, memo: memo ?? {}, priority },
            searchAttributes: searchAttributes?.indexedFields ?? {},
            parent: { run, seq: seq ?? 0, closePolicy },
          },
          { reuse: given.workflowIdReusePolicy },
        );
        run.children.set(seq ?? 0, child);
        const workflowExecution = child.execution;
        run.record('EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED', { workflowExecution, initiatedEventId });
        engine.tell(run, { resolveChildWorkflowExecutionStart: { seq, succeeded: { runId: child.runId } } });
      } catch {
        const cause = ChildFailed.START_CHILD_WORKFLOW_EXECUTION_FAILED_CAUSE_WORKFLOW_ALREADY_EXISTS;
        run.record('EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_FAILED', { workflowId, initiatedEventId });
        engine.tell(run, {
          resolveChildWorkflowExecutionStart: { seq, failed: { workflowId, workflowType, cause } },
        });
      }
    }, engine.lag());
  },
  cancelChildWorkflowExecution(engine, run, { childWorkflowSeq }) {
    const begun = run.children.get(childWorkflowSeq ?? 0);
    if (!begun) return;
    const child = newestOfChain(engine, begun);
    const about = { workflowExecution: { workflowId: child.workflowId } };
    run.record('EVENT_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED', about);
    setTimeout(() => {
      if (run.isOpen) run.record('EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_CANCEL_REQUESTED', about);
      engine.requestCancel(child, 'by its parent');
    }, engine.lag());
  },
  signalExternalWorkflowExecution(engine, run, given) {
    const { seq, workflowExecution, childWorkflowId, signalName, args, headers } = given;
    const workflowId = childWorkflowId || workflowExecution?.workflowId;
    const about = { workflowExecution: { workflowId } };
    const input = { payloads: args };
    run.record('EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED', { ...about, signalName, input });
    setTimeout(() => {
      const failure = attempted('signal external workflow because it was', () =>
        engine.signal(
          openOf(engine, workflowId, workflowExecution?.runId),
          signalName ?? '',
          args ?? [],
          headers ?? {},
        ),
      );
      const event = failure
        ? 'EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED'
        : 'EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_SIGNALED';
      if (run.isOpen) run.record(event, { ...about, ...(failure && { cause: SignalFailed[NOT_FOUND] }) });
      engine.tell(run, { resolveSignalExternalWorkflow: { seq, ...(failure && { failure }) } });
    }, engine.lag());
  },
  requestCancelExternalWorkflowExecution(engine, run, { seq, workflowExecution }) {
    const about = { workflowExecution };
    run.record('EVENT_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED', about);
    setTimeout(() => {
      const { workflowId, runId } = workflowExecution ?? {};
      const failure = attempted('cancel external workflow because', () =>
        engine.requestCancel(engine.runOf({ workflowId, runId })),
      );
      const event = failure
        ? 'EVENT_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_FAILED'
        : 'EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_CANCEL_REQUESTED';
      if (run.isOpen) run.record(event, about);
      engine.tell(run, { resolveRequestCancelExternalWorkflow: { seq, ...(failure && { failure }) } });
    }, engine.lag());
  },
  completeWorkflowExecution(engine, run, { result }) {
    run.record('EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED', { result: { payloads: result ? [result] : [] } });
    run.result = result ?? undefined;
    engine.close(run, Status.WORKFLOW_EXECUTION_STATUS_COMPLETED);
  },
  failWorkflowExecution(engine, run, { failure }) {
    const retryState = RetryState.RETRY_STATE_RETRY_POLICY_NOT_SET;
    run.record('EVENT_TYPE_WORKFLOW_EXECUTION_FAILED', { failure, retryState });
    run.failure = failure ?? undefined;
    engine.close(run, Status.WORKFLOW_EXECUTION_STATUS_FAILED);
  },
  cancelWorkflowExecution(engine, run) {
    run.record('EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED');
    run.failure = cancelledFailure;
    engine.close(run, Status.WORKFLOW_EXECUTION_STATUS_CANCELED);
  },
  continueAsNewWorkflowExecution(engine, run, given) {
    const { workflowType, taskQueue, arguments: input, headers, memo, searchAttributes } = given;
    const { run: next } = engine.start({
      ...{
        workflowId: run.workflowId,
        type: workflowType || run.start.type,
        taskQueue: taskQueue || run.start.taskQueue,
      },
      ...{ input: input ?? [], headers: headers ?? {}, continuedFrom: run, priority: run.start.priority },
      memo: Object.keys(memo ?? {}).length > 0 ? (memo ?? {}) : run.memo,
      searchAttributes: searchAttributes?.indexedFields ?? run.searchAttributes,
      ...(run.start.parent && { parent: run.start.parent }),
    });
    const about = {
      workflowType: { name: workflowType },
      input: { payloads: input },
      newExecutionRunId: next.runId,
    };
    run.record('EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW', about);
    engine.close(run, Status.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW);
  },
};

const NOT_FOUND = 'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED_CAUSE_EXTERNAL_WORKFLOW_EXECUTION_NOT_FOUND';

const openOf = (engine: Engine, workflowId?: string | null, runId?: string | null): Run =>
  engine.openRunOf({ workflowId, runId });

/** Why a call on another workflow failed; undefined if it did not. */
function attempted(what: string, call: () => void): Failure | undefined {
  try {
    call();
    return undefined;
  } catch {
    const applicationFailureInfo = { type: 'ExternalWorkflowExecutionNotFound' };
    return { message: `Unable to ${what} not found`, source: 'engine', applicationFailureInfo };
  }
}

/** Tells the parent of a run how it ended. One that continues as new has not ended. */
export function tellParent(engine: Engine, child: Run): void {
  const { run, seq } = child.start.parent ?? {};
  const parent = run && newestOf(run);
  if (!parent?.isOpen || seq === undefined) return;
  // A reset to a point before its start has forgotten it.
  if (parent.children.get(seq)?.workflowId !== child.workflowId) return;
  if (child.status === Status.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW) return;
  const about = { workflowExecution: child.execution, workflowType: { name: child.start.type } };
  if (child.status === Status.WORKFLOW_EXECUTION_STATUS_COMPLETED) {
    parent.record('EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED', {
      ...about,
      result: { payloads: child.result ? [child.result] : [] },
    });
    const result = { completed: { result: child.result } };
    engine.tell(parent, { resolveChildWorkflowExecution: { seq, result } });
    return;
  }
  const { name, cause } = ENDS[child.status] ?? { name: 'FAILED', cause: child.failure };
  const retryState =
    name === 'FAILED' ? RetryState.RETRY_STATE_RETRY_POLICY_NOT_SET : RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE;
  parent.record(`EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_${name}`, {
    ...about,
    ...(name === 'FAILED' && { failure: child.failure, retryState }),
  });
  const failure: Failure = {
    ...{ message: 'Child Workflow execution failed', source: 'Server', cause },
    childWorkflowExecutionFailureInfo: { ...about, namespace: NAMESPACE, retryState } as never,
  };
  engine.tell(parent, { resolveChildWorkflowExecution: { seq, result: { failed: { failure } } } });
}

/** How a parent sees ends of children that are no failures. */
const ENDS: Record<number, { name: 'CANCELED' | 'TERMINATED'; cause: Failure }> = {
  [Status.WORKFLOW_EXECUTION_STATUS_CANCELED]: { name: 'CANCELED', cause: { canceledFailureInfo: {} } },
  [Status.WORKFLOW_EXECUTION_STATUS_TERMINATED]: {
    ...{ name: 'TERMINATED', cause: { message: 'Terminated', terminatedFailureInfo: {} } },
  },
};

/** The run that goes on after resets. */
const newestOf = (run: Run): Run => (run.resetTo ? newestOf(run.resetTo) : run);

/** Does to children that their parent leaves what their policy says. */
export function closeChildren(engine: Engine, run: Run): void {
  for (const begun of run.children.values()) {
    const child = newestOfChain(engine, begun);
    const policy = child.start.parent?.closePolicy;
    if (!child.isOpen || policy === ParentClosePolicy.PARENT_CLOSE_POLICY_ABANDON) continue;
    if (policy === ParentClosePolicy.PARENT_CLOSE_POLICY_REQUEST_CANCEL) engine.requestCancel(child);
    else engine.terminate(child, 'by parent close policy');
  }
}

/** The run that goes on after a run continued as new or was reset. */
function newestOfChain(engine: Engine, run: Run): Run {
  const newest = engine.newest(run.workflowId);
  return newest?.firstRunId === run.firstRunId ? newest : run;
}
