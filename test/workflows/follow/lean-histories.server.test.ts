import { expect, test, vi } from 'vitest';
import { ORDER_TYPES } from '../../../src/contract/order/types.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';

/* On a real server alone: only it knows how large a history is. */

// The orders wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 20 });

/** With callbacks, and polls that come too late to play a part, as in production. */
const lab = useLab({ pace: { pollInitialMs: 10_000, pollMaxMs: 20_000 } });

test.concurrent.for(ORDER_TYPES)(
  '%s learned by one callback takes three requests, at most 26 events and 8,000 bytes of history',
  async (type) => {
    const orderId = newOrderId('lean');
    const handle = await lab.orders.start(type, orderInput(type, orderId));
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(lab.requestsOf(orderId)).toEqual(['/v2/order/list', `/v2/order/${type}`, '/v2/order/status']);
    expect(await lab.events(orderId)).toBeLessThanOrEqual(26);
    const { historySize } = await lab.temporal.client.workflow.getHandle(handle.workflowId).describe();
    expect(historySize).toBeLessThanOrEqual(8_000);
  },
);
