import { setTimeout as sleep } from 'node:timers/promises';
import proto from '@temporalio/proto';
import { selects } from '../../src/testing/query.js';
import { type Activity, pendingOf } from './activity.js';
import { failAttempt, OVER, takeAttempt } from './by-hand.js';
import { attributesOf, type Engine } from './engine.js';
import { reset } from './reset.js';
import type { Run, StartOf, Update } from './run.js';
import { type Failure, type Fields, NAMESPACE, notFound, type Payload, timestamp } from './wire.js';

const { UpdateWorkflowExecutionLifecycleStage: Stage, HistoryEventFilterType: Filter } = proto.temporal.api.enums.v1;
const { ResetReapplyExcludeType: Excluded } = proto.temporal.api.enums.v1;
const { v1: service } = proto.temporal.api.workflowservice;

/** Requests as plain objects. */
type Of<Name extends keyof typeof service & string> = (typeof service)[Name] extends {
  create(given?: infer G): unknown;
}
  ? NonNullable<G>
  : never;

const payloadsOf = (given: { payloads?: Payload[] | null } | null | undefined): Payload[] => given?.payloads ?? [];
const fieldsOf = (given: { fields?: Fields | null } | null | undefined): Fields => given?.fields ?? {};

/** How often a query looks for a worker. */
const LOOK_MS = 1_000;

/** How long the server holds a question about what has not happened yet. */
const LONG_POLL_MS = 20_000;

/** Names of statuses as list queries have them. */
const STATUS_NAMES = ['', 'Running', 'Completed', 'Failed', 'Canceled', 'Terminated', 'ContinuedAsNew', 'TimedOut'];

