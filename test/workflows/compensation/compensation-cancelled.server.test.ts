import { describe, expect, test, vi } from 'vitest';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { sendByHand } from '../../activities/order/by-hand.fixture.js';
import { goesOn, resetTo, resettableEvents, runOf } from '../../reliability/reset.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { serviceView } from '../create/service-view.fixture.js';
import { decideNow, executions, parkedFor, startSteered } from './parked-orders.fixture.js';

vi.setConfig({ maxConcurrency: 10 });

const HALF = 'outcome=completed_partially fraction=0.4';
const BEFORE_SEND = 'cancelled before the follow-up was sent';

const caps = new Map<string, string>();
/** Orders whose creates come to nothing, without a clear answer. */
const lost = new Set<string>();

const lab = useGatedLab(
  ({ path, orderId = '' }) => (path.endsWith('/order/withdraw') && lost.has(orderId) ? { status: 500 } : undefined),
  { pace: { confirmDelayMs: 3_000 }, limits: { caps } },
);

const cancel = ({ workflowId }: OrderHandle) => lab.temporal.client.workflow.getHandle(workflowId).cancel();

const creates = ({ orderId }: OrderHandle) => serviceView(lab, `${orderId}.r1`).creates;

const start = async (compensation: 'ask' | 'finish', marker = HALF) =>
  (await startSteered(lab, 'withdraw', { marker, compensation })).handle;

/** Wanted by its policy or by a person, and cancelled between the two readings. */
async function cancelledInBetween(wantedBy: 'its policy' | 'a person') {
  const handle = await start(wantedBy === 'a person' ? 'ask' : 'finish');
  if (wantedBy === 'a person') {
    await parkedFor(handle);
    await decideNow(handle, 'finish');
  }
  const between = async () => (await handle.state()).waitingFor.startsWith('the second reading');
  await vi.waitUntil(between, { timeout: 60_000, interval: 20 });
  await cancel(handle);
  const { attention } = await parkedFor(handle, BEFORE_SEND);
  expect(attention?.allowed).toEqual(['finish', 'accept']);
  expect(creates(handle)).toBe(0);
  return handle;
}

describe.concurrent.each(['its policy', 'a person'] as const)(
  'an order that is cancelled in the confirm delay of a follow-up that %s wants',
  (wantedBy) => {
    test('sends none by itself; a person may accept what is left', async () => {
      const handle = await cancelledInBetween(wantedBy);
      await decideNow(handle, 'accept');
      expect(await handle.result()).toMatchObject({
        outcome: 'completed_partially',
        remainder: [{ kind: 'unpaid', currency: 'usd', amount: '5' }],
        compensation: { status: 'none' },
      });
      expect(creates(handle)).toBe(0);
    });

    test('sends it once where a person decides that after the cancellation', async () => {
      const handle = await cancelledInBetween(wantedBy);
      await decideNow(handle, 'finish');
      expect(await handle.result()).toMatchObject({ compensation: { status: 'done', outcome: 'completed' } });
      expect(executions(lab, `${handle.orderId}.r1`)).toBe(1);
    });
  },
);

describe.concurrent('what was shown before a cancellation is no permission', () => {
  /** Refused as shown; what is shown now says why. */
  async function refusesAsShown(handle: OrderHandle, action: 'finish' | 'resend' | 'approve'): Promise<void> {
    const { revision, runId } = await parkedFor(handle);
    await cancel(handle);
    const now = await parkedFor(handle, 'it was cancelled');
    expect(now.revision).toBeGreaterThan(revision);
    const asShown = { action, by: 'ann', reason: 'as shown', revision, runId } as const;
    await expect(handle.decide(asShown)).rejects.toThrow('is stale');
    expect(await handle.state()).toMatchObject({ phase: 'parked', revision: now.revision });
  }

  test('to send the rest', async () => {
    const handle = await start('ask');
    await refusesAsShown(handle, 'finish');
    expect(creates(handle)).toBe(0);
    await decideNow(handle, 'finish');
    expect(await handle.result()).toMatchObject({ compensation: { status: 'done', outcome: 'completed' } });
    expect(executions(lab, `${handle.orderId}.r1`)).toBe(1);
  });

  test('to send its follow-up again', async () => {
    const handle = await start('ask');
    await parkedFor(handle);
    const child = lab.orders.order(`${handle.orderId}.r1`);
    lost.add(child.orderId);
    await decideNow(handle, 'finish');
    const asks = () =>
      child.state().then(
        ({ phase }) => phase === 'parked',
        () => false,
      );
    await vi.waitUntil(asks, { timeout: 60_000, interval: 100 });
    const { revision, runId } = await child.state();
    await cancel(handle);
    await parkedFor(child, 'it was cancelled');
    const asShown = { action: 'resend', by: 'ann', reason: 'as shown', revision, runId } as const;
    await expect(child.decide(asShown)).rejects.toThrow('is stale');
    await decideNow(child, 'close-absent');
    const { attention } = await parkedFor(handle, 'it was cancelled');
    expect(attention?.reason).toContain(`the follow-up ${child.orderId} came to no order (OrderAbsent)`);
    expect(executions(lab, child.orderId)).toBe(0);
  });
});

test.concurrent('an order that was cancelled, adopted and ends in part does not follow its policy', async () => {
  const orderId = newOrderId('adopted');
  const input = orderInput('withdraw', orderId, { marker: HALF, compensation: 'finish' });
  lost.add(orderId);
  const handle = await lab.orders.start('withdraw', { ...input, resend: 'never' });
  await parkedFor(handle, 'shows no such order');
  await cancel(handle);
  const { order_uuid } = await sendByHand(lab.sandbox, input.order);
  await decideNow(handle, 'adopt', { order_uuid });
  const { attention } = await parkedFor(handle, BEFORE_SEND);
  expect(attention?.allowed).toEqual(['finish', 'accept']);
  expect(creates(handle)).toBe(0);
});

test.concurrent('a reset run goes on from every event of it, and sends nothing either', {
  timeout: 120_000,
}, async () => {
  const handle = await cancelledInBetween('a person');
  const first = await runOf(lab, handle);
  for (const eventId of await resettableEvents(lab, first))
    await goesOn(lab, await resetTo(lab, first, eventId), Number(eventId));
  // Cut at the last of them, it has what was decided and the cancellation.
  await parkedFor(handle, BEFORE_SEND);
  expect(creates(handle)).toBe(0);
});
