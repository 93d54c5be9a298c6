import { offeredWays, type Way } from '../../chaos/ways.js';
import type { OrderHandle } from '../../src/client/order-handle.js';
import type { OrderState } from '../../src/contract/order/messages.js';
import type { Lab } from '../support/lab.js';
import { REVERT_TO } from './plans.fixture.js';

/** Every way out of a parked order that its attention offers; `adopt` names this order and a stranger. */
export function waysOut(lab: Lab, orderId: string, { attention }: OrderState): Way[] {
  return (attention?.allowed ?? []).flatMap((action): Way[] => {
    if (action === 'finish' || action === 'revert') return offeredWays(attention?.reason ?? '', action, REVERT_TO);
    if (action !== 'adopt') return [{ action }];
    const uuids = lab.sandbox
      .orders()
      .map(({ order }) => ({ uuid: order.order_uuid, ours: order.user_order_id === orderId }));
    const chosen = [uuids.find(({ ours }) => ours), uuids.find(({ ours }) => !ours)];
    return chosen.flatMap((one) => (one ? [{ action, order_uuid: one.uuid }] : []));
  });
}

/** Hands over a decision made on that state. Answers false where the order has moved on meanwhile. */
export async function decideOn(handle: OrderHandle, { revision }: OrderState, way: Way): Promise<boolean> {
  try {
    await handle.decide({ by: 'ann', reason: 'model', revision, ...way }, { timeoutMs: 15_000 });
    return true;
  } catch (error) {
    if (isOvertaken(error)) return false;
    throw error;
  }
}

/** Errors of calls that meet an order which just moved on or ended, or a worker that just did. */
export const isOvertaken = (error: unknown): boolean =>
  error instanceof Error && ['RefusedError', 'NoWorkerError', 'NotDecidedYetError'].includes(error.name);
