import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ORDERS_TASK_QUEUE, RECONCILE_WORKFLOW, searchAttribute } from '../../src/contract/names.js';
import {
  AGREED_CLASSES,
  DISAGREEING_CLASSES,
  type ReconcileClass,
  type ReconcileResult,
} from '../../src/contract/reconcile/reconcile.js';
import type { GateRule } from '../support/service-gate.js';
import { MINUTE_MS, openSkippingLab, type SkippingLab } from '../support/skipping-lab.js';
import { workflowBundle } from '../support/temporal.js';

let lab: SkippingLab;
beforeAll(async () => {
  lab = await openSkippingLab();
});
afterAll(() => lab?.close());

/** The service refuses its order list: every attempt fails at once, and the next one comes later. */
const REFUSES_LIST: GateRule = ({ path }) => (path.endsWith('/order/list') ? { status: 400, body: '{}' } : undefined);

function startReconcile(name: string): Promise<WorkflowHandle> {
  const options = { workflowId: `reconcile:default-${name}`, taskQueue: ORDERS_TASK_QUEUE, args: [{}] };
  return lab.orders.client.workflow.start(RECONCILE_WORKFLOW, options);
}

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

/** Gives the activity's result in its place, as an operator can, while an attempt is under way. */
async function answer({ workflowId }: WorkflowHandle, result: ReconcileResult): Promise<void> {
  let goOn: () => void = () => undefined;
  const held = new Promise<undefined>((resolve) => {
    goOn = () => resolve(undefined);
  });
  const reached = new Promise<void>((resolve) => {
    lab.gate.rule = () => {
      resolve();
      return held;
    };
  });
  const skipping = lab.skip(10 * MINUTE_MS);
  await reached;
  const { client } = lab.orders;
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  await client.workflowService.respondActivityTaskCompletedById({
    namespace: client.options.namespace,
    workflowId,
    activityId: raw.pendingActivities?.[0]?.activityId,
    result: { payloads: [defaultPayloadConverter.toPayload(result)] },
  });
  lab.gate.rule = REFUSES_LIST;
  goOn();
  await skipping;
}

function resultWith(found: Partial<Record<ReconcileClass, number>>): ReconcileResult {
  const none = [...AGREED_CLASSES, ...DISAGREEING_CLASSES].map((name) => [name, 0]);
  return {
    account: 'default',
    from: '',
    to: '',
    seen: 1,
    windows: 1,
    classes: { ...(Object.fromEntries(none) as Record<ReconcileClass, number>), ...found },
    disagreements: [],
    malformed: [],
    malformedCount: 0,
    gaps: [],
    gapCount: 0,
    chains: [],
    notes: [],
  };
}

async function expectReplays(handle: WorkflowHandle): Promise<void> {
  const recorded = [{ workflowId: handle.workflowId, history: await handle.fetchHistory() }];
  for await (const { error } of Worker.runReplayHistories({ workflowBundle: workflowBundle() }, recorded))
    expect(error).toBeUndefined();
}

test.each([
  { name: 'agrees', found: { equal: 1 }, last: [false] },
  { name: 'differs', found: { duplicate: 1 }, last: [] },
])('a reconciliation without a result asks for a person after 15 min; one that $name comes later', async (one) => {
  const { name, found, last } = one;
  lab.gate.rule = REFUSES_LIST;
  const handle = await startReconcile(name);
  await lab.skip(14 * MINUTE_MS);
  expect(await attentionOf(handle)).toEqual([false]);
  await lab.skip(2 * MINUTE_MS);
  expect(await attentionOf(handle)).toEqual([false, true]);
  expect(await shownOf(handle)).toMatch(
    /^\*\*Needs attention\*\*: no result after 15 min\. The pending activity says why/,
  );

  await answer(handle, resultWith(found));
  await expect.poll(async () => (await handle.describe()).status.name).toBe('COMPLETED');
  expect(await attentionOf(handle)).toEqual([false, true, ...last]);
  await expectReplays(handle);
});
