import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection, type Worker } from '@temporalio/worker';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FailedError } from '../../../src/client/errors.js';
import { DEFAULT_ACCOUNT } from '../../../src/contract/names.js';
import type { WithdrawRequest } from '../../../src/contract/order/request.js';
import { createWorkers } from '../../../src/worker/start-worker.js';
import { cardNumber } from '../../support/batch-files.js';
import { newOrderId } from '../../support/lab.js';
import { workflowBundle } from '../../support/temporal.js';
import { useBatchLab } from './batches.fixture.js';

const lab = useBatchLab();

const rows = (): WithdrawRequest[] => [
  { order_id: newOrderId('of'), currency: 'usd', network: 'card', amount: '10', wallet: cardNumber(1) },
];

/** Workers of another account of the same sandbox, which run one by one as the test says, until it ends. */
async function workersOf(account: string) {
  const { address, namespace } = lab.temporal;
  // The SDK takes one worker of a queue per connection.
  const connection = await NativeConnection.connect({ address });
  const config = lab.config.accounts.get(DEFAULT_ACCOUNT);
  if (!config) throw new Error('the lab has no account');
  const accounts = new Map([[account, { ...config, name: account }]]);
  const code = { workflowBundle: workflowBundle() };
  const [batches, ...own] = await createWorkers({ ...lab.config, accounts }, { connection, namespace }, code);
  const running: { worker: Worker; run: Promise<void> }[] = [];
  const run = (workers: readonly (Worker | undefined)[]): void => {
    for (const worker of workers) if (worker) running.push({ worker, run: worker.run() });
  };
  onTestFinished(async () => {
    for (const { worker } of running) worker.shutdown();
    await Promise.all(running.map(({ run }) => run));
    await connection.close();
  });
  return { runOwnQueues: () => run(own), runBatchQueue: () => run([batches]) };
}

/** What the server knows of the plan that is being made for an account. */
async function pendingPlan(account: string) {
  const plans = lab.temporal.client.workflow.list({ query: `WorkflowId STARTS_WITH 'bulk-plan:${account}:'` });
  for await (const { workflowId } of plans) {
    const { raw } = await lab.temporal.client.workflow.getHandle(workflowId).describe();
    const [pending] = raw.pendingActivities ?? [];
    return { attempt: pending?.attempt ?? 0, failure: pending?.lastFailure?.applicationFailureInfo?.type };
  }
  return undefined;
}

describe('a plan', () => {
  it('for an account that no worker serves is refused within seconds, and says what to do', async () => {
    const begunMs = Date.now();
    const plan = lab.orders.batches.plan({ account: 'defualt', rows: rows(), startedBy: 'ann' });
    const error = await plan.then(
      () => undefined,
      (reason: FailedError) => reason,
    );
    expect(error).toMatchObject({
      name: 'FailedError',
      subject: 'batch',
      type: 'InvalidInput',
      fields: [
        { field: 'account', reason: expect.stringContaining('no worker serves defualt; accounts here: default.') },
      ],
    });
    expect(error?.message).toContain('PAYMENT_ACCOUNTS_FILE');
    expect(Date.now() - begunMs).toBeLessThan(20_000);
  });

  it('for an account of other workers waits for one of them', async () => {
    const { runOwnQueues, runBatchQueue } = await workersOf('other');
    runOwnQueues();
    // Their first polls must have reached the server.
    await sleep(1_000);
    const plan = lab.orders.batches.plan({ account: 'other', rows: rows(), startedBy: 'ann' });
    plan.catch(() => undefined);
    await vi.waitFor(
      async () => expect(await pendingPlan('other')).toMatchObject({ attempt: 5, failure: 'NoAccount' }),
      { timeout: 60_000, interval: 100 },
    );
    await lab.stopWorkers();
    onTestFinished(() => lab.startWorkers());
    runBatchQueue();
    expect(await plan).toMatchObject({ account: 'other', rows: 1 });
  });
});
