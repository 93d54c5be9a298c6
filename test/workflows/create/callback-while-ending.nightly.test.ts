import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { afterEndWorkflowId, ORDER_CALLBACK_SIGNAL } from '../../../src/contract/names.js';
import { startEventReceiver } from '../../support/event-receiver.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';

vi.setConfig({ testTimeout: 150_000 });

let shop: Awaited<ReturnType<typeof startEventReceiver>>;
let lab: Lab;
beforeAll(async () => {
  shop = await startEventReceiver('shop');
  lab = await openLab({ receivers: [shop.config] });
});
afterAll(async () => {
  await lab.close();
  await shop.close();
});

/** Signals the order once it has decided its end and hands its last event over. */
async function signalWhileItEnds(workflowId: string): Promise<boolean> {
  const { client, namespace } = lab.temporal;
  let nextPageToken: Uint8Array | undefined;
  for (;;) {
    const page = await client.workflowService.getWorkflowExecutionHistory({
      namespace,
      execution: { workflowId },
      waitNewEvent: true,
      nextPageToken,
    });
    const events = page.history?.events ?? [];
    if (events.some(({ startChildWorkflowExecutionInitiatedEventAttributes: child }) => child)) {
      return client.workflow
        .getHandle(workflowId)
        .signal(ORDER_CALLBACK_SIGNAL, {})
        .then(
          () => true,
          () => false,
        );
    }
    if (!page.nextPageToken?.length) return false;
    nextPageToken = page.nextPageToken;
  }
}

test('a callback that is acknowledged while an order ends is looked into', async () => {
  lab.sandbox.set({ visibilityLagMs: 600_000 });
  const dropped: string[] = [];
  for (let n = 0; n < 20; n += 1) {
    const orderId = newOrderId('ending');
    const marker = 'create=400-after callback=drop';
    const handle = await lab.orders.start('deposit', orderInput('deposit', orderId, { marker }));
    const taken = signalWhileItEnds(handle.workflowId);
    const end = await handle.result().then(
      () => 'completed',
      (error: { type?: string }) => error.type,
    );
    const after = await lab.temporal.client.workflow
      .getHandle(afterEndWorkflowId(handle.workflowId))
      .describe()
      .then(
        () => true,
        () => false,
      );
    if ((await taken) && !after) dropped.push(`${orderId} ${end}`);
  }
  expect(dropped).toEqual([]);
});
