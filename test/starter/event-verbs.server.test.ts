import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { PaymentOrders } from '../../src/client.js';
import {
  deliveryWorkflowId,
  goneReceiverWorkflowId,
  ORDERS_TASK_QUEUE,
  searchAttribute,
} from '../../src/contract/names.js';
import { startEventReceiver, status } from '../support/event-receiver.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { runStarterWith } from '../support/run-starter.js';

let shop: Awaited<ReturnType<typeof startEventReceiver>>;
let down: Awaited<ReturnType<typeof startEventReceiver>>;
let gone: Awaited<ReturnType<typeof startEventReceiver>>;
let late: Awaited<ReturnType<typeof startEventReceiver>>;
let lab: Lab;
beforeAll(async () => {
  shop = await startEventReceiver('shop');
  down = await startEventReceiver('down', status(503));
  gone = await startEventReceiver('gone', status(410));
  late = await startEventReceiver('late', status(503));
  const receivers = [{ ...shop.config, kinds: ['order.ended' as const] }, down.config, gone.config, late.config];
  lab = await openLab({ receivers, callbacks: false });
});
afterAll(async () => {
  await lab?.close();
  await shop?.close();
  await down?.close();
  await gone?.close();
  await late?.close();
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
    ['gone', 'not delivered: HTTP 410, so the receiver wants no more events'],
    ['shpo', 'no worker has the receiver shpo in its EVENTS_FILE, or other tests wait for it'],
  ] as const)('says why %s got none', async ([name, problem]) => {
    expect(await starter('test', name)).toEqual({ code: 1, json: { receiver: name, delivered: false, problem } });
  });

  test('refuses what is no name', async () => {
    expect(await starter('test', 'https://shop.example')).toMatchObject({ code: 2 });
  });
});

/** Starts a delivery of three events to a receiver. */
async function startDelivery(receiver: string, name: string): Promise<string> {
  const workflowId = deliveryWorkflowId(`order:${name}:o-1`);
  const event = (n: number) => ({
    ...{ id: `run.${n}`, type: 'order.final', timestamp: new Date().toISOString() },
    data: { account: name, sequence: n },
  });
  await lab.temporal.client.workflow.start('deliverEvents', {
    ...{ workflowId, taskQueue: ORDERS_TASK_QUEUE },
    args: [{ receivers: [{ name: receiver }], events: [event(1), event(2), event(3)] }],
    typedSearchAttributes: [{ key: searchAttribute.account, value: name }],
  });
  return workflowId;
}

test('event list shows what a receiver refuses from the first refusal on, and why', async () => {
  const id = await startDelivery('down', 'refusing');
  const shown = async () => (await starter('list', '--account', 'refusing')).json.deliveries;
  const refused = [{ receiver: 'down', attempts: expect.any(Number), failure: 'not delivered: HTTP 503' }];
  await expect.poll(shown, { timeout: 60_000 }).toEqual([{ id, account: 'refusing', refused }]);
  const connect = async () => new PaymentOrders(lab.temporal.client);
  const { stdout } = await runStarterWith(connect, ['event', 'list', '--account', 'refusing']);
  expect(stdout).toMatch(/down +not delivered: HTTP 503/);
  await lab.temporal.client.workflow.getHandle(id).terminate();
});

test('410 ends a receiver until a person sends: no other order asks it again, and event list names it', async () => {
  const id = await startDelivery('gone', 'over');
  const listed = async () => {
    const { deliveries } = (await starter('list', '--account', 'over')).json;
    return Object.fromEntries(deliveries.map((one: { id: string; refused: object[] }) => [one.id, one.refused]));
  };
  const refused = [{ receiver: 'gone', attempts: 1, failure: expect.stringContaining('HTTP 410') }];
  const own = goneReceiverWorkflowId('gone');
  await expect.poll(listed, { timeout: 60_000 }).toEqual({ [id]: refused, [own]: refused });
  // Neither are the events behind it sent, nor those of other orders.
  const sent = (account: string) =>
    gone.received.flatMap(({ event }) => (event.data.account === account ? [event.id] : []));
  const other = await startDelivery('gone', 'beside');
  const asks = async () => (await starter('list', '--account', 'beside')).json.deliveries;
  await expect.poll(asks, { timeout: 60_000 }).toMatchObject([{ id: other, since: expect.any(String), refused }]);
  expect([sent('over'), sent('beside')]).toEqual([['run.1'], []]);
  gone.answer = status(204);
  // One word for all that it held.
  expect(await starter('send', 'gone')).toEqual({ code: 0, json: { ids: [id, own, other], sent: true } });
  for (const held of ['over', 'beside'])
    await expect.poll(() => [...new Set(sent(held))], { timeout: 60_000 }).toEqual(['run.1', 'run.2', 'run.3']);
  // Then new orders are delivered, too.
  await expect.poll(listed, { timeout: 60_000 }).not.toHaveProperty([own]);
  await startDelivery('gone', 'later');
  await expect.poll(() => sent('later'), { timeout: 60_000 }).toEqual(['run.1', 'run.2', 'run.3']);
});

test('event send sends at once what was refused a moment ago, and to that receiver alone', async () => {
  const workflowId = deliveryWorkflowId('order:soon:o-1');
  const event = { id: 'soon.1', type: 'order.final', timestamp: new Date().toISOString() };
  await lab.temporal.client.workflow.start('deliverEvents', {
    ...{ workflowId, taskQueue: ORDERS_TASK_QUEUE },
    args: [
      {
        receivers: [{ name: 'late' }, { name: 'down' }],
        events: [{ ...event, data: { account: 'soon', sequence: 1 } }],
      },
    ],
  });
  const sentTo = ({ received }: typeof late) => received.filter(({ event: { id } }) => id === 'soon.1').length;
  // Two attempts, and the next one after ten seconds.
  await vi.waitFor(() => expect([sentTo(late), sentTo(down)]).toEqual([2, 2]), 60_000);
  late.answer = status(204);
  const beganMs = performance.now();
  expect(await starter('send', 'late')).toMatchObject({ code: 0, json: { ids: expect.arrayContaining([workflowId]) } });
  await vi.waitFor(() => expect(sentTo(late)).toBe(3), 60_000);
  expect(performance.now() - beganMs).toBeLessThan(3_000);
  expect(sentTo(down)).toBe(2);
  const { json } = await starter('list');
  const mine = json.deliveries.find(({ id }: { id: string }) => id === workflowId);
  expect(mine.refused).toMatchObject([
    { receiver: 'down', attempts: 2, next: expect.any(String), failure: 'not delivered: HTTP 503' },
  ]);
  await lab.temporal.client.workflow.getHandle(workflowId).terminate();
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
  const given = {
    id,
    since: expect.any(String),
    refused: [{ receiver: 'shop', attempts: 1, failure: expect.any(String) }],
  };
  await expect.poll(listed(), { timeout: 60_000 }).toContainEqual(expect.objectContaining(given));
  expect(await listed('--account', 'other')()).toEqual([]);
  const failures = async () => {
    const { events } = await lab.temporal.client.workflow.getHandle(id).fetchHistory();
    return events?.filter((event) => event.activityTaskFailedEventAttributes).length;
  };
  expect(await failures()).toBe(1);
  expect(await starter('send', id)).toEqual({ code: 0, json: { ids: [id], sent: true } });
  await vi.waitFor(async () => expect(await failures()).toBe(2), 60_000);
  for (const none of ['order:default:o-1', 'nobody']) expect(await starter('send', none)).toMatchObject({ code: 2 });
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
