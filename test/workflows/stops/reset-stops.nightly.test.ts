import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ORDERS_TASK_QUEUE } from '../../../src/contract/names.js';
import { resetTo, resettableEvents, runOf } from '../../reliability/reset.fixture.js';
import { KEYS, testApprovers } from '../../support/approvers.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, openLab, useLab } from '../../support/lab.js';

const ANN = { by: 'Ann Smith', reason: 'is the payee right?' };
const BOB = { by: 'Bob Jones', reason: 'asked the payee' };

const LONG = { timeout: 240_000 };

/** A stop works within 2 s. */
const untilStopped = () => new Promise((resolve) => setTimeout(resolve, 2_000));

/** Waits until an order asks about its hold. */
const untilHeld = (order: { state: () => Promise<{ attention?: { code: string } | undefined }> }) =>
  vi.waitFor(async () => expect((await order.state()).attention?.code).toBe('held'), { timeout: 60_000 });

describe('a reset of an order', () => {
  const lab = useLab({ pace: { settleWindowMs: { atOnce: 3_000, deposit: 3_000 } } });
  const createsOf = (id: string) => lab.requestsOf(id).filter((path) => path.endsWith('/order/withdraw')).length;

  test.for([
    ['first', 0],
    ['last', -1],
  ] as const)('to the %s task keeps a hold, and sends nothing before the release', LONG, async ([, task]) => {
    await lab.orders.accounts.stop('default', ANN);
    await untilStopped();
    const id = newOrderId('held-reset');
    const order = await lab.orders.start('withdraw', orderInput('withdraw', id));
    await order.hold(ANN);
    await lab.orders.accounts.resume('default', BOB);
    await untilHeld(order);
    const run = await runOf(lab, order);
    await resetTo(lab, run, (await resettableEvents(lab, run)).at(task) ?? '');
    const asksFor = (code: string) =>
      vi.waitFor(async () => expect((await order.state()).attention?.code).toBe(code), {
        timeout: 150_000,
        interval: 200,
      });
    await asksFor('held');
    expect((await order.state()).attention?.reason).toBe('held by Ann Smith: is the payee right?');
    const decide = async (action: 'release' | 'resend') => {
      const { revision, runId } = await order.state();
      await order.decide({ action, ...BOB, revision, runId });
    };
    expect(createsOf(id)).toBe(0);
    await decide('release');
    // Only a person knows whether the run before the reset sent it.
    await asksFor('uncertain-create');
    expect(createsOf(id)).toBe(0);
    await decide('resend');
    expect((await order.result()).outcome).toBe('completed');
    expect(createsOf(id)).toBe(1);
  });
});

describe('a reset of an order, where the account has approvers', () => {
  const lab = {} as Awaited<ReturnType<typeof openLab>>;
  const pace = { settleWindowMs: { atOnce: 3_000, deposit: 3_000 } };
  beforeAll(async () => void Object.assign(lab, await openLab({ pace, limits: { approvers: testApprovers() } })));
  afterAll(() => lab.close?.());

  test('keeps a signed hold', LONG, async () => {
    const { accounts } = lab.orders;
    await accounts.stop('default', ANN, { signer: KEYS.ann });
    await untilStopped();
    const id = newOrderId('signed-reset');
    const order = await lab.orders.start('withdraw', orderInput('withdraw', id));
    await order.hold(ANN, { signer: KEYS.ann });
    await accounts.resume('default', BOB, { signer: KEYS.bob });
    await untilHeld(order);
    const run = await runOf(lab, order);
    await resetTo(lab, run, (await resettableEvents(lab, run)).at(0) ?? '');
    await vi.waitFor(
      async () => {
        const { runId, attention } = await order.state();
        expect([runId === run.runId, attention?.code]).toEqual([false, 'held']);
      },
      { timeout: 150_000, interval: 200 },
    );
    expect(lab.requestsOf(id).filter((path) => path.endsWith('/order/withdraw'))).toEqual([]);
  });
});

describe('a reset of a stop', () => {
  const lab = useLab();

  test('to its start: the account stays stopped, though its new run forgot why', LONG, async () => {
    await lab.orders.accounts.stop('default', ANN);
    await untilStopped();
    const { runId } = await lab.temporal.client.workflow.getHandle('stop:default').describe();
    await resetTo(lab, { workflowId: 'stop:default', runId }, '3');
    const isStoppedBy = async (by: string) =>
      expect(await lab.orders.accounts.state('default')).toMatchObject({ stop: { by } });
    await isStoppedBy('Ann Smith');
    const id = newOrderId('reset');
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', id));
    await vi.waitFor(async () => expect((await handle.state()).waitingFor).toContain('is stopped'), {
      timeout: 60_000,
    });
    await vi.waitFor(() => isStoppedBy('somebody'), { timeout: 80_000, interval: 2_000 });
    await lab.orders.accounts.resume('default', BOB);
    expect((await handle.result()).outcome).toBe('completed');
    expect(lab.requestsOf(id).filter((path) => path.endsWith('/order/withdraw'))).toHaveLength(1);
  });
});

describe('the start of a stop, sent again', () => {
  const lab = useLab();

  test('ends unused, and ends no stop before it', LONG, async () => {
    const { accounts } = lab.orders;
    await accounts.stop('default', ANN);
    const again = await lab.temporal.client.workflow.start('accountStop', {
      workflowId: 'stop:default',
      taskQueue: ORDERS_TASK_QUEUE,
      args: [{ account: 'default' }],
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
    });
    expect((await accounts.state('default')).stop).toMatchObject(ANN);
    expect(await again.result()).toBeNull();
    expect((await accounts.state('default')).stop).toMatchObject(ANN);
    await accounts.resume('default', BOB);
    expect(await accounts.state('default')).toEqual({ account: 'default' });
  });
});
