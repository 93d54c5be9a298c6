import { Agent } from 'node:http';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { CallbackTarget } from '../../src/contract/callback-url.js';
import { receivedWorkflowId } from '../../src/contract/names.js';
import { createSignalOrder, createSignalReceived, MAX_CALLBACK_EVENTS } from '../../src/receiver/signals.js';
import { collectedOrders } from './collected-orders.fixture.js';
import { countOf, postOver, sendAll } from './flood.fixture.js';
import { ADDRESS, post, runReceiver } from './receiver.fixture.js';

/** More than a receiver accepts for one order. */
const CALLBACKS = 130;
const RESTARTS = 6;

const { temporal, start } = collectedOrders();

/** Starts a receiver that remembers nothing, as after a restart; `calls` counts what it asks of Temporal. */
async function startAnew() {
  const calls = { signal: 0, describe: 0 };
  const { connection } = temporal().client;
  const client = new Client({
    connection,
    namespace: temporal().namespace,
    interceptors: {
      workflow: [
        {
          signal: (input, next) => {
            calls.signal += 1;
            return next(input);
          },
          describe: (input, next) => {
            calls.describe += 1;
            return next(input);
          },
        },
      ],
    },
  });
  const receiver = await runReceiver(createSignalOrder(client), undefined, createSignalReceived(client));
  return { receiver, calls };
}

/** Floods one leaked URL at a receiver after the other; `lanes`: how many callbacks are under way at a time. */
async function flood(target: CallbackTarget, lanes: number, uuid?: string): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < RESTARTS; n += 1) {
    const { receiver } = await startAnew();
    const agent = new Agent({ maxSockets: lanes });
    onTestFinished(() => agent.destroy());
    const bodies = Array.from({ length: CALLBACKS }, (_, k) => ({
      order_uuid: uuid ?? `u-${n}-${k}`,
      status: 'completed',
      n,
      k,
    }));
    statuses.push(...(await sendAll(bodies, lanes, (body) => postOver(agent, receiver.urlOf(target), body))));
    await receiver.close();
  }
  return statuses;
}

async function counted(order: WorkflowHandle) {
  const events = (await order.fetchHistory()).events ?? [];
  return {
    events: events.length,
    signals: events.filter((event) => event.workflowExecutionSignaledEventAttributes).length,
  };
}

describe('a leaked callback URL, used at a receiver that is restarted again and again, grows a history no further than the limit', () => {
  test.each([
    ['of an order', 1],
    ['of an order, by many senders at a time', 20],
  ])('%s', { timeout: 120_000 }, async (what, lanes) => {
    const orderId = what.replace(/\W+/g, '-');
    const order = await start(orderId);
    const statuses = await flood({ kind: 'order', account: 'default', orderId }, lanes);
    const { events, signals } = await counted(order);
    process.stderr.write(`${what}: ${signals} signals, ${events} events, ${countOf(statuses, 429)} answered 429\n`);
    expect(events).toBeLessThan(MAX_CALLBACK_EVENTS + 100);
    // 503: Temporal did not answer in time on a busy machine, and the service sends that one again.
    expect(countOf(statuses, 200, 429, 503)).toBe(RESTARTS * CALLBACKS);
    expect(signals).toBeLessThan(RESTARTS * CALLBACKS);
    // One callback still wakes the order, at any receiver that has not heard of it.
    const { receiver } = await startAnew();
    expect((await post(receiver.urlOf({ kind: 'order', account: 'default', orderId }))).status).toBe(200);
    await vi.waitFor(async () => expect((await counted(order)).signals).toBe(signals + 1));
  });

  test('of a permanent address, about the order of a receipt', { timeout: 120_000 }, async () => {
    const order = await start('receipt-1', receivedWorkflowId('default', 'receipt-1'));
    await flood(ADDRESS, 1, 'receipt-1');
    expect((await counted(order)).events).toBeLessThan(MAX_CALLBACK_EVENTS + 100);
  });
});

test('a leaked callback URL of an order that has ended costs one open look-up and a few signals for each receiver', {
  timeout: 120_000,
}, async () => {
  const target = { kind: 'order', account: 'default', orderId: 'leaked-ended' } as const;
  await (await start('leaked-ended')).terminate('ended by the test');
  const statuses = await flood(target, 20);
  expect(countOf(statuses, 200, 429, 503)).toBe(RESTARTS * CALLBACKS);
  expect(countOf(statuses, 200)).toBeLessThanOrEqual(RESTARTS * 3);
  const runs: unknown[] = [];
  const query = "WorkflowId = 'after-end:order:default:leaked-ended'";
  await vi.waitFor(async () => {
    for await (const run of temporal().client.workflow.list({ query })) runs.push(run);
    expect(runs).toHaveLength(1);
  });
  const { signals } = await counted(temporal().client.workflow.getHandle('after-end:order:default:leaked-ended'));
  expect(signals).toBeLessThanOrEqual(RESTARTS * 3);
});

describe('a callback', () => {
  test('costs one signal and no question, the first of its order at a receiver; a second one asks once', async () => {
    const order = await start('cost-1');
    const { receiver, calls } = await startAnew();
    const url = receiver.urlOf({ kind: 'order', account: 'default', orderId: 'cost-1' });
    expect((await post(url)).status).toBe(200);
    expect(calls).toEqual({ signal: 1, describe: 0 });
    expect((await post(url)).status).toBe(200);
    expect(calls).toEqual({ signal: 2, describe: 1 });
    // A signal that comes during a workflow task stands in the history once that is over.
    await vi.waitFor(async () => expect((await counted(order)).signals).toBe(2));
  });
});
