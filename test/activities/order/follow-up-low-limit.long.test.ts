import { expect, test } from 'vitest';
import { basisOf } from '../../../src/contract/order/basis.js';
import { Limiter } from '../../../src/payment-service/limiter.js';
import { orderInput } from '../../support/inputs.js';
import { attemptOf, openActivities, outcomeOf } from '../activity-lab.fixture.js';

test('at 0.22 requests a second a follow-up reads its order, probes and is sent in one attempt', async () => {
  const limiter = new Limiter();
  const { run, sandbox, sentTo } = await openActivities({}, { limiter });
  const marker = 'outcome=completed_partially fraction=0.4';
  await run('createOrder', attemptOf('withdraw', orderInput('withdraw', 'w-1', { marker })));
  await expect.poll(() => sandbox.orders()[0]?.order.status).toBe('completed_partially');
  const orderUuid = sandbox.orders()[0]?.order.order_uuid ?? '';
  const reading = await outcomeOf(run, { account: 'default', orderId: 'w-1', orderUuid });
  const { order } = orderInput('withdraw', 'w-1.r1');
  const input = { order: { ...order, amount: '5' }, followUpOf: [basisOf(reading)] };
  limiter.setRate(0.22);
  const answer = await run('createOrder', attemptOf('withdraw', input, { followUp: true, sentTo }));
  expect(answer).toMatchObject({ kind: 'accepted' });
});