/** The calls of the server's interface that the product makes, by their names there. */
export const calls = (engine: Engine) => ({
  getSystemInfo: () => ({ capabilities: {}, serverVersion: '1.32.0' }),
  describeNamespace: () => ({
    ...{ namespaceInfo: { name: NAMESPACE }, replicationConfig: {}, isGlobalNamespace: engine.failovers !== undefined },
    failoverVersion: 1 + (engine.failovers ?? []).length,
    failoverHistory: (engine.failovers ?? []).map((ms) => ({ failoverTime: timestamp(ms) })),
  }),
  describeTaskQueue: ({ taskQueue }: Of<'DescribeTaskQueueRequest'>) => ({
    pollers: engine.hosts
      .filter(({ isAlive, queues }) => isAlive && queues.has(taskQueue?.name ?? ''))
      .map(({ identity }) => ({ identity, lastAccessTime: timestamp(Date.now()) })),
    stats: {},
    statsByPriorityKey: {},
    versionsInfo: {},
  }),
  startWorkflowExecution: (request: Of<'StartWorkflowExecutionRequest'>) => start(engine, request),
  signalWithStartWorkflowExecution: (request: Of<'SignalWithStartWorkflowExecutionRequest'>) => {
    const conflict = proto.temporal.api.enums.v1.WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING;
    const { run, isNew } = engine.start(startOf(request), { reuse: request.workflowIdReusePolicy, conflict });
    engine.signal(run, request.signalName ?? '', payloadsOf(request.signalInput), fieldsOf(request.header));
    return { runId: run.runId, started: isNew };
  },
  signalWorkflowExecution: (request: Of<'SignalWorkflowExecutionRequest'>) => {
    const run = engine.openRunOf(request.workflowExecution ?? {});
    engine.signal(run, request.signalName ?? '', payloadsOf(request.input), fieldsOf(request.header));
    return {};
  },
  requestCancelWorkflowExecution: ({ workflowExecution, reason }: Of<'RequestCancelWorkflowExecutionRequest'>) => {
    engine.requestCancel(engine.runOf(workflowExecution ?? {}), reason ?? '');
    return {};
  },
  terminateWorkflowExecution: ({ workflowExecution, reason }: Of<'TerminateWorkflowExecutionRequest'>) => {
    engine.terminate(engine.openRunOf(workflowExecution ?? {}), reason || 'terminated by user via frontend');
    return {};
  },
  deleteWorkflowExecution: ({ workflowExecution }: Of<'DeleteWorkflowExecutionRequest'>) => {
    engine.remove(engine.runOf(workflowExecution ?? {}).workflowId);
    return {};
  },
  resetWorkflowExecution: (request: Of<'ResetWorkflowExecutionRequest'>) => {
    const before = engine.runOf(request.workflowExecution ?? {});
    const run = reset(engine, before, {
      finishEventId: Number(request.workflowTaskFinishEventId),
      reason: request.reason ?? '',
      isWithoutUpdates: request.resetReapplyExcludeTypes?.includes(Excluded.RESET_REAPPLY_EXCLUDE_TYPE_UPDATE) ?? false,
    });
    return { runId: run.runId };
  },
  updateActivityOptions: ({ execution, id, type, activityOptions }: Of<'UpdateActivityOptionsRequest'>) => {
    const { run, activity } = activityBy(engine, execution, { id, type });
    run.attempts.change(activity, activityOptions ?? {});
    return {};
  },
  queryWorkflow: async ({ execution, query }: Of<'QueryWorkflowRequest'>) => {
    const run = engine.runOf(execution ?? {});
    await taken(engine, run);
    const { queryType, queryArgs, header } = query ?? {};
    while (!engine.isServed(run.start.taskQueue)) await sleep(LOOK_MS);
    const answer = await engine.code.query(run, queryType ?? '', payloadsOf(queryArgs), fieldsOf(header));
    return { queryResult: { payloads: answer ? [answer] : [] } };
  },
  updateWorkflowExecution: (request: Of<'UpdateWorkflowExecutionRequest'>) => update(engine, request),
  executeMultiOperation: async ({ operations }: Of<'ExecuteMultiOperationRequest'>) => {
    const [first, second] = operations ?? [];
    const startWorkflow = start(engine, first?.startWorkflow ?? {});
    return { responses: [{ startWorkflow }, { updateWorkflow: await update(engine, second?.updateWorkflow ?? {}) }] };
  },
  pollWorkflowExecutionUpdate: async ({ updateRef, waitPolicy }: Of<'PollWorkflowExecutionUpdateRequest'>) => {
    const run = engine.runOf(updateRef?.workflowExecution ?? {});
    const update = run.updates.get(updateRef?.updateId ?? '');
    if (!update) throw notFound(`update "${updateRef?.updateId}" not found`);
    return answerOf(run, await reached(run, update, waitPolicy?.lifecycleStage ?? 0));
  },
  describeWorkflowExecution: ({ execution }: Of<'DescribeWorkflowExecutionRequest'>) => {
    const run = engine.runOf(execution ?? {});
    return {
      ...{ workflowExecutionInfo: infoOf(run), executionConfig: {}, workflowExtendedInfo: {}, pendingChildren: [] },
      pendingActivities: [...run.attempts.open.values()].map(pendingOf),
    };
  },
  getWorkflowExecutionHistory: async (request: Of<'GetWorkflowExecutionHistoryRequest'>) => {
    const run = engine.runOf(request.execution ?? {});
    const isEnd = request.historyEventFilterType === Filter.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT;
    if (run.isOpen && request.waitNewEvent) {
      await Promise.race([new Promise<void>((resolve) => run.closed.push(resolve)), sleep(LONG_POLL_MS)]);
      // To be asked again.
      if (run.isOpen && isEnd) return { history: { events: [] }, nextPageToken: Buffer.from('more') };
    }
    const events = isEnd ? (run.isOpen ? [] : run.history.slice(-1)) : [...run.history];
    return { history: { events }, nextPageToken: [] };
  },
  getWorkflowExecutionHistoryReverse: (request: Of<'GetWorkflowExecutionHistoryReverseRequest'>) => ({
    history: { events: engine.runOf(request.execution ?? {}).history.toReversed() },
    nextPageToken: [],
  }),
  countWorkflowExecutions: ({ query }: Of<'CountWorkflowExecutionsRequest'>) =>
    service.CountWorkflowExecutionsResponse.fromObject({ count: listed(engine, query).length }),
  listWorkflowExecutions: ({ query, nextPageToken, pageSize }: Of<'ListWorkflowExecutionsRequest'>) => {
    const from = Number(Buffer.from(nextPageToken ?? []).toString() || 0);
    const all = listed(engine, query);
    const page = all.slice(from, from + (pageSize || 1_000));
    const next = from + page.length < all.length ? String(from + page.length) : '';
    return { executions: page.map(infoOf), nextPageToken: Buffer.from(next) };
  },
  recordActivityTaskHeartbeat: ({ taskToken, details }: Of<'RecordActivityTaskHeartbeatRequest'>) => {
    const held = engine.tokens.of(taskToken as Uint8Array);
    const told = held?.run.attempts.beat(held.activity, held.attempt, payloadsOf(details));
    if (!told) throw notFound(OVER);
    return told;
  },
  pollActivityTaskQueue: ({ taskQueue, identity }: Of<'PollActivityTaskQueueRequest'>) =>
    takeAttempt(engine, taskQueue?.name ?? '', identity ?? ''),
  respondActivityTaskFailed: ({ taskToken, failure }: Of<'RespondActivityTaskFailedRequest'>) => {
    failAttempt(engine, taskToken as Uint8Array, failure ?? {});
    return {};
  },
  respondActivityTaskFailedById: (request: Of<'RespondActivityTaskFailedByIdRequest'>) => {
    answerById(engine, request, { failure: request.failure ?? {} });
    return {};
  },
  respondActivityTaskCompletedById: (request: Of<'RespondActivityTaskCompletedByIdRequest'>) => {
    const [result] = payloadsOf(request.result);
    answerById(engine, request, { ...(result && { result }) });
    return {};
  },
  pauseActivity: ({ execution, id, type }: Of<'PauseActivityRequest'>) => {
    const { run, activity } = activityBy(engine, execution, { id, type });
    run.attempts.pause(activity);
    return {};
  },
  unpauseActivity: ({ execution, id, type, resetAttempts, resetHeartbeat }: Of<'UnpauseActivityRequest'>) => {
    const { run, activity } = activityBy(engine, execution, { id, type });
    const reset = { attempts: resetAttempts ?? false, heartbeat: resetHeartbeat ?? false };
    run.attempts.unpause(activity, reset);
    return {};
  },
});

