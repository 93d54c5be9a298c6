import { beforeEach, test, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { decideNow, parkedFor } from '../compensation/parked-orders.fixture.js';

vi.setConfig({ testTimeout: 150_000 });

const isList = (path: string) => path.endsWith('/order/list');
const EMPTY = { status: 200, body: JSON.stringify({ status: 'success', data: [] }) };
const lab = useGatedLab(
  ({ path }) => {
    if (isList(path)) return EMPTY;
    return path.endsWith('/order/status') ? { status: 400, body: '{}' } : undefined;
  },
  { workers: false, callbacks: false, quiet: true, pace: { settleWindowMs: { atOnce: 8_000, deposit: 8_000 } } },
);
beforeEach(() => lab.stopWorkers());

test('a create that Temporal forgot, sent again by a person, is refused because its id exists: it is no OrderRejected', async () => {
  // The service refuses a used id with 400, as documented for mode a.
  const input = orderInput('withdraw', newOrderId('forgotten'), { marker: 'after_ms=20' });
  await (await serviceOf(lab.sandbox)).createOrder('withdraw', input.order);
  await lab.startWorkers({ restoredAtMs: Date.now() });
  const handle = await lab.orders.start('withdraw', input);
  await parkedFor(handle, 'restored');
  await decideNow(handle, 'resend');
  await parkedFor(handle, 'the service refused the create that was repeated');
});
