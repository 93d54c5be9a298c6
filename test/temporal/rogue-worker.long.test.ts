import { expect, test, vi } from 'vitest';
import type { Order } from '../../src/index.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { pendingActivity } from '../support/pending-activity.js';
import { plain, rogueAt } from './rogue.fixture.js';
import { keyOf } from './stored-bytes.fixture.js';

vi.setConfig({ testTimeout: 240_000 });

const lab = useLab({ encryptionKeys: [keyOf('a')], encryptionRequired: true });

/** What a rogue makes of an order that it saw once: the id of another one, completed. */
const forged = (seen: Order, workflowId: string): Order => ({
  ...seen,
  user_order_id: workflowId.replace('order:default:', ''),
  order_uuid: `forged-${workflowId.slice(-12)}`.replaceAll(/[^A-Za-z0-9-]/g, '-'),
});

const executed = (orderId: string): number => lab.sandbox.stats().executedByOrderId[orderId] ?? 0;

test('answers of a worker without keys end no order: none is said to be paid that is not, and each stays open and is told', async () => {
  const first = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('seen')));
  const { order: seen } = await first.result();
  const rogue = rogueAt(lab);
  const circumstances = { pace: lab.config.pace, sentTo: { account: 'x#y' } };
  const worker = rogue.answerActivities(({ activityType, workflowExecution }) => {
    const order = forged(seen, workflowExecution?.workflowId ?? '');
    const answers: Record<string, unknown> = {
      createOrder: { ...circumstances, kind: 'accepted', order },
      lookUpOrder: { ...circumstances, kind: 'found', order, differences: [], readAtMs: Date.now() },
      pollOrder: order,
    };
    return { result: plain(answers[activityType?.name ?? ''] ?? order) };
  });
  const ids = Array.from({ length: 20 }, () => newOrderId('rogue'));
  const orders = await Promise.all(ids.map((id) => lab.orders.start('withdraw', orderInput('withdraw', id))));
  await vi.waitUntil(() => worker.answered.length >= 10, { timeout: 60_000 });
  await worker.stop();
  // Those that the rogue answered wait for a person, or for their next look-up; what has ended has been paid.
  const said = await Promise.all(
    orders.map(async (order) => {
      const open = await order.isOpen();
      const state = await order.state();
      return { id: order.orderId, open, needs: state.attention !== undefined, phase: state.phase };
    }),
  );
  const completed = said.filter(({ open }) => !open);
  const unpaid = completed.filter(({ id }) => executed(id) === 0);
  process.stderr.write(
    `rogue answered ${worker.answered.length} tasks; ${completed.length} of 20 ended, ${unpaid.length} unpaid\n`,
  );
  expect(unpaid).toEqual([]);
  const touched = new Set(worker.answered.map((line) => line.split('order:default:')[1]));
  for (const { id, open, needs } of said) {
    if (touched.has(id) && open) expect([id, needs]).toEqual([id, true]);
  }

  // With the rogue gone a person sends again what was proven absent, and every order is paid once.
  await Promise.all(
    orders.map(async (order) => {
      const settled = async () => {
        if (!(await order.isOpen())) return;
        const { attention, revision } = await order.state();
        if (attention?.allowed.includes('resend')) {
          await order.decide({ action: 'resend', by: 'ann', reason: 'absent', revision });
        }
        expect(await order.isOpen()).toBe(false);
      };
      await vi.waitFor(settled, { timeout: 150_000, interval: 500 });
    }),
  );
  expect(ids.map(executed)).toEqual(ids.map(() => 1));
});

const APPLICATION = (type: string) => ({ message: 'no', applicationFailureInfo: { type, nonRetryable: true } });

/** Leaves an activity of an order under way with a worker of ours. */
async function whileSending(orderId: string) {
  const order = await lab.orders.start(
    'withdraw',
    orderInput('withdraw', orderId, { marker: 'create=no-answer-later later_ms=5000' }),
  );
  await vi.waitUntil(() => lab.requestsOf(orderId).length > 1, { timeout: 30_000 });
  return order;
}

test('whoever ends a create by its id while it is being sent is not believed: cancelled, refused or not sent', async () => {
  const { workflowService } = rogueAt(lab).client;
  const { namespace } = lab.temporal;
  const forgeries = [
    (workflowId: string, activityId: string) =>
      workflowService.respondActivityTaskFailedById({
        namespace,
        workflowId,
        activityId,
        failure: APPLICATION('InvalidOrder'),
      }),
    async (workflowId: string, activityId: string) => {
      await rogueAt(lab).client.workflow.getHandle(workflowId).cancel();
      await vi.waitFor(
        () =>
          workflowService.respondActivityTaskCanceledById({
            namespace,
            workflowId,
            activityId,
            details: { payloads: [plain('ACTIVITY_ID_NOT_STARTED')] },
          }),
        { timeout: 10_000, interval: 20 },
      );
    },
    (workflowId: string, activityId: string) =>
      workflowService.respondActivityTaskCompletedById({
        namespace,
        workflowId,
        activityId,
        result: { payloads: [plain({ pace: lab.config.pace, kind: 'notSent', reason: 'busy' })] },
      }),
  ];
  const ends = await Promise.all(
    forgeries.map(async (forge) => {
      const order = await whileSending(newOrderId('sending'));
      await forge(order.workflowId, await pendingActivity(lab.temporal.client, order.workflowId, 'createOrder'));
      const { outcome } = await order.result({ timeoutMs: 120_000 }).catch((error: unknown) => ({ outcome: error }));
      return [outcome, executed(order.orderId)];
    }),
  );
  expect(ends).toEqual(forgeries.map(() => ['completed', 1]));
});
