import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { PaymentOrders } from '../../src/client.js';
import { deliveryWorkflowId, ORDERS_TASK_QUEUE } from '../../src/contract/names.js';
import { startEventReceiver, status } from '../support/event-receiver.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { runStarterWith } from '../support/run-starter.js';

let shop: Awaited<ReturnType<typeof startEventReceiver>>;
let down: Awaited<ReturnType<typeof startEventReceiver>>;
let lab: Lab;
beforeAll(async () => {
  shop = await startEventReceiver('shop');
  down = await startEventReceiver('down', status(503));
  lab = await openLab({ receivers: [{ ...shop.config, kinds: ['order.ended'] }, down.config], callbacks: false });
});
afterAll(async () => {
  await lab?.close();
  await shop?.close();
  await down?.close();
});

const starter = async (...args: string[]) => {
  const { code, stdout, stderr } = await runStarterWith(
    async () => new PaymentOrders(lab.temporal.client),
    ['event', ...args, '--json'],
  );
  return { code, json: JSON.parse(stdout || stderr) };
};

describe.concurrent('event test', () => {
  test('sends one event, whatever kinds the receiver has chosen', async () => {
    expect(await starter('test', 'shop')).toEqual({ code: 0, json: { receiver: 'shop', delivered: true } });
    expect(shop.received.map(({ event }) => event.type)).toEqual(['test']);
  });

  test.for([
    ['down', 'not delivered: HTTP 503'],
    ['shpo', 'no worker has the receiver shpo in its EVENTS_FILE'],
  ] as const)('says why %s got none', async ([name, problem]) => {
    expect(await starter('test', name)).toEqual({ code: 1, json: { receiver: name, delivered: false, problem } });
  });

  test('refuses what is no name', async () => {
    expect(await starter('test', 'https://shop.example')).toMatchObject({ code: 2 });
  });
});

test('event list shows what was not delivered, and event send sends it again', async () => {
  const id = deliveryWorkflowId('order:default:o-1');
  // One that the activity refuses for good, because three days are long.
  const refused = { id: 'run.1', type: 'order.ended', timestamp: 'never', data: { account: 'default', sequence: 1 } };
  await lab.temporal.client.workflow.start('deliverEvents', {
    workflowId: id,
    taskQueue: ORDERS_TASK_QUEUE,
    args: [{ receivers: [{ name: 'shop' }], events: [refused] }],
  });
  const listed =
    (...args: string[]) =>
    async () =>
      (await starter('list', ...args)).json.deliveries;
  await vi.waitFor(async () => expect(await listed()()).toMatchObject([{ id, since: expect.any(String) }]), 60_000);
  expect(await listed('--account', 'other')()).toEqual([]);
  const failures = async () => {
    const { events } = await lab.temporal.client.workflow.getHandle(id).fetchHistory();
    return events?.filter((event) => event.activityTaskFailedEventAttributes).length;
  };
  expect(await failures()).toBe(1);
  expect(await starter('send', id)).toEqual({ code: 0, json: { id, sent: true } });
  await vi.waitFor(async () => expect(await failures()).toBe(2), 60_000);
  expect(await starter('send', 'order:default:o-1')).toMatchObject({ code: 2 });
  expect(await starter('send', deliveryWorkflowId('order:default:gone'))).toMatchObject({ code: 2 });
});

test('event feed shows each order that ended, and after its cursor only later ones', async () => {
  const pay = async () => {
    const id = newOrderId('feed');
    await (await lab.orders.start('withdraw', orderInput('withdraw', id))).result();
    return id;
  };
  const seen: string[] = [];
  let cursor: string | undefined;
  const read = async () => {
    const { code, json } = await starter('feed', ...(cursor === undefined ? [] : ['--after', cursor]));
    expect(code).toBe(0);
    seen.push(...json.orders.map(({ orderId }: { orderId: string }) => orderId));
    cursor = json.cursor;
    return seen;
  };
  const first = await pay();
  await expect.poll(read, { timeout: 60_000 }).toContain(first);
  const before = seen.length;
  const second = await pay();
  await expect.poll(read, { timeout: 60_000 }).toContain(second);
  expect(seen.slice(before)).not.toContain(first);
  const connect = async () => new PaymentOrders(lab.temporal.client);
  const { stdout } = await runStarterWith(connect, ['event', 'feed', '--account', 'default']);
  expect(stdout).toContain(second);
  expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^cursor: \S+$/);
  expect(await starter('feed', '--after', 'x')).toMatchObject({ code: 2 });
});
