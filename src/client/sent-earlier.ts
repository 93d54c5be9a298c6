import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import proto from '@temporalio/proto';
import { mayHaveSent } from '../contract/failures.js';
import { quoted } from '../contract/names.js';
import type { CreateOrderInput, CreateVerdict } from '../contract/order/activities.js';
import type { RunOptions } from '../contract/order/input-and-result.js';
import { FOREIGN_START } from '../contract/refused.js';
import { sentToSchema } from '../validation/order-input.js';
import { PayloadDecryptionError } from './errors.js';
import {
  decodeAll,
  decodeFirst,
  type HistoryEvent,
  ofActivity,
  ofWorkflow,
  readFirstInput,
  readLastEvent,
} from './history.js';
import { firstOf } from './list-orders.js';
import { standingOfEvent } from './standing.js';
import { callTemporal } from './temporal-calls.js';

const { TIMEOUT_TYPE_SCHEDULE_TO_START } = proto.temporal.api.enums.v1.TimeoutType;
const { WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW } = proto.temporal.api.enums.v1.WorkflowTaskFailedCause;

const NOBODY_KNOWS = { accountUnknown: true } as const;

/** Until when the runs before may have sent, as an ISO time, and where. */
type SentEarlier = Pick<RunOptions, 'sentUntil'> & Where;

/** Where they sent; neither field: nowhere. */
type Where = Pick<RunOptions, 'sentTo' | 'accountUnknown'>;

type Run = Pick<WorkflowExecutionDescription, 'workflowId' | 'runId'>;

/** What a run of an id and those before it may have sent; {}: nothing. A run that sent nothing hands on what it was told. */
export async function sentEarlier(client: Client, run: Run): Promise<SentEarlier> {
  const { workflowId, runId } = run;
  const event = await readLastEvent(client, workflowId, runId);
  const end = event === 'unknown' ? undefined : event;
  const standing = standingOfEvent(end);
  if (standing.kind !== 'noOrder') {
    const isForeign = standing.kind === 'unresolved' && standing.type === FOREIGN_START;
    // Anything else may have sent until now.
    const where = await (isForeign ? whereOthersSent(client, run) : whereStoppedSent(client, run));
    return { sentUntil: new Date().toISOString(), ...where };
  }
  const { input } = await readFirstInput(client, workflowId, runId);
  if (!mayHaveSent(standing.failure)) {
    // What it was to follow was sent by a run that is lost.
    if (input.recovered) return { sentUntil: timeOf(end?.eventTime), ...followed(input.recovered) };
    return isTime(input.sentUntil) ? { sentUntil: input.sentUntil, ...whereIn([input]) } : {};
  }
  const failure = end?.workflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo;
  const details = await decodeAll(client, failure?.details, ofWorkflow(client, workflowId));
  return { sentUntil: timeOf(end?.eventTime), ...whereIn([...details, input]) };
}

/** Where an order was sent that a run was to follow only. */
const followed = (recovered: unknown): Where => {
  const where = whereIn([recovered]);
  return where.sentTo ? where : NOBODY_KNOWS;
};

/** Where runs may have sent that were before one which did nothing, since its start was nobody's of ours. */
async function whereOthersSent(client: Client, { workflowId, runId }: Run): Promise<Where> {
  const query = `WorkflowId = ${quoted(workflowId)}`;
  const runs = await firstOf(client, query, 2, (info) => info.runId);
  return runs.length === 1 && runs[0] === runId ? {} : NOBODY_KNOWS;
}

/**
 * Where a run may have sent that was stopped from outside: the one place that it was told, or that its creates and look-ups name.
 * Where they name several, or a create that may have been sent names none, and of a run that was cut from another one by a reset or that only
 * follows what is not known here, nobody knows.
 */
