import { describe, expect, test, vi } from 'vitest';
import {
  FUNDS_LINE_WORKFLOW,
  FUNDS_SIGNAL,
  fundsLineWorkflowId,
  GO_FIRST_SIGNAL,
  ORDERS_TASK_QUEUE,
} from '../../../src/contract/names.js';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { decideNow, parkedFor } from '../compensation/parked-orders.fixture.js';

/* The payouts of a test take their amount, 1.5 % and 0.50 from one currency, so that no other test uses its balance. */

const lab = useLab({ sandbox: { settings: { overdraft: false } } });

const ANN = { by: 'Ann Smith', reason: 'is the payee right?' };

type Change = Pick<OrderInput, 'whenShort' | 'latestSend'> & { amount?: string };

async function start(label: string, { amount = '100', ...options }: Change) {
  const orderId = newOrderId(label);
  const input = orderInput('withdraw', orderId, options);
  const handle = await lab.orders.start('withdraw', { ...input, order: { ...input.order, amount } });
  return { orderId, handle, input };
}

const creates = (orderId: string): number => lab.sandbox.stats().createsByOrderId[orderId] ?? 0;
const balanceReads = (): number => lab.sandbox.requests().filter(({ path }) => path === '/v2/balances').length;
const setBalance = (usd: string) => lab.sandbox.set({ balances: { usd } });

type Started = Awaited<ReturnType<typeof start>>;

const waitingFor = async ({ handle }: Started): Promise<string> => (await handle.state()).waitingFor;
const isShort = (order: Started, text = 'are missing (since') =>
  vi.waitFor(async () => expect(await waitingFor(order)).toContain(text), { timeout: 60_000, interval: 100 });

const openIn = async (status: string): Promise<number> =>
  (await lab.temporal.client.workflow.count(`PaymentOrderStatus = '${status}' AND ExecutionStatus = 'Running'`)).count;

