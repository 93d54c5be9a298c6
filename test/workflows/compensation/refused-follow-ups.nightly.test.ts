import { expect, test, vi } from 'vitest';
import { useLab } from '../../support/lab.js';
import { decideNow, executions, startSteered } from './parked-orders.fixture.js';

/** Look-ups show an order this long after it was made: longer than the 5 s after which a refusal is told to a caller. */
const LAG_MS = 8_000;

const lab = useLab({ pace: { settleWindowMs: { atOnce: 11_000, deposit: 11_000 } } });

test('a follow-up that is refused with 400 and executed all the same is found: no second one is offered beside it', async () => {
  const { orderId, handle } = await startSteered(lab, 'withdraw', {
    marker: 'outcome=completed_partially fraction=0.4',
    compensation: 'finish',
  });
  await handle.created();
  lab.sandbox.set({ duplicateMode: 'c', visibilityLagMs: LAG_MS, faults: { 'create.400-after': 1 } });
  await vi.waitUntil(() => executions(lab, `${orderId}.r1`) > 0, { timeout: 60_000, interval: 50 });
  lab.sandbox.set({ faults: {} });
  const phase = async () => (await handle.state()).phase;
  await vi.waitUntil(async () => ['parked', 'done'].includes(await phase()), { timeout: 60_000, interval: 100 });
  // A person who is told that it came to no order sends another one.
  if ((await phase()) === 'parked') await decideNow(handle, 'finish');
  const { compensation } = await handle.result();
  expect([executions(lab, `${orderId}.r1`), executions(lab, `${orderId}.r2`)]).toEqual([1, 0]);
  expect(compensation).toMatchObject({ status: 'done', order_id: `${orderId}.r1`, outcome: 'completed' });
});
