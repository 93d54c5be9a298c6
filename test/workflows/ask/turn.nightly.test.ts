import { expect, test } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { DEPOSIT_ADDRESS_WORKFLOW, ORDERS_TASK_QUEUE } from '../../../src/contract/names.js';
import { orderInput } from '../../support/inputs.js';
import { accountWith, newOrderId, useLab } from '../../support/lab.js';

/** Instead of 15 min. */
const ATTENTION_AFTER_MS = 2_000;
const WAIT = { timeout: 60_000, interval: 200 };

/** A create takes four seconds of it, so that a dozen wait far longer than the time after which a person is asked. */
const SLOW = 0.5;
const ORDERS = 12;

/** What a quarter of an hour in line costs an order that was started: the limit, the question for its place, and the queue again. */
const EVENTS_IN_LINE = 16;

const MY_TURN = expect.stringMatching(
  /, and for its turn: a worker of the account default makes 0\.\d+ requests\/s and takes (about \d+ other tasks first(, for about \d+ min)?|it next)$/,
);

const lab = useLab({
  workers: false,
  attentionAfterMs: ATTENTION_AFTER_MS,
  sandbox: { settings: { callbacks: { enabled: false } } },
});

const serveSlowly = () => lab.replaceWorkers(accountWith(lab, { requestsPerSecond: SLOW }));

const serveAnother = () => lab.replaceWorkers(accountWith(lab, { name: 'other' }));

const startSome = (label: string, count: number): Promise<OrderHandle[]> =>
  Promise.all(
    Array.from({ length: count }, () => lab.orders.start('withdraw', orderInput('withdraw', newOrderId(label)))),
  );

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const statesOf = (handles: readonly OrderHandle[]) => Promise.all(handles.map((handle) => handle.state()));

const cancelAll = (handles: readonly OrderHandle[]) =>
  Promise.all(handles.map((handle) => handle.cancel().catch(() => undefined)));

test('orders that a low limit holds up show their turn, and none asks for a person', async () => {
  await serveSlowly();
  const handles = await startSome('held-up', ORDERS);
  await pause(6 * ATTENTION_AFTER_MS);
  const states = await statesOf(handles);
  expect(states.flatMap(({ attention }) => attention ?? [])).toEqual([]);
  const waiting = states.filter(({ phase }) => phase === 'creating');
  expect(waiting.length).toBeGreaterThan(ORDERS / 2);
  const inLine = waiting.filter(({ waitingFor }) => waitingFor.includes('its turn'));
  expect(inLine.length).toBeGreaterThanOrEqual(ORDERS / 2);
  for (const { waitingFor } of inLine) expect(waitingFor).toEqual(MY_TURN);
  expect(inLine.filter(({ waitingFor }) => /takes about [1-9]/.test(waitingFor)).length).toBeGreaterThan(2);
  const last = handles.at(-1) as OrderHandle;
  expect(await lab.events(last.orderId)).toBeLessThanOrEqual(EVENTS_IN_LINE);
  await cancelAll(handles);
});

test('orders whose worker came back too late take the call for a person back while they wait for their turn', async () => {
  await serveAnother();
  const handles = await startSome('came-back', ORDERS);
  const codes = async () => (await statesOf(handles)).map(({ attention }) => attention?.code);
  await expect.poll(codes, WAIT).toEqual(handles.map(() => 'account-not-served'));
  await serveSlowly();
  await expect.poll(async () => (await codes()).filter(Boolean), WAIT).toEqual([]);
  const creating = (await statesOf(handles)).filter(({ phase }) => phase === 'creating');
  expect(creating.length).toBeGreaterThan(2);
  expect(creating.some(({ waitingFor }) => waitingFor.includes('its turn'))).toBe(true);
  await cancelAll(handles);
});

test('a deposit address that waits for its turn asks for nobody', async () => {
  await serveSlowly();
  const before = await startSome('before-address', ORDERS);
  const handle = await lab.temporal.client.workflow.start(DEPOSIT_ADDRESS_WORKFLOW, {
    taskQueue: ORDERS_TASK_QUEUE,
    workflowId: 'address:default:customer-in-line',
    args: [{ ref: 'customer-in-line', address: { currency: 'usdt', network: 'tron' } }],
  });
  await pause(3 * ATTENTION_AFTER_MS);
  const { searchAttributes, status } = await handle.describe();
  expect(status.name).toBe('RUNNING');
  expect(searchAttributes.PaymentNeedsAttention?.[0] ?? false).toBe(false);
  await cancelAll(before);
  await handle.terminate();
});
