import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkflowStartOptions } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findTemporalCli } from '../../../scripts/temporal/find-cli.js';
import { newFolder } from '../../support/batch-files.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';

const folder = newFolder(afterAll);
const lab = useLab({ callbacks: false });
let cli: string;
beforeAll(async () => {
  cli = await findTemporalCli(() => undefined);
});

/** The plain command line tool, as somebody would use it who has never seen this project's code. */
const temporal = (...args: string[]) =>
  execa(cli, [...args, '--address', lab.temporal.address, '--namespace', lab.temporal.namespace]);

/** `temporal workflow start --type withdraw …`; without `input` the workflow gets no argument at all. */
async function rawStart(workflowId: string, input: string | undefined, type = 'withdraw'): Promise<void> {
  const file = join(folder, `${encodeURIComponent(workflowId)}.json`);
  // From a file: a deeply nested input is longer than a command line may be.
  if (input !== undefined) await writeFile(file, input);
  // biome-ignore format: flags read best in pairs
  await temporal(
    'workflow', 'start', '--type', type, '--task-queue', 'payment-orders', '--workflow-id', workflowId,
    '--id-reuse-policy', 'RejectDuplicate', '--id-conflict-policy', 'UseExisting',
    ...(input === undefined ? [] : ['--input-file', file]),
  );
}

/** Why workflow tasks failed. A message that arrives while a task completes repeats that task, which is no failure. */
async function failedTasks(workflowId: string) {
  const { events } = await lab.temporal.client.workflow.getHandle(workflowId).fetchHistory();
  const failures = (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) => failed ?? []);
  return failures.map(({ failure }) => failure?.message).filter((message) => message !== 'UnhandledCommand');
}

describe('an order started by the plain command line', () => {
  test('completes, and carries every search attribute at its end', async () => {
    const orderId = newOrderId('raw');
    const workflowId = `order:default:${orderId}`;
    await rawStart(workflowId, JSON.stringify(orderInput('withdraw', orderId, { batchId: 'b-1' })));
    const handle = lab.temporal.client.workflow.getHandle(workflowId);
    expect(await handle.result()).toMatchObject({ outcome: 'completed', order: { user_order_id: orderId } });
    const { searchAttributes } = await handle.describe();
    const sent = lab.sandbox.orders().filter(({ order }) => order.user_order_id === orderId);
    expect(searchAttributes).toMatchObject({
      PaymentAccount: ['default'],
      PaymentOrderStatus: ['completed'],
      PaymentOrderUuid: sent.map(({ order }) => order.order_uuid),
      PaymentBatchId: ['b-1'],
      PaymentCurrencyFrom: ['usd'],
      PaymentCurrencyTo: ['usd'],
      PaymentNeedsAttention: [false],
    });
    expect(lab.sandbox.stats().executedByOrderId[orderId]).toBe(1);
  });
});

/** A valid input of this order id, changed. */
const changed = (orderId: string, order: Record<string, unknown>, more: Record<string, unknown> = {}): string => {
  const input = orderInput('withdraw', orderId);
  return JSON.stringify({ ...input, order: { ...input.order, ...order }, ...more });
};

/** The command line tool itself refuses more than 10,000. */
const NESTING = 9_000;

/** Values of types that a field does not have, and fields that no order has. */
const MISTYPED = {
  ...{ amount: 12.5, currency: ['usd'], network: {}, wallet: 4111, delay_order_for_minutes: 'soon' },
  ...{ amout: '1', callback_url: 'https://a.example' },
};
const LONG = 'u'.repeat(3_000);