function start(engine: Engine, request: Of<'StartWorkflowExecutionRequest'>) {
  const { workflowIdReusePolicy: reuse, workflowIdConflictPolicy: conflict } = request;
  const { run, isNew } = engine.start(startOf(request), { reuse, conflict });
  return { runId: run.runId, started: isNew };
}

async function update(engine: Engine, request: Of<'UpdateWorkflowExecutionRequest'>) {
  const { workflowExecution, waitPolicy } = request;
  const { meta, input } = request.request ?? {};
  const run = engine.runOf(workflowExecution ?? {});
  const known = run.updates.get(meta?.updateId ?? '');
  if (!run.isOpen && !known) throw notFound('workflow execution already completed');
  const [id, name] = [meta?.updateId ?? '', input?.name ?? ''];
  const admitted = engine.update(run, { id, name, input: payloadsOf(input?.args), headers: fieldsOf(input?.header) });
  return answerOf(run, await reached(run, admitted, waitPolicy?.lifecycleStage ?? 0));
}

function startOf(request: Of<'StartWorkflowExecutionRequest'>): StartOf {
  return {
    ...{ workflowId: request.workflowId ?? '', type: request.workflowType?.name ?? '' },
    ...{
      taskQueue: request.taskQueue?.name ?? '',
      input: payloadsOf(request.input),
      headers: fieldsOf(request.header),
    },
    ...{ memo: fieldsOf(request.memo), priority: request.priority },
    searchAttributes: request.searchAttributes?.indexedFields ?? {},
  };
}

/** Waits until a worker took the run. */
async function taken(engine: Engine, run: Run): Promise<void> {
  while (run.isOpen && run.activations.length === 0) await new Promise((resolve) => setTimeout(resolve, engine.lag()));
}

