import { activityInfo } from '@temporalio/activity';
import type { PollInput } from '../contract/answers.js';
import type { Order } from '../contract/orders.js';
import type { Pace } from '../contract/pace.js';
import { isFinal, isKnownStatus } from '../contract/status.js';
import { accountOf } from './account-of.js';
import type { ActivityDeps } from './deps.js';
import { comeBackIn, noReading, retryLater } from './failures.js';
import { refuseOtherHost } from './look-up-order.js';

/**
 * Polls the status until it is final, or until it is one that nobody has reported yet. Each poll is one attempt of this
 * activity: the server repeats it after the delay it asks for, with no event in the history and no end before final.
 */
export function pollOrderActivity(deps: ActivityDeps) {
  return async function pollOrder(input: PollInput): Promise<Order> {
    const { attempt } = activityInfo();
    // The first attempt asks nothing: an order that was just created is not final, and a callback may come first.
    if (attempt === 1) throw comeBackIn(input.firstDelayMs || deps.pace.pollInitialMs, 'waiting before the first poll');
    const delayMs = pollDelayMs(deps.pace, attempt);
    const order = await askStatus(deps, input, delayMs);
    if (!order) throw comeBackIn(delayMs, 'the service does not show the order right now');
    if (isFinal(order.status) || !isTolerated(order.status, input)) return order;
    throw comeBackIn(delayMs, `status at the service: ${order.status.slice(0, 40)}`);
  };
}

/** True for a status that is not final and need not be reported. */
const isTolerated = (status: string, { toleratedStatuses, tolerateAll = false }: PollInput): boolean =>
  tolerateAll || isKnownStatus(status) || toleratedStatuses.includes(status);

async function askStatus(deps: ActivityDeps, input: PollInput, delayMs: number): Promise<Order | undefined> {
  const { account: name, orderId, orderUuid, host } = input;
  const account = accountOf(deps, name);
  refuseOtherHost(account, host);
  try {
    const order = await account.service.orderStatus(orderUuid ? { order_uuid: orderUuid } : { order_id: orderId });
    if (order && (order.user_order_id !== orderId || (orderUuid && order.order_uuid !== orderUuid))) {
      throw noReading('the status operation answered with another order', delayMs);
    }
    return order;
  } catch (error) {
    throw retryLater(error, delayMs);
  }
}

/** Doubles from the initial to the longest delay; up to a tenth shorter, so that many orders do not ask in step. */
export function pollDelayMs({ pollInitialMs, pollMaxMs }: Pace, attempt: number, random = Math.random()): number {
  // Attempt 2 is the first poll. The exponent is capped because 2 ** 1100 is Infinity.
  const doublings = Math.min(Math.max(attempt - 1, 0), 40);
  return Math.min(pollInitialMs * 2 ** doublings, pollMaxMs) * (1 - random / 10);
}
