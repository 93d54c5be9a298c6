import { expect, test } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { listAnswer } from '../../support/service-gate.js';
import { atService } from './parked-orders.fixture.js';

/* The first look-up that shows the final status does not show the last part of the payout yet. */

const lab = useGatedLab(undefined, { callbacks: false });

test('what is left is unknown if a later reading shows other amounts than the first final one', async () => {
  const orderId = newOrderId('early');
  let shown = 0;
  lab.gate.rule = ({ path, orderId: asked, body }) => {
    if (asked !== orderId || !/order\/(status|list)$/.test(path)) return undefined;
    const [found] = lab.sandbox.orders().filter(({ order }) => order.user_order_id === orderId);
    if (found?.order.status !== 'completed_partially') return undefined;
    shown += 1;
    if (shown > 1) return undefined;
    const order = { ...found.order, amount_to: '2.5' };
    if (path.endsWith('/list')) return listAnswer(body, [{ ...order, balance_changes: [] }]);
    return { status: 200, body: JSON.stringify({ status: 'success', data: order }) };
  };
  const marker = 'after_ms=1500 outcome=completed_partially fraction=0.4';
  const handle = await lab.orders.start(
    'withdraw',
    orderInput('withdraw', orderId, { marker, compensation: 'report' }),
  );
  const { order, remainder, remainderUnknown } = await handle.result();
  expect([order.amount_to, atService(lab, orderId).order.amount_to]).toEqual(['2.5', '7.5']);
  const why = 'the final amount_to was 2.5 and now reads 7.5';
  expect({ remainder, remainderUnknown }).toEqual({ remainderUnknown: expect.stringContaining(why) });
});
