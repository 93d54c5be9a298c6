import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { type EndedHeld, mayHaveSent } from '../contract/failures.js';
import { type CreateOrderInput, type DuplicateOrders, maySend } from '../contract/order/activities.js';
import type { RunOptions } from '../contract/order/input-and-result.js';
import type { SentTo } from '../contract/order/sent-to.js';
import type { Order } from '../contract/service-objects.js';
import { publishedBy } from '../temporal/published.js';
import { sentToSchema } from '../validation/order-input.js';
import { decodeAll, decodeFirst, ofActivity, ofWorkflow, readFirstInput, readLastEvent } from './history.js';
import { standingOfEvent } from './standing.js';
import { callTemporal } from './temporal-calls.js';

/** The activity that sends. */
const CREATE_ACTIVITY = 'createOrder';

const UNKNOWN_ACCOUNT = { accountUnknown: true } as const;

/** Account of earlier sends. Without either field, nothing was sent. */
type Where = Pick<RunOptions, 'sentTo' | 'accountUnknown'>;

type Earlier = Pick<RunOptions, 'sentUntil' | 'held'> & Where;

type Run = Pick<WorkflowExecutionDescription, 'workflowId' | 'runId'>;

/**
 * Returns until when this run and earlier runs may have sent, and to which account; {} if nothing
 * was sent. If a run was stopped or another program started it, the account is unknown.
 */
export async function sentEarlier(client: Client, run: Run): Promise<Earlier> {
  const { workflowId, runId } = run;
  const event = await readLastEvent(client, workflowId, runId);
  const end = event === 'unknown' ? undefined : event;
  const standing = standingOfEvent(end);
  if (standing.kind !== 'noOrder') return { sentUntil: new Date().toISOString(), ...UNKNOWN_ACCOUNT };
  const { input } = await readFirstInput(client, workflowId, runId);
  const failure = end?.workflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo;
  const details = await decodeAll(client, failure?.details, ofWorkflow(client, workflowId));
  const hold = details.find((detail): detail is EndedHeld => typeof Object(detail).held === 'string');
  const held = hold && { held: hold.held };
  if (!mayHaveSent(standing.failure)) {
    // A lost run sent the order that this run was to follow.
    if (input.recovered) return { sentUntil: timeOf(end?.eventTime), ...followed(input.recovered) };
    return { ...held, ...(isTime(input.sentUntil) && { sentUntil: input.sentUntil, ...whereIn([input]) }) };
  }
  return { ...held, sentUntil: timeOf(end?.eventTime), ...whereIn([...details, input]) };
}

const followed = (recovered: unknown): Where => {
  const where = whereIn([recovered]);
  return where.sentTo ? where : UNKNOWN_ACCOUNT;
};

/** Returns the account that a run's activities used; undefined if they name none or several. */
export async function accountOfRun(client: Client, run: Run): Promise<SentTo | undefined> {
  const places = (await answersOfRun(client, run)).flatMap(({ answer }) => whereIn([answer]).sentTo ?? []);
  return new Set(places.map(({ account }) => account)).size === 1 ? places[0] : undefined;
}

/**
 * Returns what the worker of a run's last create publishes of its account, even if it died at once.
 * Creates whose answer names their account are left out, and those that may not send.
 */
export async function publishedAtCreate(client: Client, run: Run): Promise<string | undefined> {
  const { events, byId } = await eventsOf(client, run);
  const results = new Map(
    events.flatMap(({ activityTaskCompletedEventAttributes: done }) =>
      done ? [[`${done.scheduledEventId}`, done]] : [],
    ),
  );
  // A reset copies the events of the run before.
  let ranIn = run.runId;
  for (const {
    activityTaskStartedEventAttributes: taken,
    workflowTaskFailedEventAttributes: failed,
  } of events.reverse()) {
    ranIn = failed?.baseRunId || ranIn;
    if (!taken) continue;
    const { scheduledEventId, identity } = taken;
    const scheduled = byId.get(`${scheduledEventId}`)?.activityTaskScheduledEventAttributes;
    if (scheduled?.activityType?.name !== CREATE_ACTIVITY) continue;
    const context = ofActivity(client, run.workflowId, scheduled.activityId);
    const answer = await decodeFirst(client, results.get(`${scheduledEventId}`)?.result, context).catch(
      () => undefined,
    );
    const input = await decodeFirst<CreateOrderInput>(client, scheduled.input, context).catch(() => undefined);
    if (whereIn([answer]).sentTo || (input && !maySend(input, ranIn))) continue;
    return publishedBy(identity ?? '')?.account;
  }
  return undefined;
}

