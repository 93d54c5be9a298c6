import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import type { EventsInput } from '../contract/events.js';
import {
  ACCOUNT_FORMAT,
  DEFAULT_ACCOUNT,
  DELIVER_EVENTS_WORKFLOW,
  deliveryWorkflowId,
  eventsTaskQueue,
  ORDERS_TASK_QUEUE,
  quoted,
  RECEIVER_FORMAT,
  SEND_EVENTS_SIGNAL,
  searchAttribute,
} from '../contract/names.js';
import { InvalidInputError } from './errors.js';
import { errorOf, ofActivity } from './history.js';
import { listRuns } from './pages.js';
import { callTemporal } from './temporal-calls.js';

const MOST_LISTED = 1_000;

/** Deliveries with shown attempts. Whoever refuses everything refuses the newest, too. */
const MOST_SHOWN = 100;

/** An event that a receiver has not taken yet. */
interface RefusedEvent {
  receiver: string;
  attempts: number;
  /** Why the last attempt failed. */
  failure: string;
}

/** A delivery with events that no receiver took. `since`: a person is asked, after an hour. */
interface UndeliveredEvents {
  id: string;
  account: string | undefined;
  since: Date | undefined;
  /** Attempts under way. The Temporal UI names events that were given up. */
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
  const refused = await Promise.all(
    [...asking.slice(0, MOST_SHOWN), ...others].map(
      async ({ workflowId }) => [workflowId, await refusedEvents(client, workflowId)] as const,
    ),
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

/** Returns what a delivery tries again now; [] once it has ended. */
async function refusedEvents(client: Client, workflowId: string): Promise<RefusedEvent[]> {
  const run = await callTemporal(client, () => client.workflow.getHandle(workflowId).describe()).catch(unlessGone);
  const pending = run?.raw.pendingActivities ?? [];
  return Promise.all(
    pending.filter(isRefused).map(async (one) => ({
      receiver: one.activityOptions?.taskQueue?.name?.slice(eventsTaskQueue('').length) ?? 'unknown',
      attempts: one.attempt ?? 0,
      failure: (await shownFailure(client, workflowId, one)) ?? 'no worker with this receiver has taken it',
    })),
  );
}

/** Returns the message of the last failed attempt, decrypted; undefined without one. */
async function shownFailure(client: Client, workflowId: string, one: Pending): Promise<string | undefined> {
  const context = ofActivity(client, workflowId, one.activityId);
  const error = await errorOf(client, one.lastFailure, context).catch(() => undefined);
  return error?.message ?? one.lastFailure?.message ?? undefined;
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}

/** Sends the undelivered events of a delivery again. */
export async function sendUndelivered(client: Client, id: string): Promise<void> {
  if (!id.startsWith(deliveryWorkflowId(''))) {
    throw new InvalidInputError([{ field: 'id', reason: 'must be an id of `event list`' }]);
  }
  try {
    await callTemporal(client, () => client.workflow.getHandle(id).signal(SEND_EVENTS_SIGNAL));
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    throw new InvalidInputError([{ field: 'id', reason: 'no open delivery has it: its events were delivered' }]);
  }
}

const TEST_WITHIN_MS = 25_000;

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
    }),
  );
  const delivered = handle.result().then(() => true);
  if (await Promise.race([delivered, sleep(TEST_WITHIN_MS, false)])) return undefined;
  const { raw } = await handle.describe();
  const pending = raw.pendingActivities?.[0];
  await handle.terminate('the test is over').catch(() => undefined);
  if (!pending) return 'no worker runs the workflow';
  return (
    (await shownFailure(client, handle.workflowId, pending)) ??
    `no worker has the receiver ${receiver} in its EVENTS_FILE`
  );
}
