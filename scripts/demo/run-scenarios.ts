import type { Client } from '@temporalio/client';
import type { PaymentOrders } from '../../src/client.js';
import type { OrderResult } from '../../src/contract/order/input-and-result.js';
import type { Scenario } from './scenarios.js';

/** What became of one order. `wrong` says what differs from what was expected; empty = all as it should be. */
export interface Outcome extends Pick<Scenario, 'type' | 'name'> {
  orderId: string;
  /** How it came to exist. */
  created: string;
  learned: string;
  outcome: string;
  compensation: string;
  events: number;
  workflowId: string;
  runId: string;
  wrong: string[];
}

/** Counters of the sandbox, by order id. */
interface SandboxCounters {
  createsByOrderId: Record<string, number>;
  executedByOrderId: Record<string, number>;
}

/** Starts all scenarios at once and follows each to its end; `onEnd` is told after each. */
export async function runScenarios(
  client: Client,
  orders: PaymentOrders,
  all: readonly Scenario[],
  sandboxAdminUrl: string,
  onEnd: (ended: number) => void,
): Promise<Outcome[]> {
  let ended = 0;
  return Promise.all(
    all.map(async (scenario) => {
      const handle = await orders.start(scenario.type, scenario.input);
      const result = await handle.result();
      const counters = (await (await fetch(`${sandboxAdminUrl}/state`)).json()) as SandboxCounters;
      const history = await readHistory(client, handle.workflowId);
      ended += 1;
      onEnd(ended);
      return {
        type: scenario.type,
        name: scenario.name,
        orderId: scenario.input.order.order_id,
        created: howCreated(result, counters.createsByOrderId[scenario.input.order.order_id]),
        learned: history.learned,
        outcome: result.outcome,
        compensation: result.compensation?.status ?? '–',
        events: history.events,
        workflowId: handle.workflowId,
        runId: history.runId,
        wrong: differences(scenario, result, history.learned, counters),
      };
    }),
  );
}

const howCreated = ({ adopted }: OrderResult, creates = 0): string =>
  adopted ? 'found by look-up' : creates > 1 ? `sent ${creates} times` : 'accepted';

function differences(
  { expected, input }: Scenario,
  result: OrderResult,
  learned: string,
  { createsByOrderId, executedByOrderId }: SandboxCounters,
): string[] {
  const orderId = input.order.order_id;
  const seen = {
    outcome: result.outcome,
    learned,
    compensation: result.compensation?.status,
    creates: createsByOrderId[orderId],
  };
  const wrong = Object.entries(expected).flatMap(([name, value]) => {
    const actual = seen[name as keyof typeof seen];
    return actual === value ? [] : [`${name} is ${actual}, expected ${value}`];
  });
  const followUp = result.compensation?.order_id;
  for (const id of [orderId, ...(followUp ? [followUp] : [])]) {
    if (executedByOrderId[id] !== 1) wrong.push(`${id} was executed ${executedByOrderId[id] ?? 0} times`);
  }
  return wrong;
}

/** How the final status was learned: the poll that returned it, a look-up that a callback caused, or one without. */
export async function readHistory(client: Client, workflowId: string) {
  const handle = client.workflow.getHandle(workflowId);
  const { runId } = await handle.describe();
  const events = (await handle.fetchHistory()).events ?? [];
  const polls = new Set(
    events.flatMap(({ activityTaskScheduledEventAttributes: scheduled, eventId }) =>
      scheduled?.activityType?.name === 'pollOrder' ? [String(eventId)] : [],
    ),
  );
  const polled = events.some(({ activityTaskCompletedEventAttributes: completed }) =>
    polls.has(String(completed?.scheduledEventId)),
  );
  const signalled = events.some(
    ({ workflowExecutionSignaledEventAttributes }) => workflowExecutionSignaledEventAttributes,
  );
  return { runId, events: events.length, learned: polled ? 'poll' : signalled ? 'callback' : 'look-up' };
}
