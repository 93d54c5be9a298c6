import { beforeAll, describe, expect, test, vi } from 'vitest';
import { serviceOf } from '../../scripts/service-of.js';
import type { OrderHandle } from '../../src/client/order-handle.js';
import type { CreateRequests } from '../../src/contract/order/request.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useGatedLab } from '../support/lab.js';
import type { GateAnswer } from '../support/service-gate.js';
import {
  atService,
  decideNow,
  executions,
  parkedFor,
  startSteered,
} from '../workflows/compensation/parked-orders.fixture.js';
import { goesOn, type Run, resetTo, resettableEvents, runOf } from './reset.fixture.js';

/* A run that was reset replays what its order did while it waited, though it can no longer say that nothing was sent. */

vi.setConfig({ maxConcurrency: 10 });

/** A run cut from one that may have a create on its way counts absence only after that one's 60 s. */
const TEST_LIMIT_MS = 180_000;
const SETTLE_MS = 3_000;

const caps = new Map([['usd', '20']]);
/** What the service answers to the creates of an order. */
const creates = new Map<string, () => Promise<GateAnswer | undefined>>();

const lab = useGatedLab(
  async ({ path, orderId = '' }) => (path.endsWith('/order/withdraw') ? creates.get(orderId)?.() : undefined),
  { workers: false, limits: { caps }, pace: { settleWindowMs: { atOnce: SETTLE_MS, deposit: SETTLE_MS } } },
);
beforeAll(() => lab.startWorkers({ restoredAtMs: Date.now() }));

const withdraw = (label: string, amount = '12.50', marker = '', orderId = newOrderId(label)) => {
  const input = orderInput('withdraw', orderId, { marker: `duplicate=c after_ms=20 ${marker}` });
  return { ...input, order: { ...input.order, amount } };
};

const cancel = ({ workflowId }: OrderHandle) => lab.temporal.client.workflow.getHandle(workflowId).cancel();

/** Another program of the merchant, or a run that nobody remembers, makes the order. */
async function make(request: CreateRequests['withdraw']): Promise<void> {
  await (await serviceOf(lab.sandbox)).createOrder('withdraw', request);
}

async function aboveCap(label: string) {
  const input = withdraw(label, '21');
  const handle = await lab.orders.start('withdraw', input);
  await parkedFor(handle, 'above the cap');
  return { handle, input };
}

/** A follow-up whose order somebody else's replaces at its very create, which is refused. */
async function refusedFollowUp(): Promise<OrderHandle> {
  const { orderId, handle } = await startSteered(lab, 'withdraw', {
    marker: 'outcome=completed_partially fraction=0.4',
    compensation: 'finish',
  });
  const id = `${orderId}.r1`;
  creates.set(id, async () => {
    await make({ ...withdraw('foreign', '19').order, order_id: id });
    return { status: 400, body: '{"message":"id is used"}' };
  });
  await handle.final();
  const child = lab.orders.order(id);
  await vi.waitUntil(() => child.state().then(isParked, () => false), { timeout: 60_000, interval: 100 });
  // Read once more, all of it behind what it was settled by.
  await decideNow(child, 'close-absent');
  await expect(child.result()).rejects.toMatchObject({ closed: true });
  return child;
}

const isParked = ({ phase }: { phase: string }) => phase === 'parked';

