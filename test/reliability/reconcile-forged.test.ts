import { expect, test, vi } from 'vitest';
import { disagreementOf } from '../../src/contract/reconcile/reconcile.js';
import { newOrderId, useLab } from '../support/lab.js';
import { newAddress, postCallback, started } from '../workflows/receipts.fixture.js';

const SETTLE_WINDOW_MS = 20_000;

const lab = useLab({ pace: { settleWindowMs: { atOnce: SETTLE_WINDOW_MS, deposit: SETTLE_WINDOW_MS } } });

test('a reconciliation while forged receipts are still looked for finds nothing missing, and their end nothing to do', async () => {
  const address = await newAddress(lab);
  const ids = ['forged', 'forged', 'forged'].map(newOrderId);
  for (const id of ids) expect(await postCallback(lab, address, { order_uuid: id, status: 'completed' })).toBe(200);
  const handles = await Promise.all(ids.map((id) => started(lab.orders.received(id))));
  await vi.waitFor(async () => {
    const states = await Promise.all(handles.map((handle) => handle.state()));
    expect(states.map(({ lastLookupAt }) => lastLookupAt)).not.toContain(null);
  }, 20_000);

  const during = await lab.orders.reconcile();
  expect(await Promise.all(handles.map((handle) => handle.isOpen()))).toEqual(ids.map(() => true));
  expect(disagreementOf(during)).toBeUndefined();
  expect(during.classes).toMatchObject({ open: ids.length, noOrder: 0 });

  for (const handle of handles) await expect(handle.result()).rejects.toMatchObject({ type: 'OrderAbsent' });
  const after = await lab.orders.reconcile();
  expect(disagreementOf(after)).toBeUndefined();
  expect(after.classes).toMatchObject({ open: 0, noOrder: ids.length });
});