describe('an order that the balance does not cover', () => {
  test('is sent without a look at the balance if it does not say whenShort', async () => {
    setBalance('1');
    const before = balanceReads();
    const { handle } = await start('unsaid', {});
    expect(await handle.result()).toMatchObject({ outcome: 'error' });
    expect(balanceReads()).toBe(before);
  });

  test('with refuse ends as InvalidOrder with the figures, and nothing is sent', async () => {
    setBalance('12.51');
    const { orderId, handle } = await start('refuse', { whenShort: 'refuse' });
    const reason = 'the balance of 12.51 usd is less than 102 usd (with fees): 89.49 usd are missing';
    await expect(handle.result()).rejects.toMatchObject({
      type: 'InvalidOrder',
      fields: [{ field: 'order.amount', reason }],
    });
    expect(creates(orderId)).toBe(0);
  });

  test('with refuse is sent once the balance covers it', async () => {
    setBalance('102');
    const { handle } = await start('refuse', { whenShort: 'refuse' });
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  });

  test.each([['deposit' as const], ['deposit_exchange' as const]])('a %s takes no whenShort', async (type) => {
    const input = orderInput(type, newOrderId('deposit'), { whenShort: 'wait' });
    const fields = [{ field: 'whenShort', reason: 'only for orders that pay from the balance' }];
    await expect(lab.orders.start(type, input)).rejects.toMatchObject({ fields });
  });

  describe('with ask', () => {
    test('is parked with the figures, and sent once when approved', async () => {
      setBalance('50');
      const { orderId, handle } = await start('ask', { whenShort: 'ask' });
      const { attention, decisions } = await parkedFor(handle, 'the balance of 50 usd is less than 102 usd');
      expect(attention).toMatchObject({ code: 'short-of-funds', amount: '102', currency: 'usd' });
      expect(decisions.map(({ does, decision }) => [decision.action, does])).toEqual([
        [
          'resend',
          'lets it wait for money: sends nothing now; the worker sends it by itself as soon as the balance covers it',
        ],
        ['refuse', 'ends it without sending it'],
        [
          'approve',
          'sends it now, although money seems to be missing: right only if you know that the balance is wrong',
        ],
      ]);
      expect(creates(orderId)).toBe(0);
      await decideNow(handle, 'approve');
      // The sandbox gives no credit.
      expect(await handle.result()).toMatchObject({
        outcome: 'error',
        decisions: [{ action: 'approve', amount: '102' }],
      });
      expect(creates(orderId)).toBe(1);
    });

    test('ends when it is refused, and nothing is sent', async () => {
      setBalance('50');
      const { orderId, handle } = await start('ask', { whenShort: 'ask' });
      await parkedFor(handle, 'is less than 102 usd');
      await decideNow(handle, 'refuse');
      await expect(handle.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
      expect(creates(orderId)).toBe(0);
    });

    test('waits after the decision resend, and is paid once after a deposit', async () => {
      setBalance('50');
      const order = await start('ask', { whenShort: 'ask' });
      await parkedFor(order.handle, 'is less than 102 usd');
      await decideNow(order.handle, 'resend');
      await isShort(order, 'it needs 102 usd, and 52 usd are missing');
      setBalance('102');
      expect(await order.handle.result()).toMatchObject({ outcome: 'completed', decisions: [{ action: 'resend' }] });
      expect(creates(order.orderId)).toBe(1);
    });
  });

  describe('with wait', () => {
    test('says what is missing, and is paid once after a deposit', async () => {
      setBalance('50');
      const order = await start('wait', { whenShort: 'wait' });
      await isShort(order, 'it needs 102 usd, and 52 usd are missing (since 20');
      await vi.waitFor(async () => expect(await openIn('short')).toBe(1), 10_000);
      expect((await order.handle.state()).attention).toBeUndefined();
      expect(creates(order.orderId)).toBe(0);
      setBalance('102');
      expect(await order.handle.result()).toMatchObject({ outcome: 'completed' });
      expect(creates(order.orderId)).toBe(1);
    });

    test('costs no history while the balance moves below what it needs, and requests at the pace of polling', async () => {
      setBalance('50');
      const order = await start('moving', { whenShort: 'wait' });
      await isShort(order);
      const line = lab.temporal.client.workflow.getHandle(fundsLineWorkflowId('default'));
      const events = async () => (await line.describe()).historyLength;
      const [reads, before, fromMs] = [balanceReads(), await events(), performance.now()];
      for (let n = 0; n < 60; n += 1) {
        setBalance(`${40 + (n % 50)}`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      expect(balanceReads() - reads).toBeLessThanOrEqual((performance.now() - fromMs) / 900 + 3);
      // The question that is asked anew after the first answer.
      expect((await events()) - before).toBeLessThanOrEqual(6);
      setBalance('102');
      expect(await order.handle.result()).toMatchObject({ outcome: 'completed' });
    });

    test('stays held when its funds come, and is paid once after the release', async () => {
      setBalance('50');
      const order = await start('held', { whenShort: 'wait' });
      await isShort(order);
      expect((await order.handle.hold(ANN)).attention?.code).toBe('held');
      setBalance('102');
      await parkedFor(order.handle, 'held by Ann Smith');
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      expect([await waitingFor(order), creates(order.orderId)]).toEqual(['a decision', 0]);
      await decideNow(order.handle, 'release');
      expect(await order.handle.result()).toMatchObject({ outcome: 'completed' });
      expect(creates(order.orderId)).toBe(1);
    });

    test('lets younger ones go first while it is held, and is paid once after the release', async () => {
      setBalance('50');
      const held = await start('held', { whenShort: 'wait' });
      await isShort(held);
      const young = await start('young', { whenShort: 'wait' });
      await isShort(young, '1 older orders wait before it');
      await held.handle.hold(ANN);
      await parkedFor(held.handle, 'held by Ann Smith');
      setBalance('102');
      expect(await young.handle.result()).toMatchObject({ outcome: 'completed' });
      expect(creates(held.orderId)).toBe(0);
      await decideNow(held.handle, 'release');
      await isShort(held);
      setBalance('102');
      expect(await held.handle.result()).toMatchObject({ outcome: 'completed' });
      expect([creates(held.orderId), creates(young.orderId)]).toEqual([1, 1]);
    });

    test('gives its funds to younger ones if it is held after it got them', async () => {
      setBalance('50');
      const held = await start('granted', { whenShort: 'wait' });
      await isShort(held);
      const young = await start('young', { whenShort: 'wait' });
      await isShort(young, '1 older orders wait before it');
      await lab.orders.accounts.stop('default', ANN);
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      setBalance('102');
      await isShort(held, 'is stopped');
      await held.handle.hold(ANN);
      await lab.orders.accounts.resume('default', ANN);
      expect(await young.handle.result()).toMatchObject({ outcome: 'completed' });
      expect(creates(held.orderId)).toBe(0);
      await decideNow(held.handle, 'refuse');
    });

    test('looks at the balance again after a hold, whatever the line said meanwhile', async () => {
      setBalance('50');
      const order = await start('late-grant', { whenShort: 'wait' });
      await isShort(order);
      await order.handle.hold(ANN);
      await parkedFor(order.handle, 'held by Ann Smith');
      // The line may have given the funds just before it heard that the order left.
      await lab.temporal.client.workflow.getHandle(order.handle.workflowId).signal(FUNDS_SIGNAL, {});
      await decideNow(order.handle, 'release');
      await isShort(order);
      expect(creates(order.orderId)).toBe(0);
      await order.handle.cancel();
    });

    test('is canceled by a cancel, and nothing is sent', async () => {
      setBalance('50');
      const order = await start('wait', { whenShort: 'wait' });
      await isShort(order);
      await order.handle.cancel();
      await expect(order.handle.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
      setBalance('102');
      expect(creates(order.orderId)).toBe(0);
      // Its place is free.
      const next = await start('wait', { whenShort: 'wait' });
      expect(await next.handle.result()).toMatchObject({ outcome: 'completed' });
    });

    test('ends at its latest send time, and nothing is sent', async () => {
      setBalance('50');
      const latestSend = new Date(Date.now() + 6_000).toISOString();
      const order = await start('late', { whenShort: 'wait', latestSend });
      await isShort(order);
      await expect(order.handle.result()).rejects.toMatchObject({
        type: 'OrderCancelled',
        message: expect.stringContaining('its latest send time'),
      });
      expect(creates(order.orderId)).toBe(0);
    });

    test('goes before younger ones: of 10 that wait, each deposit pays the oldest, and one look serves all', async () => {
      setBalance('0');
      const orders: Started[] = [];
      for (let n = 0; n < 10; n += 1) orders.push(await start('line', { whenShort: 'wait' }));
      await Promise.all(orders.map((order) => isShort(order)));
      expect(await waitingFor(orders[9] as Started)).toContain('9 older orders wait before it');
      const [before, fromMs] = [balanceReads(), performance.now()];
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      // One look each 0.9 s (the pace of the lab), for all ten.
      expect(balanceReads() - before).toBeLessThanOrEqual((performance.now() - fromMs) / 900 + 2);
      const sent: number[] = [];
      for (const n of [1, 3, 3, 3]) {
        setBalance(`${n * 102}`);
        const until = sent.length + n;
        await vi.waitFor(
          () => expect(orders.filter(({ orderId }) => creates(orderId) > 0)).toHaveLength(until),
          30_000,
        );
        const now = orders.flatMap(({ orderId }, index) => (creates(orderId) > 0 ? [index] : []));
        expect(now).toEqual(Array.from({ length: until }, (_, index) => index));
        for (const index of now.slice(sent.length)) await orders[index]?.handle.result();
        sent.splice(0, sent.length, ...now);
      }
      expect(orders.map(({ orderId }) => creates(orderId))).toEqual(Array(10).fill(1));
    });

    test('a smaller one goes first only if it may overtake', async () => {
      setBalance('60');
      const large = await start('large', { whenShort: 'wait' });
      await isShort(large);
      const patient = await start('small', { whenShort: 'wait', amount: '20' });
      await isShort(patient, '1 older orders wait before it');
      await vi.waitFor(async () => expect(await openIn('short')).toBe(2), 10_000);
      const dry = async (whenShort: Change['whenShort'], amount: string) => {
        const input = orderInput('withdraw', newOrderId('dry'), { whenShort });
        return (await lab.orders.check('withdraw', { ...input, order: { ...input.order, amount } })).notNow;
      };
      expect(await dry('wait', '10')).toBe('it would wait for funds: 2 older orders wait before it');
      expect(await dry('wait', '100')).toMatch(/^it would wait for funds: the balance of 60 usd .* missing; 2 older/);
      expect([await dry('overtake', '20'), await dry('ask', '20')]).toEqual([undefined, undefined]);
      const hasty = await start('small', { whenShort: 'overtake', amount: '20' });
      expect(await hasty.handle.result()).toMatchObject({ outcome: 'completed' });
      expect([creates(large.orderId), creates(patient.orderId)]).toEqual([0, 0]);
      setBalance('102');
      expect(await large.handle.result()).toMatchObject({ outcome: 'completed' });
      expect(creates(patient.orderId)).toBe(0);
      setBalance('100');
      expect(await patient.handle.result()).toMatchObject({ outcome: 'completed' });
    });

    test('the smallest one that is covered goes first, once, if orders in doubt wait for a later one', async () => {
      setBalance('60');
      const large = await start('large', { whenShort: 'wait' });
      await isShort(large);
      const small = await start('small', { whenShort: 'wait', amount: '20' });
      const smallest = await start('smallest', { whenShort: 'wait', amount: '10' });
      await Promise.all([small, smallest].map((one) => isShort(one, 'older orders wait before it')));
      await lab.temporal.client.workflow.getHandle(fundsLineWorkflowId('default')).signal(GO_FIRST_SIGNAL);
      expect(await smallest.handle.result()).toMatchObject({ outcome: 'completed' });
      expect([creates(large.orderId), creates(small.orderId)]).toEqual([0, 0]);
      setBalance('200');
      expect(await large.handle.result()).toMatchObject({ outcome: 'completed' });
      expect(await small.handle.result()).toMatchObject({ outcome: 'completed' });
    });
  });

  test('waits in a line that something started without its input, and is paid once', async () => {
    const { client } = lab.temporal;
    const workflowId = fundsLineWorkflowId('default');
    await client.workflow.start(FUNDS_LINE_WORKFLOW, {
      ...{ workflowId, taskQueue: ORDERS_TASK_QUEUE, args: [], workflowIdConflictPolicy: 'TERMINATE_EXISTING' },
    });
    setBalance('0');
    const order = await start('foreign', { whenShort: 'wait' });
    await isShort(order);
    setBalance('102');
    expect(await order.handle.result()).toMatchObject({ outcome: 'completed' });
    expect(creates(order.orderId)).toBe(1);
  });

  test('waits on while its workers are replaced, and is paid once', async () => {
    setBalance('0');
    const order = await start('restart', { whenShort: 'wait' });
    await isShort(order);
    await lab.stopWorkers();
    setBalance('102');
    await lab.startWorkers();
    expect(await order.handle.result()).toMatchObject({ outcome: 'completed' });
    expect(creates(order.orderId)).toBe(1);
  });
});