async function whereStoppedSent(client: Client, { workflowId, runId }: Run): Promise<Where> {
  try {
    const { input } = await readFirstInput(client, workflowId, runId);
    const { events } = await callTemporal(client, () => client.workflow.getHandle(workflowId, runId).fetchHistory());
    if (events?.some(isReset)) return NOBODY_KNOWS;
    const asked = await Promise.all((events ?? []).map((event) => askedBy(client, workflowId, event, events ?? [])));
    const relevant = asked.flatMap((one) => (one && (one.mayHaveSent || one.kind === 'found') ? [one] : []));
    const claims = [input, input.recovered, ...relevant.flatMap(({ create, answer }) => [create, answer])];
    const places = new Set(claims.flatMap((claim) => whereIn([claim]).sentTo?.account ?? []));
    const isUnnamed = relevant.some(({ create, answer }) => !whereIn([answer, create]).sentTo);
    if (isUnnamed || places.size > 1 || (input.recovered && places.size === 0)) return NOBODY_KNOWS;
    return whereIn(claims);
  } catch (error) {
    if (!PayloadDecryptionError.is(error)) throw error;
    return NOBODY_KNOWS;
  }
}

/** A run says so that was cut from another one, which may have sent what this one has no event of. */
const isReset = (event: HistoryEvent): boolean =>
  event?.workflowTaskFailedEventAttributes?.cause === WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW;

/** Answers of a create that sent nothing. */
const SENT_NOTHING: readonly (CreateVerdict['kind'] | undefined)[] = [
  'notSent',
  'rateLimited',
  'overCap',
  'stale',
  'conflict',
  'duplicates',
];

/** What became of an activity that a run scheduled; undefined for any other event. `answer`: its own, or what it wrote before its send. */
async function askedBy(client: Client, workflowId: string, event: HistoryEvent, events: readonly HistoryEvent[]) {
  const scheduled = event?.activityTaskScheduledEventAttributes;
  if (!event || !scheduled) return undefined;
  const ends = events.flatMap((other) => [
    other?.activityTaskCompletedEventAttributes,
    other?.activityTaskTimedOutEventAttributes,
  ]);
  const end = ends.find((attributes) => `${attributes?.scheduledEventId}` === `${event.eventId}`);
  const context = ofActivity(client, workflowId, scheduled.activityId);
  const timeout = end && 'failure' in end ? end.failure?.timeoutFailureInfo : undefined;
  const left = end && 'result' in end ? end.result : timeout?.lastHeartbeatDetails;
  const answer = await decodeFirst<Partial<CreateVerdict> & object>(client, left, context);
  const kind = answer?.kind as string | undefined;
  if (scheduled.activityType?.name !== 'createOrder') return { kind, answer, create: undefined, mayHaveSent: false };
  const create = await decodeFirst<CreateOrderInput>(client, scheduled.input, context);
  const isUntaken = timeout?.timeoutType === TIMEOUT_TYPE_SCHEDULE_TO_START && !answer;
  const sentNothing = isUntaken || create?.permission === 'none' || SENT_NOTHING.includes(answer?.kind);
  return { kind, answer, create, mayHaveSent: !sentNothing };
}

/** Inputs may be anything: only what the new run can read is handed on. */
const isTime = (value: unknown): value is string => typeof value === 'string' && !Number.isNaN(Date.parse(value));

/** The first place that some of these name, unless one of them says that nobody knows it. */
function whereIn(values: readonly unknown[]): Where {
  const claims = values.map((value) => Object(value) as Partial<Record<keyof Where, unknown>>);
  if (claims.some(({ accountUnknown }) => accountUnknown === true)) return NOBODY_KNOWS;
  const [sentTo] = claims.flatMap((claim) => sentToSchema.safeParse(claim.sentTo).data ?? []);
  return sentTo ? { sentTo: sentTo as NonNullable<Where['sentTo']> } : {};
}

const timeOf = (time: { seconds?: unknown; nanos?: unknown } | null | undefined): string =>
  new Date(Number(time?.seconds ?? 0) * 1_000 + Number(time?.nanos ?? 0) / 1e6).toISOString();
