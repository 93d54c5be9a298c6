import { describe, expect, it } from 'vitest';
import { ConflictError, InvalidInputError } from '../../src/client/errors.js';
import { readFirstInput } from '../../src/client/history.js';
import type { OrderFailure } from '../../src/contract/failures.js';
import { searchAttribute } from '../../src/contract/names.js';
import { payout, useClient } from './client.fixture.js';

const fixture = useClient();

const describeOrder = (orderId: string) =>
  fixture.namespace.client.workflow.getHandle(`order:default:${orderId}`).describe();

describe('a fresh start', () => {
  it('carries its search attributes, summary and priority', async () => {
    const handle = await fixture.orders.start('withdraw', { ...payout('fresh-1'), batchId: 'batch-7' });
    expect(handle).toMatchObject({ workflowId: 'order:default:fresh-1', orderId: 'fresh-1', attached: false });
    const started = await describeOrder('fresh-1');
    expect(started.taskQueue).toBe('payment-orders');
    expect(started.priority?.priorityKey, 'a row of a batch waits for single orders').toBe(4);
    expect(await started.staticSummary()).toBe('withdraw 12.50 usd');
    const attributes = started.typedSearchAttributes;
    expect(attributes.get(searchAttribute.account)).toBe('default');
    expect(attributes.get(searchAttribute.orderStatus)).toBe('open');
    expect(attributes.get(searchAttribute.batchId)).toBe('batch-7');
    await fixture.orders.start('withdraw', payout('fresh-single'));
    expect((await describeOrder('fresh-single')).priority?.priorityKey).toBe(2);
    expect(attributes.get(searchAttribute.currencyFrom)).toBe('usd');
    expect(attributes.get(searchAttribute.needsAttention)).toBe(false);
  });

  it('of bad input starts nothing and names every bad field', async () => {
    const bad = payout('bad-1');
    Object.assign(bad.order, { amount: '0', currency: 'USD' });
    const refused = await fixture.orders.start('withdraw', bad).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(InvalidInputError);
    expect((refused as InvalidInputError).fields.map(({ field }) => field).sort()).toEqual([
      'order.amount',
      'order.currency',
    ]);
    await expect(describeOrder('bad-1')).rejects.toThrow();
  });
});

describe('again', () => {
  const sentUntilOf = async (orderId: string): Promise<string | undefined> =>
    (await readFirstInput(fixture.namespace.client, `order:default:${orderId}`)).input.sentUntil;
  const endedAt = async (orderId: string): Promise<string | undefined> =>
    (await describeOrder(orderId)).closeTime?.toISOString();
  const failing = async (orderId: string, type: OrderFailure, options = {}): Promise<void> => {
    const handle = await fixture.orders.start('withdraw', payout(orderId, `fails:${type}`), options);
    await expect(handle.result()).rejects.toMatchObject({ type });
  };

  it.each(['OrderRejected', 'OrderAbsent', 'OrderConflict'] as const)(
    'after %s says until when that run may have sent',
    async (type) => {
      await failing(`after-${type}`, type);
      const until = await endedAt(`after-${type}`);
      await fixture.orders.start('withdraw', payout(`after-${type}`), { again: true });
      expect(until).toBeDefined();
      expect(await sentUntilOf(`after-${type}`)).toBe(until);
    },
  );

  it('after InvalidOrder alone has nothing to say', async () => {
    await failing('after-InvalidOrder', 'InvalidOrder');
    await fixture.orders.start('withdraw', payout('after-InvalidOrder'), { again: true });
    expect(await sentUntilOf('after-InvalidOrder')).toBeUndefined();
  });

  it('hands on what a run was told that sent nothing itself, and names a later one that may have', async () => {
    await failing('handed-on', 'OrderRejected');
    await failing('handed-on', 'OrderCancelled', { again: true });
    const until = await endedAt('handed-on');
    await failing('handed-on', 'InvalidOrder', { again: true });
    await failing('handed-on', 'OrderRejected', { again: true });
    expect(await sentUntilOf('handed-on')).toBe(until);
    const later = await endedAt('handed-on');
    await fixture.orders.start('withdraw', payout('handed-on'), { again: true });
    expect(await sentUntilOf('handed-on')).toBe(later);
  });

  it('starts an id that was never used', async () => {
    expect(await fixture.orders.start('withdraw', payout('again-2'), { again: true })).toMatchObject({
      attached: false,
    });
  });

  it('is refused as undecided while the order is open', async () => {
    await fixture.orders.start('withdraw', payout('again-3'));
    await expect(fixture.orders.start('withdraw', payout('again-3'), { again: true })).rejects.toMatchObject({
      name: 'RefusedError',
      subject: 'order',
      request: 'again',
      undecided: true,
    });
  });

  it('is refused after a terminated run: its order may exist', async () => {
    await fixture.orders.start('withdraw', payout('again-5'));
    await fixture.namespace.client.workflow.getHandle('order:default:again-5').terminate('by mistake');
    await expect(fixture.orders.start('withdraw', payout('again-5'), { again: true })).rejects.toMatchObject({
      name: 'RefusedError',
      subject: 'order',
      request: 'again',
      undecided: true,
    });
  });
});

describe('a start that may repeat an order', () => {
  const startedWith = async (orderId: string) =>
    (await readFirstInput(fixture.namespace.client, `order:default:${orderId}`)).input;

  it('after a start that was none of ours, tells the new run to look first: a run before it may have sent', async () => {
    const failed = await fixture.orders.start('withdraw', payout('again-foreign', 'fails:ForeignStart'));
    await failed.result().catch(() => undefined);
    const beforeMs = Date.now();
    await fixture.orders.start('withdraw', payout('again-foreign'), { again: true });
    expect(Date.parse((await startedWith('again-foreign')).sentUntil ?? '')).toBeGreaterThanOrEqual(beforeMs - 1_000);
  });

  it('after a terminated run is taken from who says that it may have been sent, until now', async () => {
    await fixture.orders.start('withdraw', payout('again-doubt'));
    await fixture.namespace.client.workflow.getHandle('order:default:again-doubt').terminate('by mistake');
    const beforeMs = Date.now();
    const input = { ...payout('again-doubt'), sentUntil: '2020-01-01T00:00:00.000Z' };
    await fixture.orders.start('withdraw', input, { again: true });
    expect(Date.parse((await startedWith('again-doubt')).sentUntil ?? '')).toBeGreaterThanOrEqual(beforeMs - 1_000);
  });
});

describe('create', () => {
  it('shows a conflict at once, although the other order is never created', async () => {
    await fixture.orders.start('withdraw', payout('create-4', 'never-created'));
    await expect(fixture.orders.create('withdraw', payout('create-4'))).rejects.toBeInstanceOf(ConflictError);
  });

  it('tells a caller whose time is over that the order goes on', async () => {
    const waiting = fixture.orders.create('withdraw', payout('create-7', 'never-created'), { timeoutMs: 1_500 });
    await expect(waiting).rejects.toThrow(/Call again with the same id\. A new id could pay twice/);
    expect((await describeOrder('create-7')).status.name).toBe('RUNNING');
  });
});
