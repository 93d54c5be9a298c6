import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyAudit } from '../../../src/audit/verify.js';
import { newFolder } from '../../support/batch-files.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';

const folder = newFolder(afterAll);
const lab = useLab({ workers: false });
beforeAll(() => lab.startWorkers({ auditDir: folder }));

const sendsOf = async (orderId: string): Promise<{ permission: string; id: string; runId: string }[]> => {
  const files = await readdir(folder);
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  const lines = texts.flatMap((text) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
  return lines.filter(({ event, request }) => event === 'send' && request.order_id === orderId);
};

const createsOf = (orderId: string) =>
  lab.requestsOf(orderId).filter((path) => path.endsWith('/order/withdraw')).length;

test('while the record cannot be written nothing is sent again, the order says why, and is sent once it can be', async () => {
  const orderId = newOrderId('audited');
  const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker: 'create=500-before' }));
  await expect.poll(() => createsOf(orderId), { timeout: 60_000, interval: 20 }).toBe(1);
  await rename(folder, `${folder}.gone`);
  await writeFile(folder, '');
  await expect
    .poll(async () => (await handle.state()).waitingFor, { timeout: 60_000 })
    .toMatch(/the audit record cannot be written/);
  expect(createsOf(orderId)).toBe(1);
  await rm(folder);
  await rename(`${folder}.gone`, folder);
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  expect(createsOf(orderId)).toBe(2);
  expect(lab.sandbox.stats().executedByOrderId[orderId]).toBe(1);
  const sends = await sendsOf(orderId);
  expect(sends.map(({ permission }) => permission)).toEqual(['first', 'absent']);
  expect(new Set(sends.map(({ id }) => id)).size).toBe(2);
  const found = await verifyAudit((await readdir(folder)).map((name) => join(folder, name)));
  expect(found.problems).toEqual([]);
  expect(found.files.flatMap(({ problems }) => problems)).toEqual([]);
});
