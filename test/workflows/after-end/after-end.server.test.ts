import type { WorkflowExecutionInfo } from '@temporalio/client';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { readFirstInput } from '../../../src/client/history.js';
import type { OrderListEntry } from '../../../src/client/list-orders.js';
import { OrderHandle } from '../../../src/client/order-handle.js';
import { PaymentOrders } from '../../../src/client.js';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import type { OrderType } from '../../../src/contract/order/types.js';
import { goesOn, resetTo, resettableEvents, resultOf, runOf } from '../../reliability/reset.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, openLab, useLab } from '../../support/lab.js';
import { runStarterWith } from '../../support/run-starter.js';
import { decideNow, executions, parkedFor, startSteered } from '../compensation/parked-orders.fixture.js';
import { newAddress, receive, started } from '../receipts.fixture.js';

/** Look-ups at an order's end are over before the service shows it, those after its end are not. */
const PACE = { settleWindowMs: { atOnce: 4_000, deposit: 600 } };

const lab = useLab({ pace: PACE, sandbox: { settings: { duplicateMode: 'c' } } });

async function reopen(quiet: boolean): Promise<void> {
  await lab.close();
  Object.assign(lab, await openLab({ pace: PACE, quiet, sandbox: { settings: { duplicateMode: 'c' } } }));
}

const idOf = (orderId: string, kind = 'order') => `after-end:${kind}:default:${orderId}`;

/** The look-ups after the end of an order, as an operator sees them. */
const afterEnd = (orderId: string, kind?: string) =>
  new OrderHandle(lab.temporal.client, 'default', orderId, { workflowId: idOf(orderId, kind) });

const CHANGED = { code: 'changed-after-end', allowed: ['accept'] };

async function runsOf(orderId: string, kind?: string): Promise<WorkflowExecutionInfo[]> {
  const runs: WorkflowExecutionInfo[] = [];
  for await (const run of lab.temporal.client.workflow.list({ query: `WorkflowId = '${idOf(orderId, kind)}'` })) {
    runs.push(run);
  }
  return runs;
}

const ended = (orderId: string, runs = 1) =>
  vi.waitFor(
    async () => {
      const closed = (await runsOf(orderId)).filter(({ closeTime }) => closeTime);
      expect(closed).toHaveLength(runs);
      return closed.map(({ status }) => status.name);
    },
    { timeout: 60_000, interval: 100 },
  );

const uuidsOf = (orderId: string) =>
  lab.sandbox.orders().flatMap(({ order }) => (order.user_order_id === orderId ? [order.order_uuid] : []));

const failureOf = (handle: OrderHandle) =>
  handle.result().then(
    () => 'none',
    (error: { type?: string }) => error.type,
  );

/** An order that the service executes behind a 400, and shows only when its run has ended. */
async function rejectedAndExecuted(type: OrderType, marker = '') {
  lab.sandbox.set({ visibilityLagMs: 600_000 });
  const { orderId, handle } = await startSteered(lab, type, {
    marker: `create=400-after callback=drop ${marker}`,
  });
  expect(await failureOf(handle)).toBe('OrderRejected');
  lab.sandbox.set({ visibilityLagMs: 0 });
  const [uuid = ''] = uuidsOf(orderId);
  return { orderId, uuid };
}

async function completed(type: OrderType = 'exchange') {
  const { orderId, handle } = await startSteered(lab, type, { marker: 'callback=drop' });
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  const [uuid = ''] = uuidsOf(orderId);
  return { orderId, uuid };
}

