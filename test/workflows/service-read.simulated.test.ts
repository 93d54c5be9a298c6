import { WorkflowFailedError } from '@temporalio/client';
import { expect, test } from 'vitest';
import { ORDERS_TASK_QUEUE, SERVICE_READ_WORKFLOW } from '../../src/contract/names.js';
import { MINUTE_MS, SECOND_MS, useGatedLab } from '../support/gated-lab.js';

const lab = useGatedLab();

/** What a read of the balances fails with when every attempt is answered like this. */
async function failureWhenAnswered(status: number) {
  lab.gate.rule = () => ({ status });
  const handle = await lab.orders.client.workflow.start(SERVICE_READ_WORKFLOW, {
    taskQueue: ORDERS_TASK_QUEUE,
    workflowId: `read:default:answered-${status}`,
    args: [{ read: 'balances' }],
  });
  const ended = async () => (await handle.describe()).status.name !== 'RUNNING';
  await lab.skipUntil(ended, 10 * SECOND_MS, 2 * MINUTE_MS);
  const error = await handle.result().catch((failed: unknown) => failed);
  return error instanceof WorkflowFailedError ? error.cause : error;
}

test.for([
  [401, 'HTTP 401: check key and signer'],
  [403, 'HTTP 403: check key and signer'],
  [503, 'HTTP 503'],
] as const)('a read that is answered with %i for a minute says so', async ([status, reason]) => {
  const failure = await failureWhenAnswered(status);
  expect(failure).toMatchObject({ type: 'ServiceUnavailable', message: expect.stringContaining(reason) });
});

test('a read that no connection reaches names the reason, too', async () => {
  await lab.gate.shut();
  const failure = await failureWhenAnswered(0);
  await lab.gate.open();
  expect(failure).toMatchObject({ type: 'ServiceUnavailable', message: expect.stringContaining('ECONNREFUSED') });
});
