import type { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBatch } from '../../../src/client/batches.js';
import { cardNumber } from '../../support/batch-files.js';
import { runSizes } from './batch-history.fixture.js';
import { type BatchLab, executedOf, openBatchLab, startRows, testRows, untilState } from './batches.fixture.js';

let lab: BatchLab;
beforeAll(async () => {
  lab = await openBatchLab();
});
afterAll(() => lab?.close());

const describeWorkflow = (workflowId: string) => lab.temporal.client.workflow.getHandle(workflowId).describe();

function tooMany(error: Error): void {
  expect(error.message).toMatch(/too many requests|paused already|not paused|went on in a new one/);
}

describe.concurrent('a batch', () => {
  test('of inline rows is sent like that of a file', async () => {
    const rows = testRows('inline', 5);
    const inline = rows.map(({ id, amount }, index) => ({
      order_id: id,
      currency: 'usd',
      network: 'card',
      amount,
      wallet: cardNumber(index + 1),
    }));
    const batch = await startBatch(lab.temporal.client, { batchId: 'inline', rows: inline, startedBy: 'ann' });
    expect((await batch.result()).outcomes).toMatchObject({ completed: 5, notStarted: 0 });
    expect(executedOf(lab, rows)).toBe(5);
  });

  test('that lives long goes on in a new run before 500 events, with its state, answering updates', {
    timeout: 120_000,
  }, async () => {
    const { client } = lab.temporal;
    const batch = await startRows(lab, testRows('long', 30), { maxInFlight: 1 });
    const { runId } = await describeWorkflow(batch.workflowId);
    for (let cycle = 0; (await describeWorkflow(batch.workflowId)).runId === runId && cycle < 300; cycle += 1) {
      // Refused where too many come at once, which keeps the history short.
      await batch.pause({ by: 'bob', reason: `pause ${cycle}` }).catch(tooMany);
      await batch.resume({ by: 'bob', reason: `resume ${cycle}` }).catch(tooMany);
    }
    // The last resume may have been for the run that was over just then.
    if ((await batch.state()).paused) await batch.resume({ by: 'bob', reason: 'the last one' });
    const { plan, sendingSince } = await untilState(batch, ({ phase }) => phase === 'sending');
    expect(plan?.rows).toBe(30);
    expect(sendingSince).toBeDefined();
    await batch.stop({ by: 'bob', reason: 'long enough' });
    await batch.result();
    const sizes = await runSizes(client, batch.workflowId);
    expect(sizes.length).toBeGreaterThan(1);
    for (const { events, largestPayload } of sizes) {
      expect(events).toBeLessThanOrEqual(500);
      expect(largestPayload).toBeLessThan(100_000);
    }
  });
});

/** [what, workflow id, input as anybody may send it, the field that the failure names] */
const GARBAGE: [string, string, unknown, string][] = [
  ['nothing at all', 'bulk:default:g-nothing', undefined, 'input'],
  ['a text', 'bulk:default:g-text', 'garbage', 'input'],
  [
    'nested too deeply',
    'bulk:default:g-deep',
    { batchId: 'g-deep', rows: JSON.parse(`${'['.repeat(99)}${']'.repeat(99)}`) },
    'input',
  ],
  ['an account as number', 'bulk:default:g-account', { account: 7, batchId: 'g-account' }, 'account'],
  ['no batch id', 'bulk:default:g-id', { startedBy: 'ann' }, 'batchId'],
  ['another workflow id', 'bulk:default:g-other', { batchId: 'g-another' }, 'batchId'],
  ['a plan under the id of a batch', 'bulk:default:g-plan', { batchId: 'g-plan', planOnly: true }, 'planOnly'],
  ['neither file nor rows', 'bulk:default:g-neither', { batchId: 'g-neither', startedBy: 'ann' }, 'file'],
  [
    'an unknown field',
    'bulk:default:g-field',
    { batchId: 'g-field', startedBy: 'ann', file: { path: 'x.csv' }, aproval: 'required' },
    'aproval',
  ],
  ['too long for the history', 'bulk:default:g-long', { batchId: 'g-long', rows: ['x'.repeat(50_000)] }, 'rows'],
];

describe('garbage started without our client', () => {
  beforeAll(() =>
    Promise.all(
      GARBAGE.map(([, workflowId, input]) =>
        lab.temporal.client.workflow.start('bulkWithdraw', { workflowId, taskQueue: 'payment-orders', args: [input] }),
      ),
    ),
  );

  test.for(GARBAGE)('%s fails as InvalidInput that names the field', async ([, workflowId, , field]) => {
    const handle = lab.temporal.client.workflow.getHandle(workflowId);
    const error = await handle.result().catch(({ cause }: { cause: unknown }) => cause);
    expect(error).toMatchObject({ type: 'InvalidInput', nonRetryable: true });
    const [errors] = (error as ApplicationFailure).details as { field: string }[][];
    expect(errors?.map((bad) => bad.field)).toContain(field);
    const { events } = await handle.fetchHistory();
    expect(events?.filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([]);
  });
});
