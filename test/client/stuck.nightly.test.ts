import { Client } from '@temporalio/client';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { findTemporalCli } from '../../scripts/temporal/find-cli.js';
import { isStuck } from '../../src/client/standing.js';
import { PaymentOrders } from '../../src/client.js';
import { dataConverter } from '../../src/temporal.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { pendingActivity } from '../support/pending-activity.js';
import { keyOf } from '../temporal/stored-bytes.fixture.js';

const lab = useLab({ encryptionKeys: [keyOf('ours')], callbacks: false });

/** What somebody without our keys can do who reaches Temporal. */
const stranger = () => {
  const { client, namespace } = lab.temporal;
  return new Client({
    connection: client.connection,
    namespace,
    dataConverter: dataConverter({ encryptionKeys: [keyOf('theirs')] }),
  });
};

/** Answers an order's polling in place of a worker, with an answer that ours cannot read. */
async function poisonedByAnAnswer() {
  const input = orderInput('withdraw', newOrderId('answered'), { marker: 'after_ms=20000' });
  const handle = await lab.orders.start('withdraw', input);
  await handle.created();
  const { workflowId } = handle;
  const activityId = await pendingActivity(lab.temporal.client, workflowId, 'pollOrder');
  expect(activityId).toMatch(/^poll-status-/);
  await stranger().connection.workflowService.respondActivityTaskCompletedById({
    namespace: lab.temporal.namespace,
    workflowId,
    activityId,
    result: { payloads: [{ metadata: { encoding: Buffer.from('binary/encrypted') }, data: Buffer.from('x') }] },
  });
  return handle;
}

test('an order that cannot go on is found by reconcile, and goes on after a reset', async () => {
  const answered = await poisonedByAnAnswer();
  const unread = await new PaymentOrders(stranger()).start('withdraw', orderInput('withdraw', newOrderId('unread')));
  const healthy = await lab.orders.start(
    'withdraw',
    orderInput('withdraw', newOrderId('fine'), { marker: 'after_ms=60000' }),
  );
  await healthy.created();

  const { client } = lab.temporal;
  const areStuck = async () => {
    const runs = await Promise.all(
      [answered, unread].map((one) => client.workflow.getHandle(one.workflowId).describe()),
    );
    return Promise.all(runs.map((run) => isStuck(client, run)));
  };
  await expect.poll(areStuck, { timeout: 60_000 }).toEqual([true, true]);

  const { classes, disagreements } = await lab.orders.reconcile();
  expect(classes).toMatchObject({ stuck: 2 });
  expect(disagreements.map(({ order_id }) => order_id).toSorted()).toEqual(
    [answered.orderId, unread.orderId].toSorted(),
  );

  // As docs/deciding.md has it.
  const cli = await findTemporalCli(() => undefined);
  // biome-ignore format: flags read best in pairs
  await execa(cli, [
    'workflow', 'reset', '--address', lab.temporal.address, '--namespace', lab.temporal.namespace,
    '--workflow-id', answered.workflowId, '--type', 'LastWorkflowTask', '--reapply-exclude', 'Update',
    '--reason', 'its workflow task kept failing',
  ]);
  expect(await answered.result({ timeoutMs: 60_000 })).toMatchObject({ outcome: 'completed' });
  expect(lab.sandbox.stats().executedByOrderId[answered.orderId]).toBe(1);
  expect(lab.sandbox.stats().executedByOrderId[unread.orderId]).toBeUndefined();
});
