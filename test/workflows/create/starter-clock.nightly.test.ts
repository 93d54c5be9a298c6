import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { newOrderId } from '../../support/lab.js';
import { startProcess } from '../../worker/process.fixture.js';
import { openTwoAccounts, PLACES } from './two-accounts.fixture.js';

const SETTLE_MS = 20_000;
const BEHIND_MS = 10 * 60_000;

/** Sets the clock of a process back. */
const CLOCK = `
const Real = Date;
globalThis.Date = class extends Real {
  constructor(...given) { given.length === 0 ? super(Real.now() - ${BEHIND_MS}) : super(...given); }
  static now() { return Real.now() - ${BEHIND_MS}; }
};`;

test('terminated after its create, which the service shows late, and started again by a starter whose clock is behind: it is executed once', async () => {
  const { lab, workAt } = await openTwoAccounts(SETTLE_MS);
  const input = orderInput('withdraw', newOrderId('clock'), { marker: 'create=500 lag_ms=10000 duplicate=c' });
  await workAt(PLACES.first);
  const handle = await lab.orders.start('withdraw', input);
  await vi.waitFor(() => expect(lab.sandbox.stats().executedByOrderId[handle.orderId]).toBe(1), 60_000);
  await lab.temporal.client.workflow.getHandle(handle.workflowId).terminate('by mistake');
  const preload = join(await mkdtemp(join(tmpdir(), 'payment-orders-clock-')), 'clock.mjs');
  await writeFile(preload, CLOCK);
  const given = { ...input, sentUntil: new Date(Date.now() - BEHIND_MS).toISOString() };
  const starter = startProcess(
    'src/starter.ts',
    { TEMPORAL_ADDRESS: lab.temporal.address, TEMPORAL_NAMESPACE: lab.temporal.namespace },
    {
      args: ['order', 'start', 'withdraw', '-', '--again'],
      stdin: JSON.stringify(given),
      nodeOptions: ['--import', preload],
    },
  );
  expect(await starter.exited).toBe(0);
  expect(await handle.result()).toMatchObject({ outcome: 'completed', adopted: true });
  expect(lab.sandbox.stats().executedByOrderId[handle.orderId]).toBe(1);
});
