import { describe, expect, test, vi } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { serviceView } from '../workflows/create/service-view.fixture.js';
import { goesOn, resetTo, resettableEvents, runOf } from './reset.fixture.js';

vi.setConfig({ maxConcurrency: 10 });

const lab = useLab();

// A run that was reset replays what its order did before. It must take the same steps, although it knows less.
describe.concurrent('a reset run goes on from every event of', () => {
  test.for([
    ['an order that was cancelled while its create was under way', 'create=slow slow_ms=1500', true],
    ['an order that the service refused', 'create=400', false],
  ] as const)('%s', { timeout: 120_000 }, async ([, marker, cancelled]) => {
    const input = orderInput('withdraw', newOrderId('replayed'), { marker: `duplicate=c ${marker}` });
    const handle = await lab.orders.start('withdraw', input);
    if (cancelled) {
      await vi.waitUntil(() => serviceView(lab, handle.orderId).creates > 0, { timeout: 60_000, interval: 20 });
      await lab.temporal.client.workflow.getHandle(handle.workflowId).cancel();
    }
    await handle.result().catch((error: unknown) => expect(error).toMatchObject({ type: 'OrderRejected' }));
    const first = await runOf(lab, handle);
    const events = await resettableEvents(lab, first);
    expect(events.length).toBeGreaterThanOrEqual(4);
    for (const eventId of events) await goesOn(lab, await resetTo(lab, first, eventId), Number(eventId));
    expect(serviceView(lab, handle.orderId).executed).toBeLessThanOrEqual(1);
    await lab.temporal.client.workflow
      .getHandle(handle.workflowId)
      .terminate('end of the test')
      .catch(() => undefined);
  });
});
