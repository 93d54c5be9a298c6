import { expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { listOf, operationOf } from '../../support/service-gate.js';
import { decideNow, parkedFor } from '../compensation/parked-orders.fixture.js';

const lab = useGatedLab(undefined, { pace: { settleWindowMs: { atOnce: 2_000, deposit: 2_000 } } });

test('a callback before any send tells of a create that Temporal forgot: only a person sends it', async () => {
  const orderId = newOrderId('called-early');
  lab.gate.rule = ({ path, orderId: asked, body }) => {
    const operation = operationOf(path);
    const others = lab.sandbox.orders().filter(({ order }) => order.user_order_id !== orderId);
    if (operation === 'list') return listOf(body, others);
    return operation === 'status' && asked === orderId ? { status: 400, body: '{}' } : undefined;
  };
  const creates = () => lab.gate.about(orderId, 'create').length;
  const by = { by: 'ann', reason: 'the bank called' };
  await lab.orders.accounts.stop('default', by);
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId));
  await vi.waitUntil(async () => (await handle.state()).waitingFor.includes('is stopped'), { timeout: 60_000 });
  for (let n = 0; n < 25; n += 1)
    await lab.temporal.client.workflow.getHandle(handle.workflowId).signal('orderCallback');
  await parkedFor(handle, 'a callback came for it');
  await lab.orders.accounts.resume('default', by);
  expect(creates()).toBe(0);
  lab.gate.rule = () => undefined;
  await decideNow(handle, 'resend');
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  expect(creates()).toBe(1);
});
