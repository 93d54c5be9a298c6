import { expect, onTestFinished, test } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { type Lab, type LabOptions, newOrderId, openLab } from '../../support/lab.js';
import { openOrders } from './lost-orders.fixture.js';

const DAYS_AGO_MS = 3 * 86_400_000;
const SECOND_MS = 1_000;

async function open(options: LabOptions): Promise<Lab> {
  const lab = await openLab({ quiet: true, callbacks: false, ...options });
  onTestFinished(() => lab.close());
  return lab;
}

// The list shows lost payouts, which are open, and payouts of somebody else, which are final.
test.for([
  [200, 450],
  [10, 60],
] as const)(
  'with pages of %i a recovery finds all lost payouts and all %i foreign orders',
  async ([listAtMost, past]) => {
    const lost = await open({});
    const fromMs = Math.floor((Date.now() - DAYS_AGO_MS) / SECOND_MS) * SECOND_MS;
    lost.sandbox.addPast({ count: past, fromMs, toMs: fromMs + 600 * SECOND_MS });
    const orders = await openOrders(lost, 24, 60_000);
    await lost.stopWorkers();
    lost.sandbox.set({ listAtMost });
    const lab = await open({ serviceUrl: async () => lost.sandbox.url });

    const from = new Date(fromMs).toISOString();
    const result = await lab.orders.reconcile({ from, recover: true });
    expect(result.classes).toMatchObject({ recovered: orders.length, foreign: past });
    expect(result.seen).toBe(orders.length + past);
    expect(result.notes).toContainEqual(expect.stringContaining(`shows ${listAtMost} entries on a page although`));

    const again = await lab.orders.reconcile({ from, recover: true });
    expect(again.classes).toMatchObject({ recovered: 0, foreign: past, missingAtService: 0 });
    expect(again.notes.filter((note) => note.includes('entries on a page'))).toHaveLength(1);
  },
);

test('with pages of one our orders are found by their ids, and none counts as missing', async () => {
  const lab = await open({ sandbox: { settings: { listAtMost: 1 } } });
  const handles = await Promise.all(
    Array.from({ length: 4 }, () => lab.orders.start('withdraw', orderInput('withdraw', newOrderId('small')))),
  );
  await Promise.all(handles.map((handle) => handle.result()));
  const result = await lab.orders.reconcile();
  expect(result.classes).toMatchObject({ equal: 4, missingAtService: 0, foreign: 0 });
});