describe('a callback after the end of an order', () => {
  test('that was reported as refused and exists asks an operator, and moves no money', async () => {
    const { orderId, uuid } = await rejectedAndExecuted('deposit');
    expect(await lab.sandbox.sendCallback(uuid)).toBe(200);
    const { attention } = await parkedFor(afterEnd(orderId), 'OrderRejected');
    expect(attention).toMatchObject(CHANGED);
    expect(attention?.reason).toContain(uuid);
    await decideNow(afterEnd(orderId), 'accept');
    expect(await ended(orderId)).toEqual(['COMPLETED']);
    // The same callback again says nothing that the operator has not seen.
    await lab.sandbox.sendCallback(uuid);
    expect(await ended(orderId, 2)).toEqual(['COMPLETED', 'COMPLETED']);
    expect(executions(lab, orderId)).toBe(1);
  });

  test('is followed to the final status where the order is under way', async () => {
    const { orderId, uuid } = await rejectedAndExecuted('deposit', 'after_ms=9000');
    await lab.sandbox.sendCallback(uuid);
    const open = await vi.waitFor(
      async () => {
        const state = await afterEnd(orderId).state();
        expect(state).toMatchObject({ phase: 'following', attention: { code: 'changed-after-end', allowed: [] } });
        return state;
      },
      { timeout: 9_000, interval: 50 },
    );
    expect(open.status).not.toBe('completed');
    expect((await parkedFor(afterEnd(orderId))).status).toBe('completed');
    await decideNow(afterEnd(orderId), 'accept');
    expect(await ended(orderId)).toEqual(['COMPLETED']);
  });

  test('whose final status changed asks an operator', async () => {
    const { orderId, uuid } = await completed();
    lab.sandbox.turnOrder(uuid, 'error');
    await lab.sandbox.sendCallback(uuid);
    const { attention } = await parkedFor(afterEnd(orderId));
    expect(attention).toMatchObject(CHANGED);
    expect(attention?.reason).toMatch(
      RegExp(
        `^its run ended with order ${uuid} completed; now the service shows order ${uuid} error.*\\. Changed: status completed → error`,
      ),
    );
    expect(attention?.reason).not.toContain('amount_from_fee');
    const query = `PaymentNeedsAttention = true AND WorkflowId = '${idOf(orderId)}'`;
    await vi.waitFor(async () => expect((await lab.temporal.client.workflow.count(query)).count).toBe(1), 10_000);
    await decideNow(afterEnd(orderId), 'accept');
    expect(await ended(orderId)).toEqual(['COMPLETED']);
  });

  test.each([
    ['once the operator has accepted the change', true],
    ['while the operator is asked', false],
  ])('asks again about a status that changes back %s', async (_, isAccepted) => {
    const { orderId, uuid } = await completed();
    const accept = () => decideNow(afterEnd(orderId), 'accept');
    const turn = async (status: 'error' | 'completed') => {
      lab.sandbox.turnOrder(uuid, status);
      await lab.sandbox.sendCallback(uuid);
    };
    const shown = (status: string) => parkedFor(afterEnd(orderId), `now the service shows order ${uuid} ${status}`);
    await turn('error');
    await shown('error');
    if (isAccepted) await accept().then(() => ended(orderId));
    await turn('completed');
    if (!isAccepted) await accept();
    await shown('completed');
    await accept();
  });

  test('is shown and accepted on the command line', async () => {
    const { orderId, uuid } = await completed();
    lab.sandbox.turnOrder(uuid, 'canceled');
    await lab.sandbox.sendCallback(uuid);
    await parkedFor(afterEnd(orderId));
    const connect = async () => new PaymentOrders(lab.temporal.client);
    const run = (...args: string[]) => runStarterWith(connect, ['order', ...args]);
    const starter = async (...args: string[]) => {
      const { code, stdout } = await run(...args, '--after-end', '--json');
      return { code, json: JSON.parse(stdout) };
    };
    const listed = async () => {
      const { orders } = JSON.parse((await run('list', '--attention', '--json')).stdout);
      return orders.filter((one: OrderListEntry) => one.orderId === orderId);
    };
    const entry = { afterEnd: true, received: false, status: 'parked', attention: { code: CHANGED.code } };
    const isListed = async () => expect(await listed()).toMatchObject([{ workflowId: idOf(orderId), ...entry }]);
    await vi.waitFor(isListed, 60_000);
    expect((await run('list', '--attention')).stdout).toMatch(RegExp(`${orderId} +after the end +parked `));
    // The result of the order stays, and names the change.
    const named = await run('show', orderId);
    expect(named).toMatchObject({ code: 4, stdout: expect.stringContaining('outcome') });
    expect(await run('wait', orderId)).toMatchObject({ code: 4, stdout: named.stdout });
    expect(named.stdout).toMatch(
      RegExp(
        `After its end, a person is asked \\(changed-after-end since .*\n  payment-orders order show ${orderId} --after-end\n`,
      ),
    );
    const shown = await starter('show', orderId);
    expect(shown).toMatchObject({ code: 4, json: { state: { attention: CHANGED } } });
    const [accept] = shown.json.decide;
    expect(accept).toMatch(`payment-orders order decide ${orderId} --after-end --action accept`);
    const { revision, runId } = shown.json.state;
    const decision = ['--by', 'ann', '--reason', 'booked', '--revision', `${revision}`, '--run', runId];
    expect(await starter('decide', orderId, '--action', 'accept', ...decision)).toMatchObject({ code: 0 });
    await ended(orderId);
    expect(await starter('show', orderId)).toMatchObject({ code: 0, json: { result: { changed: true } } });
    await vi.waitFor(async () => expect(await listed()).toEqual([]), 60_000);
    expect(await run('show', orderId)).toMatchObject({ code: 0, stdout: expect.not.stringContaining('After its end') });
  });

  test('that never came is no change, and nothing asks about it', async () => {
    const { orderId } = await completed();
    const { code, stderr } = await runStarterWith(
      async () => new PaymentOrders(lab.temporal.client),
      ['order', 'show', orderId, '--after-end'],
    );
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(`No change of order "${orderId}" after its end is known (account "default")`),
    });
  });

  test('of which nothing changed ends quietly, after one look-up of two pages, and one of its balance changes', async () => {
    const { orderId, uuid } = await completed();
    const before = lab.requestsOf(orderId);
    expect(await lab.sandbox.sendCallback(uuid)).toBe(200);
    expect(await ended(orderId)).toEqual(['COMPLETED']);
    expect(lab.requestsOf(orderId)).toEqual([...before, ...Array(3).fill('/v2/order/list')]);
    const { events } = await lab.temporal.client.workflow.getHandle(idOf(orderId)).fetchHistory();
    expect(events?.length).toBeLessThanOrEqual(14);
    expect(
      (await runsOf(orderId))[0]?.typedSearchAttributes.get({ name: 'PaymentNeedsAttention', type: 'BOOL' }),
    ).not.toBe(true);
  });

  test('about an order that Temporal does not know asks about what exists, and about nothing else', async () => {
    const { orderId, uuid } = await completed();
    const { workflowService, options } = lab.temporal.client;
    await workflowService.deleteWorkflowExecution({
      namespace: options.namespace,
      workflowExecution: { workflowId: `order:default:${orderId}` },
    });
    const gone = () => lab.temporal.client.workflow.getHandle(`order:default:${orderId}`).describe();
    await vi.waitFor(() => expect(gone()).rejects.toThrow(), { timeout: 90_000, interval: 200 });
    expect(await lab.sandbox.sendCallback(uuid)).toBe(200);
    expect((await parkedFor(afterEnd(orderId))).attention).toMatchObject(CHANGED);
  });
});