/** Order of an answered create. `sentAtMs`: the earlier one by the clocks of server and worker. */
interface AcceptedCreate {
  order: Order;
  sentTo: SentTo;
  sentAtMs: number;
}

/** Returns the order that a run created itself; undefined without one. */
export async function acceptedIn(client: Client, run: Run): Promise<AcceptedCreate | undefined> {
  const accepted = (await answersOfRun(client, run)).find(({ answer }) => Object(answer).kind === 'accepted');
  const { order, sentTo, sentAtMs }: Partial<AcceptedCreate> = Object(accepted?.answer);
  if (!accepted || !order || !sentTo || typeof sentAtMs !== 'number') return undefined;
  // Who repeats an old answer in a new run changes the server's time only.
  return { order, sentTo, sentAtMs: Math.min(sentAtMs, Date.parse(accepted.handedOutAt)) };
}

/** Returns the uuids of all orders that a run's activities were shown. */
export async function uuidsOfRun(client: Client, run: Run): Promise<string[]> {
  const answers = (await answersOfRun(client, run)).map(({ answer }) => Object(answer) as Partial<Shown>);
  return answers.flatMap(({ order, orderUuids = [] }) => (order ? [order.order_uuid] : orderUuids));
}

type Shown = { order: Order } & DuplicateOrders;

/** Returns the history of a run, also by event id. */
async function eventsOf(client: Client, { workflowId, runId }: Run) {
  const history = await callTemporal(client, () => client.workflow.getHandle(workflowId, runId).fetchHistory());
  const events = history.events ?? [];
  return { events, byId: new Map(events.map((event) => [`${event.eventId}`, event])) };
}

/** Returns the answers of a run's activities, and when a worker got each (ISO time). */
async function answersOfRun(client: Client, run: Run): Promise<{ answer: unknown; handedOutAt: string }[]> {
  const { workflowId } = run;
  const { events, byId } = await eventsOf(client, run);
  const answers = events.flatMap(async ({ activityTaskCompletedEventAttributes: done }) => {
    const scheduled = byId.get(`${done?.scheduledEventId}`)?.activityTaskScheduledEventAttributes;
    const context = ofActivity(client, workflowId, scheduled?.activityId);
    const answer: unknown = await decodeFirst(client, done?.result, context);
    return { answer, handedOutAt: timeOf(byId.get(`${done?.startedEventId}`)?.eventTime) };
  });
  return Promise.all(answers);
}

/** Inputs are unchecked, so only what the new run can read is handed on. */
const isTime = (value: unknown): value is string => typeof value === 'string' && !Number.isNaN(Date.parse(value));

/** Returns the first account that the values name, unless one of them says that it is unknown. */
function whereIn(values: readonly unknown[]): Where {
  const claims = values.map((value) => Object(value) as Partial<Record<keyof Where, unknown>>);
  if (claims.some(({ accountUnknown }) => accountUnknown === true)) return UNKNOWN_ACCOUNT;
  const [sentTo] = claims.flatMap((claim) => sentToSchema.safeParse(claim.sentTo).data ?? []);
  return sentTo ? { sentTo: sentTo as SentTo } : {};
}

const timeOf = (time: { seconds?: unknown; nanos?: unknown } | null | undefined): string =>
  new Date(Number(time?.seconds ?? 0) * 1_000 + Number(time?.nanos ?? 0) / 1e6).toISOString();