/** [title, workflow id, input, the fields that must be named]. */
const GARBAGE: [string, string, string | undefined, ...string[]][] = [
  ['no input', 'order:default:g-none', undefined, 'input'],
  ['null', 'order:default:g-null', 'null', 'input'],
  ['a list', 'order:default:g-list', '[]', 'order'],
  ['order null', 'order:default:g-order-null', '{"order":null}', 'order'],
  ['order as list', 'order:default:g-order-list', '{"order":[]}', 'order.order_id'],
  ['an order id as number', 'order:default:7', changed('x', { order_id: 7 }), 'order.order_id'],
  ['the id of another order', 'order:default:g-other', changed('g-this', {}), 'order.order_id'],
  ['the id of another account', 'order:eu:g-account', changed('g-account', {}), 'order.order_id'],
  ['an id that belongs to follow-ups', 'order:default:g-follow.r1', changed('g-follow.r1', {}), 'order.order_id'],
  ['an account out of format', 'order:EU Bank:g-eu', changed('g-eu', {}, { account: 'EU Bank' }), 'account'],
  ['an account as object', 'order:default:g-acc', changed('g-acc', {}, { account: {} }), 'account'],
  [
    'texts of 3,000 characters',
    'order:default:g-long',
    changed('g-long', { currency: LONG }, { batchId: LONG }),
    ...['order.currency', 'batchId'],
  ],
  [
    'fields of other types, and unknown ones',
    'order:default:g-types',
    changed('g-types', MISTYPED, { batchId: {}, retries: 3 }),
    ...[...Object.keys(MISTYPED).map((name) => `order.${name}`), 'batchId', 'retries'],
  ],
  [
    'a deeply nested field',
    'order:default:g-deep',
    changed('g-deep', { description: 'DEEP' }).replace('"DEEP"', `${'['.repeat(NESTING)}${']'.repeat(NESTING)}`),
    'input',
  ],
];

/** A valid input of this order id in which one piece of text is another one. */
const retyped = (orderId: string, from: string, to: string): string => {
  const text = changed(orderId, { wallet: '4111111111111111' });
  expect(text).toContain(from);
  return text.replace(from, to);
};

const WALLET = '"wallet":"4111111111111111"';

/** [what is given twice, order id, input, the key that must be named]. */
const TWICE: [string, string, string, string][] = [
  ['a wallet', 'g-2-wallet', retyped('g-2-wallet', WALLET, `${WALLET}, "wallet" : "5555555555554444"`), 'wallet'],
  ['a wallet, escaped', 'g-2-esc', retyped('g-2-esc', WALLET, `"wall\\u0065t":"\\"}:",${WALLET}`), 'wallet'],
  ['an amount', 'g-2-amount', retyped('g-2-amount', WALLET, `"amount":"1.00",${WALLET},"amount":"100.00"`), 'amount'],
  ['the order', 'g-2-order', retyped('g-2-order', '{"order"', '{"order":{},"order"'), 'order'],
  ['an option', 'g-2-option', retyped('g-2-option', '{"order"', '{"resend":"never","resend":"once","order"'), 'resend'],
  [
    'a detail',
    'g-2-detail',
    retyped('g-2-detail', WALLET, `${WALLET},"wallet_details":{"recipient_name":"A","recipient_name":"B"}`),
    'recipient_name',
  ],
];
for (const [what, orderId, input, key] of TWICE) {
  GARBAGE.push([`${what} given twice`, `order:default:${orderId}`, input, key]);
}

test('a field that is given twice with one value is no mistake', async () => {
  const workflowId = 'order:default:same-twice';
  await rawStart(workflowId, retyped('same-twice', WALLET, `${WALLET},${WALLET}`));
  const result = await lab.temporal.client.workflow.getHandle(workflowId).result();
  expect(result).toMatchObject({ outcome: 'completed' });
});

const ROW = '"order_id":"g-3-row","currency":"usd","network":"card","amount":"1.00","wallet":"4111111111111111"';

