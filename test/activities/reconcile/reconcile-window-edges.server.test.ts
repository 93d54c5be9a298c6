import { beforeAll, expect, test } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';

const [_SECOND_MS, HOUR_MS] = [1_000, 3_600_000];

const lab = useLab({ quiet: true, callbacks: false });
let createdMs: number;
beforeAll(async () => {
  const service = await serviceOf(lab.sandbox);
  // Nobody of ours follows it: only a window can show it.
  const { order } = orderInput('withdraw', newOrderId('elsewhere'));
  const { created_at } = await service.createOrder('withdraw', order);
  createdMs = Date.parse(`${created_at.replace(' ', 'T')}Z`);
});

/** How many orders a reconciliation of the window sees. */
async function seenBetween(fromMs: number, toMs: number): Promise<number> {
  const [from, to] = [fromMs, toMs].map((ms) => new Date(ms).toISOString());
  return (await lab.orders.reconcile({ from, to })).seen;
}

// Whoever names the window and the service's filter may stand at the two ends of the world: 26 h apart.
test.each([
  { filter: 0, ours: 0 },
  { filter: 14, ours: 0 },
  { filter: -12, ours: 0 },
  { filter: 14, ours: -12 },
  { filter: -12, ours: 14 },
])(
  'an order at either edge of the window is found: filter $filter h off, window $ours h off',
  async ({ filter, ours }) => {
    lab.sandbox.set({ dateFilterShiftHours: filter });
    const edgeMs = createdMs + ours * HOUR_MS;
    expect(await seenBetween(edgeMs, edgeMs + HOUR_MS)).toBe(1);
    expect(await seenBetween(edgeMs - HOUR_MS, edgeMs)).toBe(1);
  },
);
