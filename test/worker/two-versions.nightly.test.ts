import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Lab, openLab } from '../support/lab.js';
import { endProcesses } from './process.fixture.js';
import { endsOf, openOrders, startVersion, versions } from './versions.fixture.js';

const ORDERS = 12;

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ workers: false });
});
afterAll(async () => {
  await endProcesses();
  await lab?.close();
});

test('a worker of the next version shares open orders with one of the version before, and no task fails', async () => {
  const next = await versions.next();
  const old = await startVersion(lab, 'src/worker.ts');
  const before = await openOrders(lab, 'before', ORDERS);
  const newer = await startVersion(lab, next('worker'));
  const beside = await openOrders(lab, 'beside', ORDERS);
  // What was in the memory of the old worker goes on in the new one.
  old.kill('SIGTERM');
  expect(await old.exited).toBe(0);
  const after = await openOrders(lab, 'after', ORDERS);
  const again = await startVersion(lab, 'src/worker.ts');
  // And back.
  newer.kill('SIGTERM');
  expect(await newer.exited).toBe(0);
  lab.sandbox.finishAll();
  const ids = [...before, ...beside, ...after];
  expect(await endsOf(lab, ids)).toMatchObject({ completed: 3 * ORDERS, failedTasks: 0, markers: 0 });
  again.kill('SIGTERM');
  expect(await again.exited).toBe(0);
});
