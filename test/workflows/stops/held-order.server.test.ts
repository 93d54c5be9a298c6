import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { KEYS, testApprovers } from '../../support/approvers.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, openLab, useGatedLab, useLab } from '../../support/lab.js';
import { giveUpCreate } from '../../support/pending-activity.js';
import { runStarterWith } from '../../support/run-starter.js';

const ANN = { by: 'Ann Smith', reason: 'is the payee right?' };
const BOB = { by: 'Bob Jones', reason: 'asked the payee' };

/** Waits until an order asks about its hold. */
const untilHeld = (order: { state: () => Promise<{ attention?: { code: string } | undefined }> }) =>
  vi.waitFor(async () => expect((await order.state()).attention?.code).toBe('held'), { timeout: 60_000 });

describe('an order that is held before it is sent', () => {
  const lab = useLab();
  const createsOf = (id: string) => lab.requestsOf(id).filter((path) => path.endsWith('/order/withdraw')).length;

  test('parks, and is sent once after the release or ends after the refusal', async () => {
    const ids = [newOrderId('release'), newOrderId('refuse')] as const;
    await lab.orders.accounts.stop('default', ANN);
    const [first, second] = await Promise.all(
      ids.map((id) => lab.orders.start('withdraw', orderInput('withdraw', id))),
    );
    if (!first || !second) throw new Error('not started');
    await Promise.all([first.hold(ANN), second.hold(ANN)]);
    await lab.orders.accounts.resume('default', BOB);
    await Promise.all([first, second].map(untilHeld));
    const state = await first.state();
    const { stdout } = await runStarterWith(async () => lab.orders, ['order', 'show', ids[0]]);
    expect(stdout).toMatch(/^sent +nothing, by the record of this order$/m);
    expect(state).toMatchObject({
      phase: 'parked',
      attention: { code: 'held', reason: 'held by Ann Smith: is the payee right?', allowed: ['release', 'refuse'] },
    });
    expect(ids.map(createsOf)).toEqual([0, 0]);
    const listed = await lab.orders.list({ needsAttention: true });
    expect(listed.orders.map(({ attention }) => attention?.code)).toEqual(['held', 'held']);
    const decide = async (order: typeof first, action: 'release' | 'refuse') => {
      const { revision, runId } = await order.state();
      await order.decide({ action, ...BOB, revision, runId });
    };
    await expect(first.hold(ANN)).rejects.toThrow('it is held already');
    await decide(first, 'release');
    await decide(second, 'refuse');
    const { outcome, decisions } = await first.result();
    expect([outcome, decisions?.map(({ action, by }) => [action, by])]).toEqual([
      'completed',
      [['release', 'Bob Jones']],
    ]);
    await expect(second.result()).rejects.toThrow(
      /was refused by Bob Jones \(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, "asked the payee"\) and never sent, so no money moved\. It had waited for a decision: held by Ann Smith: is the payee right\?\./,
    );
    expect(ids.map(createsOf)).toEqual([1, 0]);
  });

  test('refuses the hold once it was sent, with the words of what to do', async () => {
    const id = newOrderId('sent');
    const order = await lab.orders.start('withdraw', orderInput('withdraw', id, { marker: 'after_ms=2000' }));
    const { order_uuid: uuid } = await order.created();
    await expect(order.hold(ANN)).rejects.toThrow(
      `it was sent: the service has it as order ${uuid}. Nothing is held. Cancel it`,
    );
    expect((await order.result()).outcome).toBe('completed');
    await expect(order.hold(ANN)).rejects.toThrow('it has ended');
  });
});

describe('an order that is parked already', () => {
  const lab = useLab({ limits: { caps: new Map([['usd', '1']]) } });

  test('answers a hold with the question about the hold', async () => {
    const order = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('above')));
    await vi.waitFor(async () => expect((await order.state()).attention?.code).toBe('over-cap'), { timeout: 60_000 });
    const { phase, attention, revision, runId } = await order.hold(ANN);
    expect({ phase, attention }).toMatchObject({ phase: 'parked', attention: { code: 'held' } });
    await order.decide({ action: 'refuse', ...BOB, revision, runId });
    await expect(order.result()).rejects.toThrow(/was refused by Bob Jones \(.*\) and never sent.*: held by Ann Smith/);
  });
});

describe('a hold that comes while a worker has the create', () => {
  const lab = useGatedLab();

  test('stops it if the worker only probed so far', async () => {
    const id = newOrderId('probing');
    let isProbed = () => {};
    const probed = new Promise<void>((resolve) => {
      isProbed = resolve;
    });
    lab.gate.rule = async ({ path, body }) => {
      if (!path.endsWith('/order/withdraw') && body.includes(id)) {
        isProbed();
        await new Promise((resolve) => setTimeout(resolve, 1_500));
      }
      return undefined;
    };
    const order = await lab.orders.start('withdraw', orderInput('withdraw', id));
    await probed;
    await order.hold(ANN);
    await untilHeld(order);
    expect(lab.requestsOf(id).filter((path) => path.endsWith('/order/withdraw'))).toEqual([]);
  });

  test('is refused if the create was on its way', async () => {
    const id = newOrderId('sending');
    let isSent = () => {};
    const sent = new Promise<void>((resolve) => {
      isSent = resolve;
    });
    lab.gate.rule = async ({ path, body }) => {
      if (path.endsWith('/order/withdraw') && body.includes(id)) {
        isSent();
        await new Promise((resolve) => setTimeout(resolve, 1_500));
      }
      return undefined;
    };
    const order = await lab.orders.start('withdraw', orderInput('withdraw', id));
    await sent;
    await expect(order.hold(ANN)).rejects.toThrow('it was sent: the service has it');
    expect((await order.result()).outcome).toBe('completed');
  });
});

