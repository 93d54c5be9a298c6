import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { EventsInput } from '../contract/events.js';
import {
  ACCOUNT_FORMAT,
  DEFAULT_ACCOUNT,
  DELIVER_EVENTS_WORKFLOW,
  deliveryWorkflowId,
  ORDERS_TASK_QUEUE,
  quoted,
  RECEIVER_FORMAT,
  SEND_EVENTS_SIGNAL,
  searchAttribute,
} from '../contract/names.js';
import { InvalidInputError } from './errors.js';
import { listRuns } from './pages.js';
import { callTemporal } from './temporal-calls.js';

const MOST_LISTED = 1_000;

/** A delivery with events that no receiver took within three days. */
interface UndeliveredEvents {
  id: string;
  account: string | undefined;
  since: Date | undefined;
}

/** Lists deliveries with undelivered events. Needs no worker. */
export async function listUndelivered(client: Client, account?: string): Promise<UndeliveredEvents[]> {
  const terms = [`WorkflowType = '${DELIVER_EVENTS_WORKFLOW}'`, `ExecutionStatus = 'Running'`];
  terms.push(`${searchAttribute.needsAttention.name} = true`);
  if (account !== undefined) terms.push(`${searchAttribute.account.name} = ${quoted(account)}`);
  const options = { query: terms.join(' AND '), pageSize: MOST_LISTED };
  const { runs } = await callTemporal(client, () => listRuns(client, options));
  return runs.map(({ workflowId: id, typedSearchAttributes: known }) => {
    return { id, account: known.get(searchAttribute.account), since: known.get(searchAttribute.attentionSince) };
  });
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
  return pending.lastFailure?.message ?? `no worker has the receiver ${receiver} in its EVENTS_FILE`;
}
