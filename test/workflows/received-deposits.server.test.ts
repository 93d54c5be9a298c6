import { describe, expect, test, vi } from 'vitest';
import { receivedStartOptions, startReceived } from '../../src/client/start-options.js';
import { PaymentOrders } from '../../src/client.js';
import { ORDERS_TASK_QUEUE, RECEIVED_DEPOSIT_WORKFLOW, searchAttribute } from '../../src/contract/names.js';
import { orderInput } from '../support/inputs.js';
import { openLab } from '../support/lab.js';
import { runStarterWith } from '../support/run-starter.js';
import { decideNow, executions, parkedFor } from './compensation/parked-orders.fixture.js';
import { newAddress, receive, started, useAddresses } from './receipts.fixture.js';

// The followers wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 10 });

const PARTIAL = 'outcome=completed_partially fraction=0.4';

const lab = useAddresses();

const remainderAt = (orderUuid: string) =>
  lab.sandbox.orders().find(({ order }) => order.order_uuid === orderUuid)?.truth.unexchanged;

const describeRun = (workflowId: string) => lab.temporal.client.workflow.getHandle(workflowId).describe();

describe.concurrent('a receipt on a permanent address', () => {
  test.for(['deposit', 'deposit_exchange'] as const)(
    'is followed to its end as %s by its callback alone',
    async (type) => {
      const { orderUuid, handle } = receive(lab, type === 'deposit' ? lab.plain : lab.exchanging);
      const result = await (await started(handle)).result();
      expect(result).toMatchObject({
        outcome: 'completed',
        adopted: true,
        order: { order_uuid: orderUuid, order_type: type, status: 'completed' },
        compensation: { status: 'none' },
      });
      expect(await handle.final()).toMatchObject({ order_uuid: orderUuid });
    },
  );

  test('whose callback comes before it is final is looked up and goes on', async () => {
    const { orderUuid, handle } = receive(lab, lab.plain, 'after_ms=1000000');
    expect(await lab.sandbox.sendCallback(orderUuid)).toBe(200);
    expect(await handle.created()).toMatchObject({ order_uuid: orderUuid, status: 'processing' });
    expect(await handle.state()).toMatchObject({ phase: 'following', status: 'processing' });
    expect(await handle.isOpen()).toBe(true);
  });

  test('whose callback comes before the service shows it is waited for', async () => {
    const { handle } = receive(lab, lab.plain, 'after_ms=0 status=unseen status_times=2');
    expect(await (await started(handle)).result()).toMatchObject({ outcome: 'completed' });
  });

  test('is found by operators: in the list, by its uuid and by its currencies', async () => {
    const { orderUuid, handle } = receive(lab, lab.exchanging);
    await (await started(handle)).result();
    const { typedSearchAttributes: attributes } = await describeRun(handle.workflowId);
    expect(attributes.get(searchAttribute.orderUuid)).toBe(orderUuid);
    expect(attributes.get(searchAttribute.orderStatus)).toBe('completed');
    const listed = async () =>
      (await lab.orders.list({ limit: 1_000 })).orders.find((entry) => entry.orderId === orderUuid);
    const entry = { received: true, orderUuid, status: 'completed', currencyFrom: 'usdt', currencyTo: 'btc' };
    await vi.waitFor(async () => expect(await listed()).toMatchObject(entry), 10_000);
  });

  test.for(['generated', 'uuid', 'empty'] as const)('is compensated by its figures with %s order ids', async (mode) => {
    lab.sandbox.set({ receiptOrderId: mode });
    const { orderUuid, handle } = receive(lab, lab.exchanging, PARTIAL);
    const { remainder, compensation } = await (await started(handle)).result();
    expect(remainder).toEqual([{ kind: 'unexchanged', currency: 'usdt', amount: remainderAt(orderUuid) }]);
    // No policy comes with a callback: what the table says for such an order.
    expect(compensation).toMatchObject({ policy: 'report', status: 'none' });
  });
});

