import { describe, expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';
import { parkedFor } from '../compensation/parked-orders.fixture.js';
import { serviceView } from './service-view.fixture.js';

// The orders wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 20 });

const lab = useLab({ callbacks: false });

const EVERYWHERE = (fault: string) => `status=${fault} status_times=all list=${fault} list_times=all`;

function start(marker: string, compensation: 'finish' | 'report' = 'report') {
  const input = orderInput('withdraw', newOrderId('figures'), { marker });
  return lab.orders.start('withdraw', { ...input, compensation });
}

describe.concurrent('an executed order of which a field cannot be read', () => {
  test.for([
    ['fee-exponent', undefined],
    ['fee-comma', ['amount_to_fee']],
    ['rate-object', ['exchange_rate_actual']],
    ['precision-text', ['currency_to_precision']],
  ] as const)('%s: is found after a 500, followed to its end, and names the field', async ([fault, unreadable]) => {
    const handle = await start(`create=500 duplicate=c pay_ms=20 ${EVERYWHERE(fault)}`);
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', adopted: true });
    expect(result.order.unreadable).toEqual(unreadable);
    expect(serviceView(lab, handle.orderId)).toMatchObject({ creates: 1, executed: 1 });
  });

  test.for(['from-object', 'to-list'])(
    '%s in the list alone: the result has the figure of the status',
    async (fault) => {
      const handle = await start(`create=500 duplicate=c pay_ms=20 list=${fault} list_times=all`);
      const { order } = await handle.result();
      expect(order).toMatchObject({
        status: 'completed',
        amount_from: expect.any(String),
        amount_to: expect.any(String),
      });
    },
  );

  test('a figure that the list alone shows unreadable is a doubt, also where the status shows none', async () => {
    const handle = await start('outcome=error pay_ms=20 list=to-comma list_times=all', 'finish');
    const { attention } = await parkedFor(handle, 'the service shows no readable amount_to');
    expect(attention?.allowed).toEqual(['accept']);
  });

  test.for(['fee-comma', 'changes-text'])('%s: a partial payout moves nothing by itself', async (fault) => {
    const handle = await start(
      `outcome=completed_partially left=unpaid fraction=0.4 pay_ms=20 ${EVERYWHERE(fault)}`,
      'finish',
    );
    const { attention } = await parkedFor(handle, 'the service shows no readable');
    expect(attention?.allowed).toEqual(['accept']);
  });
});