/** Waits until an update has come to a stage, or its run is over. */
async function reached(run: Run, update: Update, stage: number): Promise<Update> {
  const untilMs = Date.now() + LONG_POLL_MS;
  while (update.stage < stage && run.isOpen && Date.now() < untilMs)
    await Promise.race([new Promise<void>((resolve) => update.waiters.push(resolve)), sleep(untilMs - Date.now())]);
  if (update.outcome || run.isOpen) return update;
  if (update.stage < Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ACCEPTED)
    throw notFound('workflow execution already completed');
  const applicationFailureInfo = { type: 'AcceptedUpdateCompletedWorkflow', nonRetryable: true };
  const message = 'Workflow Update failed because the Workflow completed before the Update completed.';
  const failure: Failure = { message, applicationFailureInfo };
  update.outcome = { failure };
  update.stage = Stage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED;
  return update;
}

const answerOf = (run: Run, { id, stage, outcome }: Update) => ({
  ...{ stage, outcome },
  updateRef: { workflowExecution: run.execution, updateId: id },
});

const statusName = ({ status }: Run): string => STATUS_NAMES[status] ?? '';

/** Runs that a list query selects: open ones first, then what ended last; of these, what began last. */
function listed(engine: Engine, query: string | null | undefined): Run[] {
  const asOfMs = Date.now() - engine.listLagMs;
  const all = [...engine.runs.values()].flat().filter(({ begunMs }) => begunMs <= asOfMs);
  return all
    .filter((run) => !query || selects(query, rowOf(run, asOfMs)))
    .sort((one, other) => (other.closeMs ?? OPEN_MS) - (one.closeMs ?? OPEN_MS) || other.begunMs - one.begunMs);
}

const OPEN_MS = 9e15;

type Row = Record<string, unknown>;

/** The row of each run and what it was made of: a list reads all runs. */
const rows = new WeakMap<Run, { attributes: Fields; closedMs: number | undefined; row: Row }>();

function rowOf(run: Run, asOfMs: number): Row {
  const { searchAttributes: attributes, closeMs = Number.POSITIVE_INFINITY } = run;
  const closedMs = closeMs <= asOfMs ? closeMs : undefined;
  const known = rows.get(run);
  if (known?.attributes === attributes && known.closedMs === closedMs) return known.row;
  const row = {
    ...attributesOf(run),
    ...{ WorkflowId: run.workflowId, RunId: run.runId, WorkflowType: run.start.type, TaskQueue: run.start.taskQueue },
    StartTime: new Date(run.begunMs),
    ...(closedMs === undefined
      ? { ExecutionStatus: STATUS_NAMES[1] }
      : { ExecutionStatus: statusName(run), CloseTime: new Date(closedMs) }),
  };
  rows.set(run, { attributes, closedMs, row });
  return row;
}

const infoOf = (run: Run) =>
  proto.temporal.api.workflow.v1.WorkflowExecutionInfo.fromObject({
    ...{ execution: run.execution, type: { name: run.start.type }, status: run.status, firstRunId: run.firstRunId },
    ...{ startTime: timestamp(run.begunMs), executionTime: timestamp(run.begunMs), historyLength: run.history.length },
    closeTime: run.closeMs === undefined ? undefined : timestamp(run.closeMs),
    ...{ memo: { fields: run.memo }, searchAttributes: { indexedFields: run.searchAttributes } },
    taskQueue: run.start.taskQueue,
    priority: run.start.priority,
    ...(run.start.parent && { parentExecution: run.start.parent.run.execution }),
  });

const NO_ACTIVITY = "Can't find pending activity with such ID. Invalid activityID or activity already completed";

function activityBy(
  engine: Engine,
  execution: { workflowId?: string | null; runId?: string | null } | null | undefined,
  named: { id?: string | null | undefined; type?: string | null | undefined },
  unknown = NO_ACTIVITY,
): { run: Run; activity: Activity } {
  const run = engine.openRunOf(execution ?? {});
  const activity = [...run.attempts.open.values()].find(({ id, type }) =>
    named.type ? type === named.type : id === named.id,
  );
  if (!activity) throw notFound(unknown);
  return { run, activity };
}

function answerById(
  engine: Engine,
  request: { workflowId?: string | null; runId?: string | null; activityId?: string | null },
  answer: { result?: Payload; failure?: Failure },
): void {
  const { activityId } = request;
  const about = `cannot find pending activity with ActivityID ${activityId}, check workflow execution history for more details`;
  const { run, activity } = activityBy(engine, request, { id: activityId }, about);
  run.attempts.answer(activity, answer);
}
