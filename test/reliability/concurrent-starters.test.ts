import { expect, test } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { serviceView } from '../workflows/create/service-view.fixture.js';

const STARTERS = 200;

const lab = useLab();

/** Half of the callers start and wait for the created order, the other half get both from one call. */
async function startAsCaller(caller: number, orderId: string) {
  // A second create would be executed as well.
  const input = orderInput('withdraw', orderId, { marker: 'duplicate=c' });
  if (caller % 2 === 0) return lab.orders.create('withdraw', input);
  const handle = await lab.orders.start('withdraw', input);
  return { handle, order: await handle.created() };
}

test(`${STARTERS} callers start one id at once: one create, one order for all of them`, async () => {
  const orderId = newOrderId('crowd');
  const started = await Promise.all(Array.from({ length: STARTERS }, (_, caller) => startAsCaller(caller, orderId)));
  expect(started.filter(({ handle }) => !handle.attached)).toHaveLength(1);
  expect(new Set(started.map(({ order }) => order.order_uuid)).size).toBe(1);
  const [{ handle } = { handle: undefined }] = started;
  expect(await handle?.result()).toMatchObject({ outcome: 'completed', adopted: false });
  expect(serviceView(lab, orderId)).toEqual({ creates: 1, executed: 1, blindCreates: 0 });
});
