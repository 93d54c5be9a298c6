import { expect, test, vi } from 'vitest';
import type { Decision } from '../../../src/contract/order/messages.js';
import { resetTo, resettableEvents, runOf, WITHOUT_UPDATES } from '../../reliability/reset.fixture.js';
import { KEYS, testApprovers } from '../../support/approvers.js';
import { orderInput } from '../../support/inputs.js';
import { accountWith, newOrderId, useLab } from '../../support/lab.js';
import { executions, parkedFor } from '../compensation/parked-orders.fixture.js';

const APPROVERS = testApprovers();

const lab = useLab({ workers: false, limits: { caps: new Map([['usd', '10']]) } });

/** Workers of another account: they run workflows, and take nothing that the account of the orders is asked. */
const elsewhere = () => accountWith(lab, { name: 'other' });

const signed = { approvers: APPROVERS };

async function overCap() {
  const orderId = newOrderId('unchecked');
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId));
  const { revision } = await parkedFor(handle);
  const shown = { amount: '12.50', currency: 'usd' };
  const decision: Decision = { action: 'approve', ...shown, by: 'Ann Smith', reason: 'meant', revision };
  return { orderId, handle, decision };
}

test('a decision that no worker of the account checks is not taken, and does not hold up the end of its order', async () => {
  await lab.startWorkers(signed);
  const { orderId, handle, decision } = await overCap();
  await lab.replaceWorkers(elsewhere());
  const asked = handle.decide(decision, { signer: KEYS.ann, timeoutMs: 2_000 });
  await expect(asked).rejects.toMatchObject({ kind: 'noWorker' });
  expect(await handle.state()).toMatchObject({ phase: 'parked', revision: decision.revision });
  await lab.temporal.client.workflow.getHandle(handle.workflowId).cancel();
  await expect(handle.result({ timeoutMs: 60_000 })).rejects.toMatchObject({ type: 'OrderCancelled' });
  expect(executions(lab, orderId)).toBe(0);
  await lab.stopWorkers();
});

test('a decision that nobody checked is refused while its caller still waits, and is not taken after that', async () => {
  await lab.startWorkers(signed);
  const { orderId, handle, decision } = await overCap();
  await lab.replaceWorkers(elsewhere());
  // A worker that answers is enough for an answer: a caller who reads that nobody does cannot know what comes of it.
  const asked = handle.decide(decision, { signer: KEYS.ann, timeoutMs: 60_000 });
  await expect(asked).rejects.toMatchObject({ kind: 'refused', message: expect.stringContaining('was not checked') });
  await lab.replaceWorkers(signed);
  expect(await handle.state()).toMatchObject({ phase: 'parked', revision: decision.revision });
  expect(executions(lab, orderId)).toBe(0);
  await handle.decide(decision, { signer: KEYS.ann });
  expect(await handle.result()).toMatchObject({ outcome: 'completed', decisions: [{ by: 'Ann Smith' }] });
  await lab.stopWorkers();
});

test('a decision that waits for a worker of the account is checked by it, and taken once', async () => {
  await lab.startWorkers(signed);
  const [good, bad] = [await overCap(), await overCap()];
  await lab.replaceWorkers(elsewhere());
  const waiting = { timeoutMs: 60_000 };
  // On a busy machine a check may be over before the next workers are there.
  const outcome = async (decide: () => Promise<unknown>): Promise<string> => {
    for (;;) {
      const said = await decide().then(
        () => 'taken',
        (error: Error) => error.message,
      );
      if (!said.includes('was not checked')) return said;
    }
  };
  const answers = Promise.all([
    outcome(() => good.handle.decide(good.decision, { signer: KEYS.ann, ...waiting })),
    outcome(() => bad.handle.decide(bad.decision, { signer: KEYS.zed, ...waiting })),
    outcome(() => bad.handle.decide({ ...bad.decision, by: 'Chief Operator' }, waiting)),
  ]);
  const checksOf = async ({ workflowId }: { workflowId: string }) => {
    const { raw } = await lab.temporal.client.workflow.getHandle(workflowId).describe();
    return raw.pendingActivities?.filter(({ activityType }) => activityType?.name === 'checkSignature').length;
  };
  const pending = async () => [await checksOf(good.handle), await checksOf(bad.handle)];
  await vi.waitFor(async () => expect(await pending()).toEqual([1, 2]), 20_000);
  await lab.replaceWorkers(signed);
  const [taken, ...refused] = await answers;
  expect(taken).toBe('taken');
  expect(refused[0]).toContain('no person of APPROVERS_FILE');
  expect(refused[1]).toContain('takes nothing unsigned');
  expect(await good.handle.result()).toMatchObject({ outcome: 'completed', decisions: [{ by: 'Ann Smith' }] });
  expect(await bad.handle.state()).toMatchObject({ phase: 'parked', revision: bad.decision.revision });
  expect([executions(lab, good.orderId), executions(lab, bad.orderId)]).toEqual([1, 0]);
  await lab.stopWorkers();
});

test('a decision that a run took up before it was reset, and that is checked after that, is not taken', async () => {
  await lab.startWorkers();
  const { orderId, handle, decision } = await overCap();
  const { runId } = await handle.state();
  await lab.replaceWorkers(elsewhere());
  const asked = handle.decide({ ...decision, runId }, { timeoutMs: 60_000 }).catch((error: Error) => error);
  const workflow = lab.temporal.client.workflow.getHandle(handle.workflowId);
  const isAsked = async () => (await workflow.describe()).raw.pendingActivities?.length === 1;
  await vi.waitUntil(isAsked, 20_000);
  const run = await runOf(lab, handle);
  const before = (await resettableEvents(lab, run)).length;
  // Makes a workflow task, and nothing else.
  await workflow.signal('unknown');
  const events = await vi.waitUntil(async () => {
    const now = await resettableEvents(lab, run);
    return now.length > before && now;
  }, 20_000);
  const made = await resetTo(lab, run, events.at(-1) ?? '', WITHOUT_UPDATES);
  await lab.replaceWorkers();
  await vi.waitUntil(async () => !(await isAsked()), 30_000);
  expect(await handle.state()).toMatchObject({ phase: 'parked', revision: decision.revision, runId: made.runId });
  expect(executions(lab, orderId)).toBe(0);
  expect(await asked).toBeInstanceOf(Error);
  await lab.stopWorkers();
});
