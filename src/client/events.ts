import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import type { ProtoFailure, SerializationContext } from '@temporalio/common';
import { tsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { type DeliverEventInput, type EventsInput, GONE } from '../contract/events.js';
import {
  ACCOUNT_FORMAT,
  AGAIN_PRIORITY,
  BRAKE_PRIORITY,
  DEFAULT_ACCOUNT,
  DELIVER_EVENTS_WORKFLOW,
  deliveryWorkflowId,
  eventsTaskQueue,
  ORDERS_TASK_QUEUE,
  parseGoneReceiverWorkflowId,
  quoted,
  RECEIVER_FORMAT,
  SEND_EVENTS_SIGNAL,
  searchAttribute,
} from '../contract/names.js';
import { InvalidInputError } from './errors.js';
import { decodeFirst, errorOf, ofActivity } from './history.js';
import { listRuns } from './pages.js';
import { callTemporal } from './temporal-calls.js';

const STARTED = proto.temporal.api.enums.v1.PendingActivityState.PENDING_ACTIVITY_STATE_STARTED;

const MOST_LISTED = 1_000;

/** Deliveries with shown attempts. Whoever refuses everything refuses the newest, too. */
const MOST_SHOWN = 100;

/** An event that a receiver has not taken yet. */
interface RefusedEvent {
  receiver: string;
  attempts: number;
  /** When it is tried again; the receiver may rest until later. */
  next?: Date;
  /** Why the last attempt failed. */
  failure: string;
}

/** A delivery with events that no receiver took. `since`: a person is asked, after an hour. */
interface UndeliveredEvents {
  id: string;
  account: string | undefined;
  since: Date | undefined;
  /** Events that are sent again, and of each other receiver the last one that failed. */
  refused: RefusedEvent[];
}

/** Lists deliveries that ask for a person, and refused ones of the newest. Needs no worker. */
export async function listUndelivered(client: Client, account?: string): Promise<UndeliveredEvents[]> {
  const open = [`WorkflowType = '${DELIVER_EVENTS_WORKFLOW}'`, `ExecutionStatus = 'Running'`];
  if (account !== undefined) open.push(`${searchAttribute.account.name} = ${quoted(account)}`);
  const asks = searchAttribute.needsAttention.name;
  const read = async (term: string, pageSize: number) => {
    const options = { query: [...open, term].join(' AND '), pageSize };
    return (await callTemporal(client, () => listRuns(client, options))).runs;
  };
  const asking = await read(`${asks} = true`, MOST_LISTED);
  const others = await read(`(${asks} IS NULL OR ${asks} = false)`, MOST_SHOWN);
  const asked = asking.slice(0, MOST_SHOWN);
  const refused = await Promise.all(
    [...asked, ...others].map(async (run) => {
      const { workflowId } = run;
      const now = await refusedEvents(client, workflowId);
      const isNow = ({ receiver }: RefusedEvent) => now.some((one) => one.receiver === receiver);
      const before = (await failedEvents(client, workflowId)).filter((one) => !isNow(one));
      return [workflowId, now.concat(before)] as const;
    }),
  ).then((all) => new Map(all));
  return [...asking, ...others].flatMap(({ workflowId: id, typedSearchAttributes: known }) => {
    const [since, now = []] = [known.get(searchAttribute.attentionSince), refused.get(id)];
    if (since === undefined && now.length === 0) return [];
    return [{ id, account: known.get(searchAttribute.account), since, refused: now }];
  });
}

/** An attempt that nobody has begun for this long has no worker. */
const UNTAKEN_MS = 60_000;

type Pending = NonNullable<Awaited<ReturnType<WorkflowHandle['describe']>>['raw']['pendingActivities']>[number];

const isRefused = ({ attempt, lastStartedTime, scheduledTime }: Pending): boolean =>
  (attempt ?? 0) > 1 || (!lastStartedTime && Date.now() - 1_000 * Number(scheduledTime?.seconds ?? 0) > UNTAKEN_MS);

/** While an event waits, Temporal counts its next attempt. The first one was another activity. */
const attemptsOf = ({ attempt, state, priority }: Pending): number =>
  (attempt ?? 1) - (state === STARTED ? 0 : 1) + (priority?.priorityKey === AGAIN_PRIORITY ? 1 : 0);

/** Returns what a delivery tries again now; [] once it has ended. */
async function refusedEvents(client: Client, workflowId: string): Promise<RefusedEvent[]> {
  const run = await callTemporal(client, () => client.workflow.getHandle(workflowId).describe()).catch(unlessGone);
  const pending = run?.raw.pendingActivities ?? [];
  return Promise.all(
    pending.filter(isRefused).map(async (one) => ({
      receiver: receiverOf(one.activityOptions?.taskQueue?.name),
      attempts: attemptsOf(one),
      ...(one.nextAttemptScheduleTime && { next: new Date(tsToMs(one.nextAttemptScheduleTime)) }),
      failure:
        (await failureOfPending(client, workflowId, one)) ?? 'other events wait for the receiver, or no worker has it',
    })),
  );
}

const receiverOf = (taskQueue: string | null | undefined): string =>
  taskQueue?.slice(eventsTaskQueue('').length) ?? 'unknown';

/** Returns of each receiver the newest event that failed and is not delivered; [] at its end. */
async function failedEvents(client: Client, workflowId: string): Promise<RefusedEvent[]> {
  const receiver = parseGoneReceiverWorkflowId(workflowId);
  const handle = client.workflow.getHandle(workflowId);
  const { events } = (await callTemporal(client, () => handle.fetchHistory()).catch(unlessGone)) ?? {};
  const byId = new Map((events ?? []).map((event) => [`${event.eventId}`, event]));
  // By the event and its receiver: what was given up may be delivered later.
  const found = new Map<string, RefusedEvent>();
  // It was refused before its delivery began.
  if (receiver !== undefined) found.set('', { receiver, attempts: 1, failure: `not delivered: ${GONE}` });
  for (const { activityTaskCompletedEventAttributes: done, ...ended } of events ?? []) {
    const failed = ended.activityTaskFailedEventAttributes ?? ended.activityTaskTimedOutEventAttributes;
    const task = byId.get(`${(done ?? failed)?.scheduledEventId}`)?.activityTaskScheduledEventAttributes;
    if (!task) continue;
    const to = receiverOf(task.taskQueue?.name);
    const context = ofActivity(client, workflowId, task.activityId);
    const input = await decodeFirst<DeliverEventInput>(client, task.input, context).catch(() => undefined);
    const key = `${to} ${input?.event.id}`;
    found.delete(key);
    if (!failed) continue;
    const { attempt } = byId.get(`${failed.startedEventId}`)?.activityTaskStartedEventAttributes ?? {};
    const failure = (await shownFailure(client, failed.failure, context)) ?? 'not delivered';
    found.set(key, { receiver: to, attempts: attempt ?? 0, failure });
  }
  return [...new Map([...found.values()].map((one) => [one.receiver, one])).values()];
}

/** Returns the message of a failed attempt, decrypted; undefined without one. */
async function shownFailure(
  client: Client,
  failure: ProtoFailure | null | undefined,
  context: SerializationContext,
): Promise<string | undefined> {
  const error = await errorOf(client, failure, context).catch(() => undefined);
  // A time-out is caused by its last attempt.
  const { message } = (error?.cause as Error | undefined) ?? error ?? failure ?? {};
  return message ?? undefined;
}

const failureOfPending = (client: Client, workflowId: string, one: Pending): Promise<string | undefined> =>
  shownFailure(client, one.lastFailure, ofActivity(client, workflowId, one.activityId));

function unlessGone(error: unknown): undefined {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}

/**
 * Sends undelivered events again: those of a delivery, or all that wait for a receiver. Resolves
 * to the ids of their deliveries, oldest first.
 */
export async function sendUndelivered(client: Client, what: string): Promise<string[]> {
  const isReceiver = RECEIVER_FORMAT.test(what);
  if (!isReceiver && !what.startsWith(deliveryWorkflowId(''))) {
    throw new InvalidInputError([{ field: 'id', reason: 'must be a receiver or an id of `event list`' }]);
  }
  const ids = isReceiver ? await waitingFor(client, what) : [what];
  const sent: string[] = [];
  for (const id of ids) {
    const signal = () => client.workflow.getHandle(id).signal(SEND_EVENTS_SIGNAL, ...(isReceiver ? [what] : []));
    const isOpen = await callTemporal(client, signal).then(() => true, unlessGone);
    if (isOpen) sent.push(id);
  }
  if (sent.length > 0) return sent;
  throw new InvalidInputError([
    { field: 'id', reason: `no open delivery has events for ${what}: all was delivered, or it has another name` },
  ]);
}

/** Returns the deliveries for a receiver, oldest first, and those that do not show theirs. */
async function waitingFor(client: Client, receiver: string): Promise<string[]> {
  const listed = await listUndelivered(client);
  const isMeant = ({ refused }: UndeliveredEvents) =>
    refused.length === 0 || refused.some((one) => one.receiver === receiver);
  const meant = listed.filter(isMeant).reverse();
  // Those that ask are older.
  const [asking, others] = [meant.filter(({ since }) => since), meant.filter(({ since }) => !since)];
  return [...asking, ...others].map(({ id }) => id);
}

const TEST_WITHIN_MS = 25_000;
const TEST_LOOK_MS = 500;

/** Sends a receiver a `test` event. Returns why it was not delivered, or undefined. */
export async function testReceiver(
  client: Client,
  receiver: string,
  account = DEFAULT_ACCOUNT,
): Promise<string | undefined> {
  const bad = [
    ...(RECEIVER_FORMAT.test(receiver) ? [] : [{ field: 'receiver', reason: 'must match [a-z0-9-]{1,32}' }]),
    ...(ACCOUNT_FORMAT.test(account) ? [] : [{ field: 'account', reason: 'must match [a-z0-9-]{1,32}' }]),
  ];
  if (bad.length > 0) throw new InvalidInputError(bad);
  const id = randomUUID();
  const event = { id: `${id}.1`, type: 'test', timestamp: new Date().toISOString(), data: { account, sequence: 1 } };
  const input = { receivers: [{ name: receiver }], events: [event] } as EventsInput;
  const handle = await callTemporal(client, () =>
    client.workflow.start(DELIVER_EVENTS_WORKFLOW, {
      workflowId: deliveryWorkflowId(`test:${receiver}:${id}`),
      taskQueue: ORDERS_TASK_QUEUE,
      args: [input],
      workflowExecutionTimeout: 2 * TEST_WITHIN_MS,
      priority: { priorityKey: BRAKE_PRIORITY },
    }),
  );
  const delivered = handle.result().then(() => true);
  const untilMs = performance.now() + TEST_WITHIN_MS;
  let why: string | undefined;
  while (why === undefined && performance.now() < untilMs) {
    if (await Promise.race([delivered, sleep(TEST_LOOK_MS, false)])) return undefined;
    const [refused] = await failedEvents(client, handle.workflowId);
    why = refused?.failure;
  }
  const pending = (await handle.describe()).raw.pendingActivities?.[0];
  await handle.terminate('the test is over').catch(() => undefined);
  if (why !== undefined) return why;
  if (!pending) return 'no worker runs the workflow';
  if (pending.lastStartedTime) return 'it does not answer';
  return `no worker has the receiver ${receiver} in its EVENTS_FILE, or other tests wait for it`;
}
