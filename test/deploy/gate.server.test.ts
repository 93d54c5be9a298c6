import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { ORDERS_TASK_QUEUE, SERVICE_READ_WORKFLOW } from '../../src/contract/names.js';
import { useLab } from '../support/lab.js';

const lab = useLab({ workers: false });

test('the gate of a version that is not current yet runs on its workers, and passes when a signed read does', async () => {
  // The names that the Temporal Worker Controller gives: namespace and name of the WorkerDeployment, and a hash.
  const version = { deploymentName: 'payment-orders/worker', buildId: 'payment-orders-0000000000-1a2b' };
  await lab.startWorkers({ version });
  const { client } = lab.temporal;
  const start = () =>
    client.workflow.start(SERVICE_READ_WORKFLOW, {
      workflowId: `test-${version.deploymentName}:${version.buildId}-${ORDERS_TASK_QUEUE}-${randomUUID()}`,
      taskQueue: ORDERS_TASK_QUEUE,
      workflowExecutionTimeout: '1h',
      versioningOverride: { pinnedTo: version },
    });
  await expect
    .poll(
      () =>
        start().then(
          () => true,
          () => false,
        ),
      { timeout: 60_000 },
    )
    .toBe(true);
  const handle = await start();
  expect(await handle.result()).toHaveProperty('usd');
  const { raw } = await handle.describe();
  expect(raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion).toMatchObject(version);
});
