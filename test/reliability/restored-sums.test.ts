import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Policy } from '../../src/config.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { executions, parkedFor } from '../workflows/compensation/parked-orders.fixture.js';
import { type Restorable, startRestorable } from './restorable.fixture.js';

/* The backup has the sums of before, and orders were paid since. */

const policy: Policy = { rules: [{ rule: 'sum', per: 'day', currency: 'usd', max: '100', breach: 'park' }] };
const policies = new Map([['default', policy]]);

let temporal: Restorable;
let lab: Lab;
const pay = async (amount: string) => {
  const input = orderInput('withdraw', newOrderId('sums'));
  return lab.orders.start('withdraw', { ...input, order: { ...input.order, amount } });
};

beforeAll(async () => {
  temporal = await startRestorable();
  lab = await openLab({ temporalAddress: temporal.address, callbacks: false, limits: { policies } });
  expect((await (await pay('10')).result()).outcome).toBe('completed');
  await lab.stopWorkers();
  await temporal.backUp();
  await lab.startWorkers();
  expect((await (await pay('80')).result()).outcome).toBe('completed');
  await lab.stopWorkers();
  await temporal.restore();
  await lab.startWorkers({ restoredAtMs: Date.now() });
  // Until the window after the restore is over.
  await sleep(5_000);
}, 160_000);
afterAll(async () => {
  await lab?.close();
  await temporal?.close();
});

test('sums of before a restore are read again', { timeout: 60_000 }, async () => {
  const handle = await pay('85');
  await parkedFor(handle, 'the total would be 175 usd');
  expect(executions(lab, handle.orderId)).toBe(0);
});
