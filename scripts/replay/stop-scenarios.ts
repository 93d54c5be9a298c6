import { setTimeout as sleep } from 'node:timers/promises';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { accountStopWorkflowId } from '../../src/contract/names.js';
import type { Installation } from './installation.js';
import { decideWhenParked, input, type Scenario } from './scenarios.js';

const ACCOUNT = 'default';
const RECORDED = { by: 'operator', reason: 'recorded' };

/** Orders whose creates have their turns first. */
const BEFORE_IT = 12;

/** A worker may send for this time after a stop. */
const STOPPED_AFTER_MS = 2_000;

/** Starts a payout while the account is stopped, and resumes the account. */
async function payWhileStopped(
  { orders }: Installation,
  name: string,
  meanwhile?: (handle: OrderHandle) => Promise<unknown>,
): Promise<string> {
  await orders.accounts.stop(ACCOUNT, RECORDED);
  await sleep(STOPPED_AFTER_MS);
  const handle = await orders.start('withdraw', input('withdraw', name));
  while (!(await handle.state()).waitingFor.includes('is stopped')) await sleep(100);
  await meanwhile?.(handle);
  await orders.accounts.resume(ACCOUNT, RECORDED);
  if (meanwhile) await decideWhenParked('release')(handle);
  await handle.result();
  return handle.workflowId;
}

/** Orders that a stop of the account and a hold keep back, and the workflow of the stop. */
export const STOP_SCENARIOS: readonly Scenario[] = [
  { name: 'stop-waited', alone: true, run: (installation) => payWhileStopped(installation, 'stop-waited') },
  {
    name: 'stop-held',
    alone: true,
    run: (installation) => payWhileStopped(installation, 'stop-held', (handle) => handle.hold(RECORDED)),
  },
  {
    name: 'stop',
    alone: true,
    run: async (installation) => {
      await payWhileStopped(installation, 'stop');
      const stop = installation.client.workflow.getHandle(accountStopWorkflowId(ACCOUNT));
      await stop.result();
      return stop.workflowId;
    },
  },
];

/** At one request a second: an order that is held while its create waits for its turn, and released. */
export const QUEUE_SCENARIOS: readonly Scenario[] = [
  {
    name: 'held-in-queue',
    alone: true,
    run: async ({ orders }) => {
      const names = Array.from({ length: BEFORE_IT }, (_, index) => `held-in-queue-before-${index + 1}`);
      for (const name of names) await orders.start('withdraw', input('withdraw', name));
      const handle = await orders.start('withdraw', input('withdraw', 'held-in-queue'));
      await handle.hold(RECORDED);
      await decideWhenParked('release')(handle);
      // A worker may have had the create, and no later order shows that the service lacks it.
      await decideWhenParked('resend')(handle);
      await handle.result();
      return handle.workflowId;
    },
  },
];
