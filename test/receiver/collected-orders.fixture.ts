import type { WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll } from 'vitest';
import { orderWorkflowId } from '../../src/contract/names.js';
import { testWorkflowBundle } from '../support/bundle-once.js';
import { useNamespace } from '../support/temporal.js';
import type { collectSignals } from './collect-signals.fixture.js';

/** For the tests of a file: a namespace whose orders are stand-ins that collect the hints of their callbacks. */
export function collectedOrders() {
  const temporal = useNamespace();
  let worker: Worker;
  let workerEnd: Promise<void>;
  beforeAll(async () => {
    worker = await Worker.create({
      connection: temporal.nativeConnection,
      namespace: temporal.namespace,
      taskQueue: 'collected',
      workflowBundle: await testWorkflowBundle(new URL('./collect-signals.fixture.ts', import.meta.url)),
    });
    workerEnd = worker.run();
  });
  afterAll(async () => {
    worker?.shutdown();
    await workerEnd;
  });
  const start = (
    orderId: string,
    workflowId = orderWorkflowId('default', orderId),
  ): Promise<WorkflowHandle<typeof collectSignals>> =>
    temporal.client.workflow.start<typeof collectSignals>('collectSignals', { workflowId, taskQueue: 'collected' });
  return { temporal: () => temporal, start };
}
