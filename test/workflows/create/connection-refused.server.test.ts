import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Door, openDoor } from '../../receiver/door.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';
import { serviceView } from './service-view.fixture.js';

let door: Door;
let lab: Lab;
beforeAll(async () => {
  lab = await openLab({
    serviceUrl: async (sandboxUrl) => {
      door = await openDoor(sandboxUrl);
      return door.url;
    },
  });
  // Fetches the rates, so that the next connection of an order is its probe.
  const warmUp = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('warm-up')));
  await warmUp.result();
});
afterAll(async () => {
  await lab?.close();
  await door?.shut();
});

/** The order's only open activity: what its workflow waits for. */
async function waitsFor(orderId: string): Promise<string | undefined> {
  const handle = lab.temporal.client.workflow.getHandle(lab.orders.order(orderId).workflowId);
  const { raw } = await handle.describe();
  return raw.pendingActivities?.[0]?.activityType?.name ?? undefined;
}

describe('a refused connection proves that nothing was sent: the order waits and is then created once', () => {
  test.for([
    { refused: 'the probe', letIn: 0, before: [] },
    { refused: 'the create itself', letIn: 1, before: ['/v2/order/list'] },
  ])('when $refused is refused', async ({ letIn, before }) => {
    const orderId = newOrderId('refused');
    if (letIn === 0) await door.shut();
    else door.shutAfter(letIn);
    // Without a re-send an uncertain create would park.
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { resend: 'never' }));
    await expect.poll(() => waitsFor(orderId), { timeout: 60_000 }).toBe('lookUpOrder');
    expect(lab.requestsOf(orderId)).toEqual(before);
    expect(await handle.state()).toMatchObject({ phase: 'creating', status: null });
    await door.open();
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: false });
    expect(serviceView(lab, orderId)).toEqual({ creates: 1, executed: 1, blindCreates: 0 });
  });

  test('when every connection is cut off before the service reads it', async () => {
    const orderId = newOrderId('down');
    lab.sandbox.set({ serverDown: true });
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { resend: 'never' }));
    await expect.poll(() => waitsFor(orderId), { timeout: 60_000 }).toBe('lookUpOrder');
    expect(lab.requestsOf(orderId)).toEqual([]);
    lab.sandbox.set({ serverDown: false });
    expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: false });
    expect(serviceView(lab, orderId)).toEqual({ creates: 1, executed: 1, blindCreates: 0 });
  });
});
