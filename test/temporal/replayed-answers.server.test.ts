import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { serviceView } from '../workflows/create/service-view.fixture.js';
import { rogueAt } from './rogue.fixture.js';
import { keyOf } from './stored-bytes.fixture.js';

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({
    encryptionKeys: [keyOf('a')],
    encryptionRequired: true,
    pace: { settleWindowMs: { atOnce: 3_000, deposit: 3_000 } },
    sandbox: { settings: { duplicateMode: 'c' } },
  });
});
afterAll(() => lab?.close());

/** The activity that a run is waiting for, by type and id, once it is about to send. */
async function createUnderWay(workflowId: string): Promise<string> {
  return vi.waitUntil(
    async () => {
      const { raw } = await lab.temporal.client.workflow.getHandle(workflowId).describe();
      const create = (raw.pendingActivities ?? []).find(({ activityType }) => activityType?.name === 'createOrder');
      return create?.heartbeatDetails?.payloads?.length ? create.activityId : undefined;
    },
    { timeout: 30_000, interval: 20 },
  ) as Promise<string>;
}

// Before: taken for "nothing known", so that the create was sent again at once: executed twice.
test('what a look-up of an earlier run answered is no answer of a create, though it was encrypted for its place', async () => {
  const orderId = newOrderId('twice');
  const rogue = rogueAt(lab);
  const marker = 'slow_ms=5000 lag_ms=12000';
  const first = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker: `create=400 ${marker}` }));
  await expect(first.result()).rejects.toMatchObject({ type: 'OrderRejected' });
  const { workflowId } = first;
  const earlier = await rogue.historyOf(workflowId);
  await sleep(4_000);
  lab.sandbox.set({ faults: { 'create.slow': 1 } });
  const input = orderInput('withdraw', orderId, { marker: `create=slow times=9 ${marker}` });
  const handle = await lab.orders.start('withdraw', input, { again: true });
  const activityId = await createUnderWay(workflowId);
  await sleep(700);

  const scheduled = earlier.find((event) => event.activityTaskScheduledEventAttributes?.activityId === activityId);
  expect(scheduled?.activityTaskScheduledEventAttributes?.activityType?.name).toBe('lookUpOrder');
  const completed = earlier
    .flatMap(({ activityTaskCompletedEventAttributes: attributes }) => attributes ?? [])
    .find(({ scheduledEventId }) => String(scheduledEventId) === String(scheduled?.eventId));
  await rogue.client.workflowService.respondActivityTaskCompletedById({
    namespace: lab.temporal.namespace,
    workflowId,
    activityId,
    result: completed?.result,
    identity: 'rogue',
  });
  expect(await handle.result({ timeoutMs: 60_000 })).toMatchObject({ outcome: 'completed' });
  expect(serviceView(lab, orderId).executed).toBe(1);
});