test('of a receipt whose follower has ended is looked up by its order_uuid', async () => {
  const address = await newAddress(lab);
  const { orderUuid, handle } = receive(lab, address);
  await (await started(handle)).result();
  lab.sandbox.turnOrder(orderUuid, 'canceled');
  expect(await lab.sandbox.sendCallback(orderUuid)).toBe(200);
  const { attention } = await parkedFor(afterEnd(orderUuid, 'received'));
  expect(attention).toMatchObject(CHANGED);
  await decideNow(afterEnd(orderUuid, 'received'), 'accept');
});

describe.concurrent('an order that may have been sent twice', () => {
  test('is looked up at its end and an hour later; a second order under its id asks an operator', async () => {
    const { orderId, handle } = await startSteered(lab, 'exchange', {
      marker: 'create=500-later later_ms=10000',
    });
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    const { events = [] } = (await lab.temporal.client.workflow.getHandle(idOf(orderId)).fetchHistory()) ?? {};
    const start = events?.[0]?.workflowExecutionStartedEventAttributes;
    expect(JSON.parse(Buffer.from(start?.input?.payloads?.[0]?.data ?? '').toString())).toEqual({
      againAfterMs: 3_600_000,
    });
    // The first send is executed late, against the window; its callback finds the look-ups that wait for the hour.
    const { attention } = await parkedFor(afterEnd(orderId), 'several orders');
    for (const uuid of uuidsOf(orderId)) expect(attention?.reason).toContain(uuid);
    expect(uuidsOf(orderId)).toHaveLength(2);
    await decideNow(afterEnd(orderId), 'accept');
    expect(executions(lab, orderId)).toBe(2);
  });

  test('is looked up a second time without any callback', async () => {
    const { orderId, uuid } = await completed();
    await lab.temporal.client.workflow.start('orderAfterEnd', {
      workflowId: idOf(orderId),
      taskQueue: 'payment-orders',
      args: [{ againAfterMs: 2_000 }],
    });
    await vi.waitFor(async () => expect((await afterEnd(orderId).state()).lastLookupAt).not.toBeNull(), 10_000);
    lab.sandbox.turnOrder(uuid, 'error');
    await parkedFor(afterEnd(orderId));
    await decideNow(afterEnd(orderId), 'accept');
    expect(await ended(orderId)).toEqual(['COMPLETED']);
  });
});

