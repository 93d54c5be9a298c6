import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure, type WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { beforeAll, expect, test } from 'vitest';
import { Engine } from '../../simulator/engine/engine.js';
import { Random } from '../../simulator/random.js';
import type { Activities } from '../../src/activities/index.js';
import { ORDERS_TASK_QUEUE, RECONCILE_WORKFLOW, searchAttribute } from '../../src/contract/names.js';
import type { ReconcileTotals } from '../../src/contract/reconcile/days.js';
import { expectReplay, MINUTE_MS } from '../support/gated-lab.js';
import { codeFor } from '../support/simulated-lab.js';

/** What the one day that is read finds; until it is given, every attempt fails at once, and the next one comes later. */
let classes: Partial<ReconcileTotals['classes']> | undefined;

const activities: Pick<Activities, 'readBalances' | 'reconcileDay' | 'proveBalances' | 'reportReconcile'> = {
  readBalances: async () => ({ carried: [] }),
  reconcileDay: async ({ totals }) => {
    if (!classes) throw ApplicationFailure.create({ message: 'the service refuses its order list' });
    const found = { ...totals, classes: { ...totals.classes, ...classes } };
    return { totals: found, rows: [], malformed: [], notes: [] };
  },
  proveBalances: async () => ({ chains: [], gaps: [], gapCount: 0, notes: [], balances: [], againMs: 1 }),
  reportReconcile: async () => ({}),
};

let engine: Engine;
beforeAll(async () => {
  engine = new Engine(await codeFor(), new Random(1));
  engine.hosts.push({ identity: 'worker', queues: new Set([ORDERS_TASK_QUEUE]), activities, isAlive: true });
});

const startReconcile = (name: string): Promise<WorkflowHandle> =>
  engine.client.workflow.start(RECONCILE_WORKFLOW, {
    workflowId: `reconcile:default-${name}`,
    taskQueue: ORDERS_TASK_QUEUE,
    args: [{}],
  });

/** Every value that PaymentNeedsAttention was given, in turn. */
async function attentionOf(handle: WorkflowHandle): Promise<unknown[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap(({ upsertWorkflowSearchAttributesEventAttributes: upsert }) => {
    const value = upsert?.searchAttributes?.indexedFields?.[searchAttribute.needsAttention.name];
    return value ? [defaultPayloadConverter.fromPayload(value)] : [];
  });
}

/** What the Temporal UI shows of a running workflow. */
async function shownOf(handle: WorkflowHandle): Promise<string | undefined> {
  const { currentDetails } = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  return currentDetails;
}

test.each([
  { name: 'agrees', found: { equal: 1 }, last: [false] },
  { name: 'differs', found: { duplicate: 1 }, last: [] },
])('a reconciliation without a result asks for a person after 15 min; one that $name comes later', async (one) => {
  const { name, found, last } = one;
  classes = undefined;
  const handle = await startReconcile(name);
  await sleep(14 * MINUTE_MS);
  expect(await attentionOf(handle)).toEqual([false]);
  await sleep(2 * MINUTE_MS);
  expect(await attentionOf(handle)).toEqual([false, true]);
  expect(await shownOf(handle)).toMatch(
    /^\*\*Needs attention\*\*: no result after 15 min\. The pending activity says why/,
  );

  classes = found;
  await sleep(10 * MINUTE_MS);
  await expect.poll(async () => (await handle.describe()).status.name).toBe('COMPLETED');
  expect(await attentionOf(handle)).toEqual([false, true, ...last]);
  await expectReplay(engine, handle.workflowId);
});
