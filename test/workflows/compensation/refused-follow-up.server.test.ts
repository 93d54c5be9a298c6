import { expect, test, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import { useGatedLab } from '../../support/lab.js';
import { operationOf } from '../../support/service-gate.js';
import { executions, parkedFor, startSteered } from './parked-orders.fixture.js';

vi.setConfig({ testTimeout: 120_000 });

const isFirst = (id: string) => id.endsWith('.r1');
const json = (data: unknown) => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ status: 'success', data }),
});

const lab = useGatedLab(
  async ({ path, orderId = '', body }) => {
    const operation = operationOf(path);
    const service = await serviceOf(lab.sandbox);
    if (operation === 'create' && isFirst(orderId)) {
      const { callback_url: _, ...request } = { ...JSON.parse(body), amount: String(JSON.parse(body).amount) };
      await service.createOrder('withdraw', request);
      return { status: 400, body: '{}' };
    }
    if (operation === 'status' && isFirst(orderId)) return { status: 400, body: '{}' };
    if (operation !== 'list') return undefined;
    const { items } = await service.orders().page(JSON.parse(body));
    return json(items.filter(({ user_order_id: id }) => !isFirst(id)));
  },
  { callbacks: false, quiet: true, pace: { settleWindowMs: { atOnce: 4_000, deposit: 4_000 } } },
);

test('a follow-up that was executed behind a 400 and is not shown asks a person itself: its order offers nothing again', async () => {
  const { orderId, handle } = await startSteered(lab, 'withdraw', {
    marker: 'outcome=completed_partially fraction=0.4',
    compensation: 'finish',
  });
  await vi.waitUntil(() => executions(lab, `${orderId}.r1`) === 1, { timeout: 60_000, interval: 50 });
  await parkedFor(lab.orders.order(`${orderId}.r1`), 'the service refused the create');
  expect(await handle.state()).toMatchObject({ phase: 'compensating' });
  expect([`${orderId}.r1`, `${orderId}.r2`].map((id) => executions(lab, id))).toEqual([1, 0]);
});