/** What an order did before it is reset to each of its events. `found`: it comes to what is at the service. */
const CASES: Record<string, () => Promise<OrderHandle>> = {
  'one that was settled because Temporal had been restored': async () => {
    const handle = await lab.orders.start('withdraw', withdraw('restored'));
    await handle.result();
    return handle;
  },
  'one whose refusal found its order': async () => {
    const { handle, input } = await aboveCap('refused-found');
    await make(input.order as CreateRequests['withdraw']);
    await decideNow(handle, 'refuse');
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
    return handle;
  },
  'one whose cancellation found its order': async () => {
    const { handle, input } = await aboveCap('cancelled-found');
    await make(input.order as CreateRequests['withdraw']);
    await cancel(handle);
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
    return handle;
  },
  'one that was refused above the cap': async () => {
    const { handle } = await aboveCap('refused-parked');
    await decideNow(handle, 'refuse');
    await expect(handle.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
    return handle;
  },
  'one that was cancelled above the cap': async () => {
    const { handle } = await aboveCap('cancelled-parked');
    await cancel(handle);
    await expect(handle.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
    return handle;
  },
  'a follow-up that was refused, and settled, beside an order of somebody else': refusedFollowUp,
  'a refused create whose order was found': async () => {
    const handle = await lab.orders.start('withdraw', withdraw('400-after', '12.50', 'create=400-after times=all'));
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
    return handle;
  },
  'a follow-up that was stale': async () => {
    const { orderId, handle } = await startSteered(lab, 'withdraw', {
      marker: 'outcome=completed_partially fraction=0.4',
      order: { amount: '19.00' },
    });
    await parkedFor(handle);
    const child = lab.orders.order(`${orderId}.r1`);
    creates.set(`${orderId}.r1`, async () => ({ status: 500 }));
    caps.set('usd', '1');
    await decideNow(handle, 'finish', { as: 'withdraw' });
    await vi.waitUntil(() => child.state().then(isParked, () => false), { timeout: 60_000, interval: 100 });
    caps.set('usd', '20');
    lab.sandbox.turnOrder(atService(lab, orderId).order.order_uuid, 'completed');
    await decideNow(child, 'approve');
    await expect(child.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
    return child;
  },
};

/** Resets to its last event an order that ended as cancelled: the run cut there knows less. */
async function cutAtItsEnd(title: string): Promise<OrderHandle> {
  const handle = (await CASES[title]?.()) as OrderHandle;
  const first = await runOf(lab, handle);
  await resetTo(lab, first, (await resettableEvents(lab, first)).at(-1) ?? '');
  return lab.orders.order(handle.orderId);
}

describe.concurrent('a run that was reset does not end as one of which nothing was sent', {
  timeout: TEST_LIMIT_MS,
}, () => {
  test('refused, it is closed in doubt once absence is proven: where the run before it sent to is not known', async () => {
    const cutAtMs = Date.now();
    const handle = await cutAtItsEnd('one that was refused above the cap');
    await expect(handle.result()).rejects.toMatchObject({ closed: true });
    expect(Date.now() - cutAtMs).toBeGreaterThan(60_000 + SETTLE_MS);
  });

  test('refused, it finds what the run before it sent', async () => {
    const handle = await cutAtItsEnd('one that was refused above the cap');
    await make(withdraw('refused-late', '21', '', handle.orderId).order as CreateRequests['withdraw']);
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
    expect(executions(lab, handle.orderId)).toBe(1);
  });

  test('closed as absent, it proves that once more', async () => {
    const input = { ...withdraw('closed', '12.50', 'create=500-before'), resend: 'never' } as const;
    const handle = await lab.orders.start('withdraw', input);
    await parkedFor(handle, 'shows no such order');
    await decideNow(handle, 'close-absent');
    await expect(handle.result()).rejects.toMatchObject({ type: 'OrderAbsent' });
    const first = await runOf(lab, handle);
    // Another run of the order, cut from its begin, has sent it meanwhile.
    await make(input.order as CreateRequests['withdraw']);
    await resetTo(lab, first, (await resettableEvents(lab, first)).at(-1) ?? '');
    expect(await lab.orders.order(handle.orderId).result()).toMatchObject({ outcome: 'completed', adopted: true });
  });

  test('cancelled, a person is asked once absence is proven', async () => {
    const handle = await cutAtItsEnd('one that was cancelled above the cap');
    const { attention } = await parkedFor(handle, 'it was cancelled; where its create went is not known', 90_000);
    expect(attention?.allowed).toEqual(['resend', 'close-absent', 'adopt']);
    await decideNow(handle, 'close-absent');
    await expect(handle.result()).rejects.toMatchObject({ closed: true });
    expect(executions(lab, handle.orderId)).toBe(0);
  });
});

/** Resets to each event in turn, the last one last; answers the run cut there. */
async function resetEverywhere(handle: OrderHandle): Promise<Run> {
  const first = await runOf(lab, handle);
  const events = await resettableEvents(lab, first);
  expect(events.length).toBeGreaterThanOrEqual(2);
  let cut = first;
  for (const eventId of events) {
    cut = await resetTo(lab, first, eventId);
    await goesOn(lab, cut, Number(eventId));
  }
  return cut;
}

describe('a reset run goes on from every event of', () => {
  test.for(Object.keys(CASES))('%s', { timeout: TEST_LIMIT_MS }, async (title) => {
    const handle = (await CASES[title]?.()) as OrderHandle;
    const before = executions(lab, handle.orderId);
    const { workflowId } = await resetEverywhere(handle);
    expect(executions(lab, handle.orderId)).toBe(before);
    const end = lab.temporal.client.workflow.getHandle(workflowId).terminate('end of the test');
    await end.catch(() => undefined);
  });
});