test.for([
  ['bulkWithdraw', 'bulk:default:g-3', `{"batchId":"g-3","rows":[{${ROW},"amount":"100.00"}]}`, 'amount'],
  [
    'depositAddress',
    'address:default:g-3',
    '{"ref":"g-3","currency":"usd","currency":"btc","network":"x"}',
    'currency',
  ],
  ['reconcile', 'reconcile:default', '{"account":"default","recover":false,"recover":true}', 'recover'],
  ['serviceRead', 'read:default:g-3', '{"account":"default","read":"rates","read":"balances"}', 'read'],
] as const)('%s with a field given twice fails, and names the field', async ([type, workflowId, input, key]) => {
  const sent = () => lab.sandbox.requests().filter(({ path }) => /create/.test(path)).length;
  const before = sent();
  await rawStart(workflowId, input, type);
  const error = await lab.temporal.client.workflow
    .getHandle(workflowId)
    .result()
    .catch(({ cause }: { cause: unknown }) => cause);
  expect(error).toBeInstanceOf(ApplicationFailure);
  const named = new RegExp(`${key}(: is given twice with different values| \\(given twice\\))`);
  expect(error).toMatchObject({ message: expect.stringMatching(named) });
  expect(await failedTasks(workflowId)).toEqual([]);
  expect(sent()).toBe(before);
});

describe('garbage started by the plain command line', () => {
  let requestsBefore: number;
  const sentRequests = () => lab.sandbox.requests().filter(({ path }) => !path.endsWith('/rates')).length;
  beforeAll(async () => {
    requestsBefore = sentRequests();
    await Promise.all(GARBAGE.map(([, workflowId, input]) => rawStart(workflowId, input)));
  });

  test.for(GARBAGE)('%s fails as InvalidOrder that names each bad field', async ([, workflowId, , ...fields]) => {
    const handle = lab.temporal.client.workflow.getHandle(workflowId);
    const failed = await vi.waitFor(
      async () => {
        const description = await handle.describe();
        expect(description.status.name).toBe('FAILED');
        return description;
      },
      { timeout: 60_000 },
    );
    const error = await handle.result().catch(({ cause }: { cause: unknown }) => cause);
    expect(error).toBeInstanceOf(ApplicationFailure);
    expect(error).toMatchObject({ type: 'InvalidOrder', nonRetryable: true });
    const [errors] = (error as ApplicationFailure).details as { field: string; reason: string }[][];
    expect(errors?.map((bad) => bad.field)).toEqual(expect.arrayContaining(fields));
    for (const field of fields) expect((error as Error).message).toContain(`${field}: `);
    expect(failed.searchAttributes.PaymentOrderStatus).toEqual(['none']);
    expect(await failedTasks(workflowId)).toEqual([]);
  });

  test('sends nothing', () => {
    expect(sentRequests()).toBe(requestsBefore);
  });
});

test('a decision with a field given twice is refused, and names the field', async () => {
  const orderId = newOrderId('raw-decision');
  const handle = await lab.orders.start('deposit', orderInput('deposit', orderId, { marker: 'after_ms=60000' }));
  const decision = '{"action":"accept","action":"refuse","by":"Ann","reason":"seen","revision":1}';
  const update = temporal(
    ...['workflow', 'update', 'execute', '--workflow-id', handle.workflowId, '--name', 'decide', '--input', decision],
  );
  await expect(update).rejects.toThrow('action (given twice)');
  await lab.temporal.client.workflow.getHandle(handle.workflowId).terminate();
});

