import { setTimeout as sleep } from 'node:timers/promises';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { orderStartOptions } from '../../src/client/start-options.js';
import { recoveredStart } from '../../src/contract/order/followers.js';
import { workflowTypeOf } from '../../src/contract/order/types.js';
import { isMalformed } from '../../src/contract/service-objects.js';
import { PARTIAL } from '../replay/scenarios.js';
import { accountOf, type Stuck, type StuckPlace, startOrder } from './stuck.js';

/* Ways to be stuck that need a second act, such as a worker that changes or an order that vanishes. */

/** An order whose time to start passes while no worker serves its account. */
async function startLate(place: StuckPlace): Promise<string> {
  const handle = await startOrder(place, 'rent-2026-12', { account: 'za', delay: 1, about: 'Rent of December' });
  await sleep(65_000);
  await place.serve([accountOf('za', place.sandbox)]);
  return handle.workflowId;
}

/** An order that the list shows and its run is lost: the service then shows it no more. */
async function startVanished(place: StuckPlace): Promise<string> {
  const { client, orders, sandbox } = place;
  const steered = { marker: 'after_ms=600000 callback=drop', about: 'Fee of October' };
  const handle = await startOrder(place, 'fee-2026-10', steered);
  await handle.created();
  await client.workflow.getHandle(handle.workflowId).terminate('its run is lost');
  const [item] = await orders.orderList({ order_ids: [handle.orderId] });
  const start = item && !isMalformed(item) && recoveredStart('default', item);
  if (!start) throw new Error('the order is not listed');
  sandbox.removeOrder(item.order_uuid);
  const options = orderStartOptions(start.type, start.input);
  await client.workflow.start(workflowTypeOf(start.type), { ...options, workflowIdReusePolicy: 'ALLOW_DUPLICATE' });
  return handle.workflowId;
}

const untilState = async (handle: OrderHandle, holds: (phase: string) => boolean): Promise<number> => {
  for (const untilMs = Date.now() + 60_000; Date.now() < untilMs; await sleep(100)) {
    // A follow-up may not be started yet.
    const shown = await handle.state().catch(() => undefined);
    if (shown && holds(shown.phase)) return shown.revision;
  }
  throw new Error(`${handle.orderId} does not come so far`);
};

/** An order that is reset to before it started its follow-up, which is not final. */
async function startFollowed(place: StuckPlace): Promise<string> {
  const { client, sandbox, orders } = place;
  const handle = await startOrder(place, 'bonus-2026-032', { marker: PARTIAL, compensation: 'ask', about: 'Bonus' });
  const revision = await untilState(handle, (phase) => phase === 'parked');
  sandbox.set({ durationsMs: { pay: 600_000, execute: 600_000 } });
  await handle.decide({ action: 'finish', by: 'bob', reason: 'still wanted', revision });
  await untilState(orders.order(`${handle.orderId}.r1`), (phase) => phase === 'following');
  const { events } = await client.workflow.getHandle(handle.workflowId).fetchHistory();
  const initiated = events?.find((event) => event.startChildWorkflowExecutionInitiatedEventAttributes);
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId: handle.workflowId },
    workflowTaskFinishEventId:
      initiated?.startChildWorkflowExecutionInitiatedEventAttributes?.workflowTaskCompletedEventId,
    requestId: handle.orderId,
    reason: 'reset by mistake',
  });
  return handle.workflowId;
}

/** Stops the workers of the account `ca` that have another key. */
let stopOther = async (): Promise<void> => undefined;

/** An order whose workers get another key and base URL while it is open. */
async function startMoved(place: StuckPlace): Promise<string> {
  const stop = await place.serve([accountOf('ca', place.sandbox)]);
  const steered = { account: 'ca', marker: 'after_ms=600000 callback=drop', about: 'Invoice 4410' };
  const handle = await startOrder(place, 'invoice-4410', steered);
  const { order_uuid } = await handle.created();
  await stop();
  stopOther = await place.serve([accountOf('ca', place.gb)]);
  await place.sandbox.sendCallback(order_uuid);
  return handle.workflowId;
}

/** A payout that completed, and then failed at the bank. */
async function startReturned(place: StuckPlace): Promise<string> {
  const handle = await startOrder(place, 'salary-2026-10-017', { marker: 'callback=drop', about: 'Salary of October' });
  const { order } = await handle.result();
  place.sandbox.turnOrder(order.order_uuid, 'error');
  await place.sandbox.sendCallback(order.order_uuid);
  return place.orders.order(handle.orderId, { afterEnd: true }).workflowId;
}

export const STUCK_LATER: readonly Stuck[] = [
  {
    name: 'not-sent',
    code: 'not-sent',
    start: startLate,
    way: { update: 'decide', choice: 'resend' },
  },
  {
    name: 'order-missing',
    code: 'order-missing',
    start: startVanished,
    way: { update: 'decide', choice: 'close-absent' },
  },
  {
    name: 'follow-up-open',
    code: 'follow-up-open',
    start: startFollowed,
    way: { update: 'decide', choice: 'accept' },
  },
  {
    name: 'other-account',
    code: 'other-account',
    start: startMoved,
    way: {
      mend: async ({ serve, sandbox }) => {
        await stopOther();
        await serve([accountOf('ca', sandbox)]);
      },
    },
  },
  {
    name: 'changed-after-end',
    code: 'changed-after-end',
    start: startReturned,
    way: { update: 'decide', choice: 'accept' },
  },
];
