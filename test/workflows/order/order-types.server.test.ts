import { describe, expect, test } from 'vitest';
import { ORDER_TYPES } from '../../../src/contract/order/types.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';

const lab = useLab();

describe('an order of every type, with callbacks', () => {
  test.for(ORDER_TYPES)('%s completes', async (type) => {
    const orderId = newOrderId(type.replaceAll('_', '-'));
    const handle = await lab.orders.start(type, orderInput(type, orderId));
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', adopted: false, compensation: { status: 'none' } });
    expect(lab.sandbox.stats().executedByOrderId[orderId]).toBe(1);
  });
});
