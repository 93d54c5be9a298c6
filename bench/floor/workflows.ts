/** The smallest correct workflows of the same shape as ours, and two that are often written instead. */
import { condition, defineSignal, proxyActivities, setHandler, sleep } from '@temporalio/workflow';
import type { FloorActivities } from './activities.js';

/** What our receiver signals when the service called back. */
const callback = defineSignal('orderCallback');
const final = defineSignal<[string]>('final');

const { create, status, schedulePolls } = proxyActivities<FloorActivities>({ startToCloseTimeout: '30s' });
/** Repeated by the server until the status is final, as ours is. */
const { poll } = proxyActivities<FloorActivities>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '50ms', backoffCoefficient: 2 },
});

/** Create, wait for the callback, look up. */
export async function floorByCallback(orderId: string): Promise<string> {
  let called = false;
  setHandler(callback, () => {
    called = true;
  });
  await create(orderId, true);
  await condition(() => called, '5m');
  return status(orderId);
}

/** Create, poll by an activity that the server repeats. */
export async function floorByPolling(orderId: string): Promise<string> {
  await create(orderId, false);
  return poll(orderId);
}

/** Create, then a loop of timer and look-up. */
export async function timerLoop(orderId: string): Promise<string> {
  await create(orderId, false);
  for (let waitMs = 50; ; waitMs *= 2) {
    await sleep(waitMs);
    const seen = await status(orderId);
    if (seen === 'completed') return seen;
  }
}

/** Create, then a schedule for this payout alone, whose runs look up. */
export async function schedulePerPayout(orderId: string): Promise<string> {
  let seen: string | undefined;
  setHandler(final, (status) => {
    seen = status;
  });
  await create(orderId, false);
  await schedulePolls(orderId);
  await condition(() => seen !== undefined);
  return seen ?? '';
}

const { lookOnce } = proxyActivities<FloorActivities>({ startToCloseTimeout: '30s' });

/** What that schedule starts every second. */
export async function pollOfSchedule(orderId: string): Promise<void> {
  await lookOnce(orderId);
}
