import { connect, createServer, type Socket } from 'node:net';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { orderWorkflowId } from '../../src/contract/names.js';
import { createSignalOrder, type OrderTarget } from '../../src/receiver/signals.js';
import { SIGNAL_BURST } from '../../src/receiver/spare-temporal.js';
import { within } from '../workflows/within.fixture.js';
import type { collectSignals, endSignal } from './collect-signals.fixture.js';
import { collectedOrders } from './collected-orders.fixture.js';
import { post, runReceiver } from './receiver.fixture.js';

const HINT = { order_uuid: 'u-1', status: 'completed' };
const BODY = JSON.stringify(HINT);
const END: (typeof endSignal)['name'] = 'end';

const { temporal, start: startOrder } = collectedOrders();

const targetOf = (orderId: string): OrderTarget => ({ kind: 'order', account: 'default', orderId });

const lookUpsOf = (orderId: string) => temporal().client.workflow.getHandle(`after-end:order:default:${orderId}`);

async function endOrder(order: WorkflowHandle<typeof collectSignals>): Promise<unknown> {
  await order.signal(END);
  return order.result();
}

describe('a callback', () => {
  test('reaches the workflow of its order as a signal', async () => {
    const order = await startOrder('running-1');
    const receiver = await runReceiver(createSignalOrder(temporal().client));
    expect((await post(receiver.urlOf(targetOf('running-1')), BODY)).status).toBe(200);
    expect(receiver.log).toMatchObject([{ orderId: 'running-1', result: 'delivered' }]);
    expect(await endOrder(order)).toEqual([HINT]);
  });

  test('of which 100 duplicates come at once is answered 200 each time, by no more signals than the limit', async () => {
    const order = await startOrder('running-2');
    const receiver = await runReceiver(createSignalOrder(temporal().client));
    const url = receiver.urlOf(targetOf('running-2'));
    // On a busy machine the signal may take longer than a callback is kept waiting; the service then delivers again.
    const deliver = () => expect.poll(async () => (await post(url, BODY)).status, { timeout: 60_000 }).toBe(200);
    await Promise.all(Array.from({ length: 100 }, deliver));
    const hints = (await endOrder(order)) as unknown[];
    expect(hints.length).toBeGreaterThan(0);
    expect(hints.length).toBeLessThanOrEqual(receiver.signals.length);
    expect(receiver.signals.length).toBeLessThanOrEqual(SIGNAL_BURST);
  });

  test('after the end of its order is acknowledged once a look-up of it is started, and starts no order', async () => {
    const order = await startOrder('closed-1');
    await endOrder(order);
    const receiver = await runReceiver(createSignalOrder(temporal().client));
    expect((await post(receiver.urlOf(targetOf('closed-1')), BODY)).status).toBe(200);
    expect(receiver.log).toMatchObject([{ orderId: 'closed-1', result: 'closed' }]);
    expect((await order.describe()).status.name).toBe('COMPLETED');
    expect((await lookUpsOf('closed-1').describe()).type).toBe('orderAfterEnd');
  });

  test('for an order that Temporal does not know is acknowledged the same way, and starts no order', async () => {
    const receiver = await runReceiver(createSignalOrder(temporal().client));
    expect((await post(receiver.urlOf(targetOf('never-started')), BODY)).status).toBe(200);
    expect(receiver.log).toMatchObject([{ level: 40, orderId: 'never-started', result: 'unknown' }]);
    const handle = temporal().client.workflow.getHandle(orderWorkflowId('default', 'never-started'));
    await expect(handle.describe()).rejects.toThrow(/not found/i);
    expect((await lookUpsOf('never-started').describe()).status.name).toBe('RUNNING');
  });

  test('after an order was started again under its id goes to the new run', async () => {
    await endOrder(await startOrder('again-1'));
    const again = await startOrder('again-1');
    const receiver = await runReceiver(createSignalOrder(temporal().client));
    await post(receiver.urlOf(targetOf('again-1')), BODY);
    expect(await endOrder(again)).toEqual([HINT]);
  });
});

describe('503, never an acknowledgement, when', () => {
  test('the namespace does not exist', async () => {
    const client = new Client({ connection: temporal().client.connection, namespace: 'no-such-namespace' });
    const receiver = await runReceiver(createSignalOrder(client));
    expect((await post(receiver.urlOf(targetOf('running-3')), BODY)).status).toBe(503);
    expect(receiver.log).toMatchObject([{ result: 'unavailable' }]);
  });

  test('Temporal does not take the look-up of an order that has ended; a later callback may start it', async () => {
    await endOrder(await startOrder('closed-2'));
    let fails = 5;
    const client = new Client({
      connection: temporal().client.connection,
      namespace: temporal().namespace,
      interceptors: {
        workflow: [
          {
            signalWithStart: async (input, next) => {
              fails -= 1;
              if (fails >= 0) throw new Error('not now');
              return next(input);
            },
          },
        ],
      },
    });
    const receiver = await runReceiver(createSignalOrder(client));
    const url = receiver.urlOf(targetOf('closed-2'));
    for (let n = 0; n < 5; n += 1) expect((await post(url, BODY)).status).toBe(503);
    expect((await post(url, BODY)).status).toBe(200);
  });

  test('the order is started between the failed signal and the question why', async () => {
    await startOrder('raced-1');
    const client = new Client({
      connection: temporal().client.connection,
      namespace: temporal().namespace,
      // The signal goes where nothing runs, as it would have a moment before the start.
      interceptors: {
        workflow: [
          {
            signal: (input, next) =>
              next({ ...input, workflowExecution: { workflowId: orderWorkflowId('default', 'not-yet') } }),
          },
        ],
      },
    });
    const receiver = await runReceiver(createSignalOrder(client));
    expect((await post(receiver.urlOf(targetOf('raced-1')), BODY)).status).toBe(503);
  });

  test('Temporal is cut off; the next callback is delivered once it is back', async () => {
    const order = await startOrder('cut-1');
    const line = await openCuttableLine(temporal().address);
    const connection = await Connection.connect({ address: line.address });
    const receiver = await runReceiver(createSignalOrder(new Client({ connection, namespace: temporal().namespace })));
    const url = receiver.urlOf(targetOf('cut-1'));
    line.cut();
    expect((await within(2_000, post(url, BODY)))?.status).toBe(503);
    line.heal();
    await expect.poll(async () => (await post(url, BODY)).status, { timeout: 60_000 }).toBe(200);
    expect(await endOrder(order)).toContainEqual(HINT);
  });
});

/** A TCP line to `address` that can be cut (connections dropped, new ones too) and healed. */
async function openCuttableLine(address: string): Promise<{ address: string; cut(): void; heal(): void }> {
  const { hostname, port } = new URL(`tcp://${address}`);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(Number(port), hostname);
    for (const [from, to] of [[near, far] as const, [far, near] as const]) {
      sockets.add(from.on('error', () => undefined).on('close', () => to.destroy()));
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const dropAll = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  onTestFinished(() => {
    dropAll();
    server.close();
  });
  const own = server.address();
  if (own === null || typeof own === 'string') throw new Error('no port');
  return {
    address: `127.0.0.1:${own.port}`,
    cut: () => {
      isCut = true;
      dropAll();
    },
    heal: () => {
      isCut = false;
    },
  };
}