describe.concurrent('what is left of a partial exchange', () => {
  const startWith = async (compensation: 'finish' | 'ask') => {
    const { orderUuid, handle } = receive(lab, lab.exchanging, `${PARTIAL} callback=drop`);
    const input = { ref: lab.exchanging.ref, order_uuid: orderUuid, compensation };
    expect(await startReceived(lab.temporal.client, input)).toBe(true);
    return { orderUuid, handle, input };
  };

  test('is finished by policy, once, by a follow-up named after the order_uuid', async () => {
    const { orderUuid, handle, input } = await startWith('finish');
    const followUp = `${orderUuid}.r1`;
    expect(await handle.result()).toMatchObject({
      compensation: { policy: 'finish', status: 'done', order_id: followUp },
    });
    const child = lab.sandbox.orders().find(({ order }) => order.user_order_id === followUp);
    expect(child?.order).toMatchObject({
      order_type: 'exchange',
      expected_amount_from: remainderAt(orderUuid),
      description: `Follow-up of ${orderUuid}`,
    });
    // A second run for the same receipt finds the follow-up there and sends nothing.
    const again = await lab.temporal.client.workflow.start(RECEIVED_DEPOSIT_WORKFLOW, {
      ...receivedStartOptions(input),
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
    expect(await again.result()).toMatchObject({ compensation: { status: 'done', order_id: followUp } });
    expect(executions(lab, followUp)).toBe(1);
  });

  test('is finished by a decision on the parked follower', async () => {
    const { orderUuid, handle } = await startWith('ask');
    await parkedFor(handle);
    await decideNow(handle, 'finish');
    const result = await handle.result();
    expect(result).toMatchObject({ compensation: { status: 'done', order_id: `${orderUuid}.r1` } });
    expect(result.decisions).toMatchObject([{ action: 'finish', by: 'ann' }]);
    expect(executions(lab, `${orderUuid}.r1`)).toBe(1);
  });

  test('is not touched by a follow-up id that somebody starts by hand', async () => {
    const { orderUuid } = receive(lab, lab.exchanging, PARTIAL);
    const input = orderInput('exchange', `${orderUuid}.r1`);
    const raw = await lab.temporal.client.workflow.start('exchange', {
      workflowId: `order:default:${orderUuid}.r1`,
      taskQueue: ORDERS_TASK_QUEUE,
      args: [input],
    });
    await expect(raw.result()).rejects.toMatchObject({ cause: { type: 'InvalidOrder' } });
  });
});

test('the command line names it by its order_uuid', async () => {
  const { orderUuid, handle } = receive(lab, lab.exchanging, `${PARTIAL} callback=drop`);
  await startReceived(lab.temporal.client, { ref: lab.exchanging.ref, order_uuid: orderUuid, compensation: 'ask' });
  await parkedFor(handle);
  const starter = async (...args: string[]) => {
    const connect = async () => new PaymentOrders(lab.temporal.client);
    const { code: exitCode, stdout } = await runStarterWith(connect, ['order', ...args, '--received', '--json']);
    return { exitCode, json: JSON.parse(stdout) };
  };
  const shown = await starter('show', orderUuid);
  expect(shown).toMatchObject({
    exitCode: 4,
    json: { orderId: orderUuid, workflowId: `received:default:${orderUuid}` },
  });
  const accept = shown.json.decide.find((line: string) => line.includes('accept'));
  expect(accept).toMatch(`payment-orders order decide ${orderUuid} --received --action accept`);
  const { revision, runId } = shown.json.state;
  const decision = [
    '--action',
    'accept',
    '--by',
    'ann',
    '--reason',
    'as agreed',
    '--revision',
    `${revision}`,
    '--run',
    runId,
  ];
  expect(await starter('decide', orderUuid, ...decision)).toMatchObject({ exitCode: 0 });
  const ended = await starter('wait', orderUuid);
  expect(ended.json.result).toMatchObject({ outcome: 'completed_partially', decisions: [{ action: 'accept' }] });
});

describe.concurrent('a start by hand', () => {
  const raw = (workflowId: string, argument: unknown) =>
    lab.temporal.client.workflow.start(RECEIVED_DEPOSIT_WORKFLOW, {
      workflowId,
      taskQueue: ORDERS_TASK_QUEUE,
      args: [argument],
    });

  test('without search attributes is followed and found', async () => {
    const { orderUuid } = receive(lab, lab.plain, 'callback=drop');
    const run = await raw(`received:default:${orderUuid}`, { ref: lab.plain.ref, order_uuid: orderUuid });
    expect(await run.result()).toMatchObject({ outcome: 'completed' });
    const { typedSearchAttributes: attributes } = await describeRun(run.workflowId);
    expect(attributes.get(searchAttribute.account)).toBe('default');
    expect(attributes.get(searchAttribute.currencyFrom)).toBe('usdt');
  });

  test.for([
    ['no argument', 'x-0', undefined, 'input'],
    ['text', 'x-1', 'garbage', 'input'],
    ['no order_uuid', 'x-2', { ref: 'r' }, 'order_uuid'],
    ['another workflow id', 'x-3', { ref: 'r', order_uuid: 'y-3' }, 'order_uuid'],
    ['a bad account', 'x-4', { account: 'EU', ref: 'r', order_uuid: 'x-4' }, 'account'],
    ['a bad reference', 'x-5', { ref: 'a b', order_uuid: 'x-5' }, 'ref'],
    ['no reference', 'x-6', { order_uuid: 'x-6' }, 'ref'],
    ['an unknown field', 'x-7', { ref: 'r', order_uuid: 'x-7', wallet: '4111111111111111' }, 'wallet'],
    ['a refund to nowhere', 'x-8', { ref: 'r', order_uuid: 'x-8', compensation: 'revert' }, 'revertTo'],
  ] as const)('with %s fails as InvalidOrder that names the field', async ([, id, argument, field]) => {
    const run = await raw(`received:default:${id}`, argument);
    const failure = await run.result().catch((error: { cause?: unknown }) => error.cause);
    expect(failure).toMatchObject({ type: 'InvalidOrder', message: expect.stringContaining(field) });
    expect(String(failure)).not.toContain('4111111111111111');
  });
});

test('a follower goes on after its worker was away', async () => {
  const other = await openLab();
  try {
    const address = await newAddress(other);
    const { orderUuid, handle } = receive(other, address, 'after_ms=500');
    await other.sandbox.sendCallback(orderUuid);
    await handle.created();
    await other.stopWorkers();
    const late = receive(other, address, 'after_ms=0');
    await started(late.handle);
    await other.startWorkers();
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(await late.handle.result()).toMatchObject({ outcome: 'completed' });
  } finally {
    await other.close();
  }
}, 60_000);
