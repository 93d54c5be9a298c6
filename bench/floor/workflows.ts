/** The smallest correct workflows of the same shape as ours, and two that are often written instead. */
import { condition, defineSignal, proxyActivities, setHandler, sleep } from '@temporalio/workflow';
import type { FloorActivities, FloorOrder, FloorRequest } from './activities.js';

/** What our receiver signals when the service called back. */
const callback = defineSignal('orderCallback');
const final = defineSignal<[FloorOrder]>('final');

const { create, status, schedulePolls } = proxyActivities<FloorActivities>({ startToCloseTimeout: '30s' });
/** Repeated by the server until the status is final, as ours is, and with as much waiting before the fifth look: 1.5 s. */
const { poll } = proxyActivities<FloorActivities>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '100ms', backoffCoefficient: 2 },
});

/** Create, wait for the callback, look up. */
export async function floorByCallback(order: FloorRequest): Promise<FloorOrder> {
  let called = false;
  setHandler(callback, () => {
    called = true;
  });
  await create(order, { withCallback: true });
  await condition(() => called, '5m');
  return status(order.order_id);
}

/** Create, poll by an activity that the server repeats. */
export async function floorByPolling(order: FloorRequest): Promise<FloorOrder> {
  await create(order);
  return poll(order.order_id);
}

/** Create, then a loop of timer and look-up. */
export async function timerLoop(order: FloorRequest): Promise<FloorOrder> {
  await create(order);
  for (let waitMs = 50; ; waitMs *= 2) {
    await sleep(waitMs);
    const seen = await status(order.order_id);
    if (seen.status === 'completed') return seen;
  }
}

/** Create, then a schedule for this payout alone, whose runs look up. */
export async function schedulePerPayout(order: FloorRequest): Promise<FloorOrder> {
  let seen: FloorOrder | undefined;
  setHandler(final, (order) => {
    seen = order;
  });
  await create(order);
  await schedulePolls(order.order_id);
  await condition(() => seen !== undefined);
  return seen as unknown as FloorOrder;
}

const { lookOnce } = proxyActivities<FloorActivities>({ startToCloseTimeout: '30s' });

/** What that schedule starts every second. */
export async function pollOfSchedule(orderId: string): Promise<void> {
  await lookOnce(orderId);
}