describe('a hold that takes back a create, which an operator', () => {
  const lab = useLab();

  test.each([
    ['paused', true],
    ['gave more attempts', false],
  ])('%s while it was sent: its release proves absence first', async (_, pause) => {
    const orderId = newOrderId('held');
    const marker = 'create=no-answer duplicate=c lag_ms=15000 callback=drop';
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker, resend: 'never' }));
    await vi.waitUntil(() => lab.sandbox.stats().executedByOrderId[orderId] === 1, { timeout: 60_000, interval: 20 });
    const { client, namespace } = lab.temporal;
    await giveUpCreate(client, namespace, handle.workflowId, pause);
    await handle.hold(ANN);
    await untilHeld(handle);
    const { revision, runId } = await handle.state();
    await handle.decide({ action: 'release', ...BOB, revision, runId });
    await vi.waitFor(async () => expect((await handle.state()).waitingFor).toContain('may have had it before'), 60_000);
    expect(lab.sandbox.stats().executedByOrderId[orderId]).toBe(1);
  });
});

describe('where the account has approvers', () => {
  const lab = {} as Awaited<ReturnType<typeof openLab>>;
  const pace = { settleWindowMs: { atOnce: 3_000, deposit: 3_000 } };
  beforeAll(async () => void Object.assign(lab, await openLab({ pace, limits: { approvers: testApprovers() } })));
  afterAll(() => lab.close?.());

  test('a stop, a resume and a hold need a signature of a person who may decide', async () => {
    const { accounts } = lab.orders;
    await expect(accounts.stop('default', ANN)).rejects.toThrow('takes nothing unsigned');
    await expect(accounts.stop('default', ANN, { signer: KEYS.dan })).rejects.toThrow('may not decide');
    await expect(accounts.stop('default', ANN, { signer: KEYS.bob })).rejects.toThrow(
      'this key requires the name Bob Jones',
    );
    expect((await accounts.state('default')).stop).toBeUndefined();
    await accounts.stop('default', ANN, { signer: KEYS.ann });
    const order = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('signed')));
    await vi.waitFor(async () => expect((await order.state()).waitingFor).toContain('is stopped'), { timeout: 60_000 });
    await expect(order.hold(ANN)).rejects.toThrow('takes nothing unsigned');
    await order.hold(ANN, { signer: KEYS.ann });
    await untilHeld(order);
    const release = async () => {
      const { revision, runId } = await order.state();
      await order.decide({ action: 'release', ...BOB, revision, runId }, { signer: KEYS.bob });
    };
    await release();
    // The same choice has the same signature, which others may have seen.
    await expect(order.hold(ANN, { signer: KEYS.ann })).rejects.toThrow('this hold was taken before, and released');
    await order.hold({ ...ANN, reason: 'still not sure' }, { signer: KEYS.ann });
    await untilHeld(order);
    await expect(accounts.resume('default', BOB)).rejects.toThrow('takes nothing unsigned');
    await accounts.resume('default', BOB, { signer: KEYS.bob });
    await release();
    expect((await order.result()).outcome).toBe('completed');
  });

  test('a signed stop is resumed by a signature alone, also by workers that lost their APPROVERS_FILE', async () => {
    const { accounts } = lab.orders;
    await accounts.stop('default', ANN, { signer: KEYS.ann });
    await lab.replaceWorkers({ approvers: undefined });
    onTestFinished(() => lab.replaceWorkers());
    await expect(accounts.resume('default', BOB)).rejects.toThrow('takes nothing unsigned');
    await lab.temporal.client.workflow.getHandle('stop:default').terminate('by hand');
    await expect(accounts.resume('default', BOB)).rejects.toThrow('takes nothing unsigned');
    expect((await accounts.state('default')).stop).toMatchObject(ANN);
  });
});

describe('a hold that comes before any worker took the order', () => {
  const lab = useLab({ workers: false });

  test('comes before the create, too', async () => {
    const id = newOrderId('queued');
    const order = await lab.orders.start('withdraw', orderInput('withdraw', id));
    const held = order.hold(ANN);
    // Until Temporal has it.
    await sleep(1_000);
    await lab.startWorkers();
    expect((await held).attention?.code).toBe('held');
    expect(lab.requestsOf(id)).toEqual([]);
    const { revision, runId } = await order.state();
    await order.decide({ action: 'release', ...BOB, revision, runId });
    expect((await order.result()).outcome).toBe('completed');
  });
});
