import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ORDERS_TASK_QUEUE, orderWorkflowId } from '../../../src/contract/names.js';
import { orderInput } from '../../support/inputs.js';
import { accountWith, type Lab, newOrderId, openLab, useLab } from '../../support/lab.js';
import { runStarterWith } from '../../support/run-starter.js';

const lab = useLab({ workers: false });
beforeAll(async () => {
  await lab.startWorkers(accountWith(lab, { formatChecks: 'warn' }));
});

/** A payout that breaks a rule of ours: the card's check digit is wrong. The sandbox takes any. */
const oddCard = (orderId: string) => {
  const input = orderInput('withdraw', orderId);
  return { ...input, order: { ...input.order, wallet: '4111111111111112' } };
};

const NOTE = 'order.wallet: ****1112: not a card number: its check digit is wrong';

describe('with formatChecks: warn', () => {
  test('an order that breaks a rule of ours is paid, and says so', async () => {
    const orderId = newOrderId('odd');
    const { handle } = await lab.orders.create('withdraw', oddCard(orderId), { formatChecks: 'warn' });
    expect(await handle.result()).toMatchObject({ outcome: 'completed', notes: [NOTE] });
    expect(lab.sandbox.stats().executedByOrderId[orderId]).toBe(1);
  });

  test('so is one that the starter starts', async () => {
    const { code, stdout } = await runStarterWith(
      async () => lab.orders,
      ['order', 'start', 'withdraw', '-', '--wait', '--format-checks', 'warn'],
      JSON.stringify(oddCard(newOrderId('odd'))),
    );
    expect(stdout).toContain('not checked');
    expect(code).toBe(0);
  });

  test('rows of a batch are planned with a warning', async () => {
    const rows = [oddCard(newOrderId('row')).order];
    const plan = await lab.orders.batches.plan({ rows, startedBy: 'ann' }, { formatChecks: 'warn' });
    expect(plan.warnings).toContainEqual({
      rows: [1],
      reason: expect.stringMatching(/check digit is wrong; sent all the same/),
    });
  });

  test('what is wrong in any case is refused by the client', async () => {
    const { order } = oddCard(newOrderId('odd'));
    const start = lab.orders.start('withdraw', { order: { ...order, amount: '-1' } }, { formatChecks: 'warn' });
    await expect(start).rejects.toMatchObject({ fields: [{ field: 'order.amount' }] });
  });
});

test('an order id that is a card number is not repeated in a failure', async () => {
  const handle = await lab.orders.client.workflow.start('withdraw', {
    taskQueue: ORDERS_TASK_QUEUE,
    workflowId: orderWorkflowId('default', newOrderId('other')),
    args: [orderInput('withdraw', '4242424242424242')],
  });
  const failure = await handle.result().catch((error: { cause: { message: string } }) => error.cause);
  expect(JSON.stringify(failure)).toContain('order.order_id: must not hold a card number');
  expect(`${(failure as Error).message} ${JSON.stringify(failure)}`).not.toContain('4242424242424242');
});

describe('by default', () => {
  let strict: Lab;
  beforeAll(async () => {
    strict = await openLab();
  });
  afterAll(() => strict?.close());

  test('the client refuses, and so does the worker whatever the client is', async () => {
    const orderId = newOrderId('strict');
    await expect(strict.orders.start('withdraw', oddCard(orderId))).rejects.toMatchObject({
      name: 'InvalidInputError',
    });
    const handle = await strict.orders.client.workflow.start('withdraw', {
      taskQueue: ORDERS_TASK_QUEUE,
      workflowId: orderWorkflowId('default', orderId),
      args: [oddCard(orderId)],
    });
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'InvalidOrder' } });
    expect(strict.sandbox.stats().createsByOrderId[orderId]).toBeUndefined();
  });
});