test('a reconciliation has an order looked up whose final status changed, once', async () => {
  const { orderId, uuid } = await completed();
  lab.sandbox.turnOrder(uuid, 'error');
  const result = await lab.orders.reconcile();
  expect(result.disagreements).toContainEqual(expect.objectContaining({ order_id: orderId, class: 'verdictDiffers' }));
  expect((await parkedFor(afterEnd(orderId))).attention).toMatchObject(CHANGED);
  await decideNow(afterEnd(orderId), 'accept');
  await ended(orderId);
  await lab.orders.reconcile();
  expect(await ended(orderId, 2)).toEqual(['COMPLETED', 'COMPLETED']);
});

test('an order without any of this starts nothing after its end', async () => {
  const orderId = newOrderId('plain');
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker: 'callback=drop' }));
  await handle.result();
  expect(await runsOf(orderId)).toEqual([]);
});

describe('a refused payout at an account that shows no later order', () => {
  beforeAll(() => reopen(true));

  // Before: nothing looked for it, and no reset behind the start of look-ups could replay it.
  test('is looked up after its end, by look-ups that leave its run free to be reset', async () => {
    const { orderId } = await rejectedAndExecuted('withdraw');
    const run = await runOf(lab, { workflowId: `order:default:${orderId}` });
    const parents = async () => (await runsOf(orderId)).map(({ parentExecution }) => parentExecution?.workflowId);
    await vi.waitFor(async () => expect(await parents()).toEqual([run.workflowId]), 10_000);
    const last = (await resettableEvents(lab, run)).at(-1) ?? '';
    const cut = await resetTo(lab, run, last);
    await goesOn(lab, cut, Number(last));
    expect((await resultOf(lab, cut)).order.user_order_id).toBe(orderId);
    expect(executions(lab, orderId)).toBe(1);
  });
});

test('a callback during a later run is looked into beside the open question about an earlier run', async () => {
  await reopen(false);
  const { orderId, uuid } = await rejectedAndExecuted('withdraw', 'outcome=completed_partially fraction=0.4');
  await lab.sandbox.sendCallback(uuid);
  await parkedFor(afterEnd(orderId));
  const { input } = await readFirstInput(lab.temporal.client, `order:default:${orderId}`);
  const again = await lab.orders.start('withdraw', input as OrderInput<'withdraw'>, { again: true });
  await parkedFor(again, 'are left');
  lab.sandbox.turnOrder(uuid, 'completed');
  await lab.sandbox.sendCallback(uuid);
  await parkedFor(again, 'now reads completed');
  await decideNow(again, 'accept');
  expect((await again.result()).remainderUnknown).toContain('now reads completed');
  await decideNow(afterEnd(orderId), 'accept');
});
