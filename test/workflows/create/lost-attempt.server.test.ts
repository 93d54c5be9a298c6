import { setTimeout as sleep } from 'node:timers/promises';
import proto from '@temporalio/proto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createTaskQueue, DEFAULT_ACCOUNT } from '../../../src/contract/names.js';
import { isBelow } from '../../../src/preflight/advisories.js';
import { orderInput } from '../../support/inputs.js';
import { accountWith, type Lab, newOrderId, useLab } from '../../support/lab.js';
import { pendingActivity, timeOutCreate, untilLost, untilUncertain } from '../../support/pending-activity.js';

/* Creates that a worker took and was lost before it confirmed that it sends. */

const lab = useLab({ sandbox: { settings: { duplicateMode: 'c' } } });

/** Takes the create of a new order as a worker that is lost before it sends, and has said that it did not. */
async function taken({ temporal: { client, namespace }, orders }: Lab, name: string, isSaid = true) {
  await lab.replaceWorkers(accountWith(lab, { name: 'another' }));
  const handle = await orders.start('withdraw', orderInput('withdraw', newOrderId(name)));
  const taskQueue = { name: createTaskQueue(DEFAULT_ACCOUNT) };
  const { taskToken } = await client.withDeadline(Date.now() + 60_000, () =>
    client.workflowService.pollActivityTaskQueue({ namespace, taskQueue, identity: 'lost' }),
  );
  if (isSaid) await client.activity.heartbeat(taskToken, { unsent: true });
  return handle;
}

/** Takes it so, with a limit of a second, until its order knows. */
async function lost(lab: Lab, name: string) {
  const { client, namespace } = lab.temporal;
  const handle = await taken(lab, name);
  await timeOutCreate(client, namespace, handle.workflowId);
  await untilLost(handle);
  return handle;
}

/** An order whose create was executed, has no answer yet, and is not shown. */
async function sentAndHidden(name: string) {
  await lab.replaceWorkers();
  lab.sandbox.set({ visibilityLagMs: 86_400_000, visibilityLagRate: 1 });
  onTestFinished(() => lab.sandbox.set({ visibilityLagMs: 0, visibilityLagRate: 0 }));
  const marker = 'create=no-answer times=all callback=drop';
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', newOrderId(name), { marker }));
  const creates = () => lab.sandbox.stats().createsByOrderId[handle.orderId] ?? 0;
  await vi.waitUntil(() => creates() === 1, { timeout: 60_000, interval: 50 });
  return { handle, creates };
}

test('the order goes on by itself, without a later order and without a person', async () => {
  const handle = await lost(lab, 'lost');
  await lab.replaceWorkers();
  const result = await handle.result({ timeoutMs: 30_000 });
  expect(result.outcome).toBe('completed');
  expect(result.decisions).toBeUndefined();
  expect(lab.sandbox.stats().createsByOrderId[handle.orderId]).toBe(1);
});

test('one that an operator paused past its limit goes on once it is unpaused, from Temporal 1.32', async ({ skip }) => {
  const { client, namespace } = lab.temporal;
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  skip(isBelow(serverVersion, '1.32.0'), 'older servers forget the limit');
  const handle = await taken(lab, 'lost-paused');
  const target = { namespace, execution: { workflowId: handle.workflowId }, type: 'createOrder', identity: 'operator' };
  await timeOutCreate(client, namespace, handle.workflowId, '5 seconds');
  await client.workflowService.pauseActivity(target);
  await sleep(7_000);
  await pendingActivity(client, handle.workflowId, 'createOrder');
  await client.workflowService.unpauseActivity(target);
  const unpausedAtMs = Date.now();
  await untilLost(handle);
  // Older servers wait for the limit that the create was scheduled with.
  expect(Date.now() - unpausedAtMs).toBeLessThan(20_000);
  await lab.replaceWorkers();
  expect((await handle.result({ timeoutMs: 30_000 })).outcome).toBe('completed');
  expect(lab.sandbox.stats().createsByOrderId[handle.orderId]).toBe(1);
});

test('a cancelled order ends as cancelled', async () => {
  const handle = await lost(lab, 'lost-cancelled');
  await handle.cancel();
  await lab.replaceWorkers();
  await expect(handle.result({ timeoutMs: 60_000 })).rejects.toMatchObject({ kind: 'failed' });
  expect(lab.sandbox.stats().createsByOrderId[handle.orderId]).toBeUndefined();
});

test('after a failover, which may have lost what the worker wrote, absence is proven first', async () => {
  const handle = await lost(lab, 'lost-forgotten');
  await lab.replaceWorkers({ ...lab.config, restoredAtMs: Date.now() - 2 * lab.config.pace.settleWindowMs.atOnce });
  await untilUncertain(handle);
  expect((await handle.state()).waitingFor).toContain('Temporal was restored');
  expect(lab.sandbox.stats().createsByOrderId[handle.orderId]).toBeUndefined();
});

test('one that was lost before it said so may have sent: it is in doubt', async () => {
  const { client, namespace } = lab.temporal;
  const handle = await taken(lab, 'lost-at-once', false);
  await timeOutCreate(client, namespace, handle.workflowId);
  await untilUncertain(handle);
  expect((await handle.state()).waitingFor).toContain('gave no answer in time');
});

test('an operator who pauses a create that was sent, and resets its heartbeat, makes nothing unsent', async () => {
  const { handle, creates } = await sentAndHidden('reset-heartbeat');
  const { client, namespace } = lab.temporal;
  const target = { namespace, execution: { workflowId: handle.workflowId }, type: 'createOrder', identity: 'operator' };
  await client.workflowService.pauseActivity(target);
  await client.workflowService.unpauseActivity({ ...target, resetAttempts: true, resetHeartbeat: true });
  // As long as its worker would be away.
  await timeOutCreate(client, namespace, handle.workflowId);
  await untilUncertain(handle);
  await sleep(4 * lab.config.pace.settleWindowMs.atOnce);
  expect(creates()).toBe(1);
});

test.each(['TIMEOUT_TYPE_START_TO_CLOSE', 'TIMEOUT_TYPE_SCHEDULE_TO_START'] as const)(
  'a failure that somebody calls %s while the create is sent is no time-out: nothing is sent again',
  async (name) => {
    const { handle, creates } = await sentAndHidden('forged');
    const { client, namespace } = lab.temporal;
    const activityId = await pendingActivity(client, handle.workflowId, 'createOrder');
    const timeoutType = proto.temporal.api.enums.v1.TimeoutType[name];
    const failure = { message: 'activity timeout', timeoutFailureInfo: { timeoutType } };
    const target = { namespace, workflowId: handle.workflowId, activityId, identity: 'rogue', failure };
    await client.workflowService.respondActivityTaskFailedById(target);
    const attention = async () => expect((await handle.state()).attention?.code).toBe('foreign-answer');
    await vi.waitFor(attention, { timeout: 30_000 });
    expect((await handle.state()).phase).toBe('uncertain');
    await sleep(3_000);
    expect(creates()).toBe(1);
  },
);