describe('a start that would lose an order', () => {
  test.for<[string, Partial<WorkflowStartOptions>]>([
    ['with an execution time-out', { workflowExecutionTimeout: '1h' }],
    ['with a run time-out', { workflowRunTimeout: '1h' }],
    ['as a cron', { cronSchedule: '@every 1s' }],
  ])('%s is refused as InvalidOrder, and nothing is sent', async ([, options]) => {
    const input = orderInput('withdraw', newOrderId('timed'));
    const handle = await lab.temporal.client.workflow.start('withdraw', {
      ...options,
      taskQueue: 'payment-orders',
      workflowId: `order:default:${input.order.order_id}`,
      args: [input],
    });
    const { workflow } = lab.temporal.client;
    const first = workflow.getHandle(handle.workflowId, handle.firstExecutionRunId);
    const closed = async () => expect((await first.describe()).status.name).not.toBe('RUNNING');
    await vi.waitFor(closed, { timeout: 60_000, interval: 100 });
    const end = (await first.fetchHistory()).events?.at(-1);
    // A run of a cron ends by starting the next one.
    const { failure } =
      end?.workflowExecutionFailedEventAttributes ?? end?.workflowExecutionContinuedAsNewEventAttributes ?? {};
    expect(failure).toMatchObject({
      message: expect.stringContaining('workflow: must be started without execution or run time-out and without cron'),
      applicationFailureInfo: { type: 'InvalidOrder' },
    });
    expect(lab.requestsOf(input.order.order_id)).toEqual([]);
    // The next run of a cron may be waiting; the others have ended.
    await workflow
      .getHandle(handle.workflowId)
      .terminate()
      .catch(() => undefined);
  });

  test('that names an earlier run is not refused as unsent', async () => {
    const orderId = newOrderId('wrong');
    const input = { ...orderInput('withdraw', orderId), sentUntil: new Date().toISOString() };
    const handle = await lab.temporal.client.workflow.start('withdraw', {
      taskQueue: 'payment-orders',
      workflowId: 'order:default:another',
      args: [input],
    });
    const error = await handle.result().catch(({ cause }: { cause: unknown }) => cause);
    expect(error).toMatchObject({ type: 'OrderUnresolved' });
    expect((error as Error).message).not.toMatch(/nothing was sent/i);
  });
});

describe('a signal that is garbage', () => {
  const open = async (label: string, afterMs = 2_500) => {
    const orderId = newOrderId(label);
    const input = orderInput('withdraw', orderId, { marker: `after_ms=${afterMs}` });
    const handle = await lab.orders.start('withdraw', input);
    await handle.created();
    return { handle, workflowId: handle.workflowId };
  };

  test('by the command line wakes the order up and does no harm', async () => {
    const { handle, workflowId } = await open('signalled', 8_000);
    for (const input of ['"garbage"', 'null', '[[]]', '{"order_uuid":{"a":1},"status":7}']) {
      await temporal('workflow', 'signal', '--workflow-id', workflowId, '--name', 'orderCallback', '--input', input);
    }
    await temporal('workflow', 'signal', '--workflow-id', workflowId, '--name', 'noSuchSignal', '--input', '1');
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(await failedTasks(workflowId)).toEqual([]);
  });

  test('that cannot be decoded does no harm either', async () => {
    const { handle, workflowId } = await open('undecodable');
    const { connection, options } = lab.temporal.client;
    await connection.workflowService.signalWorkflowExecution({
      namespace: options.namespace,
      workflowExecution: { workflowId },
      signalName: 'orderCallback',
      input: { payloads: [{ metadata: { encoding: Buffer.from('binary/zz') }, data: Buffer.from([0xff, 0x00]) }] },
    });
    expect(await handle.result({ timeoutMs: 15_000 })).toMatchObject({ outcome: 'completed' });
    expect(await failedTasks(workflowId)).toEqual([]);
  });
});

describe('an input that only raw gRPC can send', () => {
  const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  test.for([
    ['is no JSON', 'g-no-json', '{"order":'],
    ['is nested 100,000 deep', 'g-deepest', `{"order":{"order_id":"g-deepest","description":${nested}}}`],
  ] as const)('fails as InvalidOrder when it %s', async ([, orderId, text]) => {
    const { connection, options } = lab.temporal.client;
    const workflowId = `order:default:${orderId}`;
    await connection.workflowService.startWorkflowExecution({
      namespace: options.namespace,
      requestId: workflowId,
      workflowId,
      workflowType: { name: 'withdraw' },
      taskQueue: { name: 'payment-orders' },
      input: { payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(text) }] },
    });
    const handle = lab.temporal.client.workflow.getHandle(workflowId);
    const status = async () => (await handle.describe()).status.name;
    await vi.waitFor(async () => expect(await status()).toBe('FAILED'), { timeout: 60_000, interval: 200 });
    expect(await failedTasks(workflowId)).toEqual([]);
  });
});
