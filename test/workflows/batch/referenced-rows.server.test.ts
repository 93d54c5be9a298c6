import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { startBatch } from '../../../src/client/batch/start-batch.js';
import { cardNumber } from '../../support/batch-files.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { type BatchLab, openBatchLab } from './batches.fixture.js';

const lab = useGatedLab<BatchLab>(undefined, { callbacks: false }, openBatchLab);

const HEADER = 'order_id,currency,network,amount,wallet,reference';
const cells = (orderId: string, n: number, reference: string) =>
  [orderId, 'usd', 'card', '12.50', cardNumber(n), reference].join(',');
const row = (orderId: string, n: number, reference?: string) => ({
  ...{ order_id: orderId, currency: 'usd', network: 'card', amount: '12.50', wallet: cardNumber(n) },
  ...(reference !== undefined && { reference }),
});

test.each(['csv', 'ndjson', 'inline'])(
  'rows of %s give their orders their references, and the service none',
  async (how) => {
    const batchId = newOrderId(`marked-${how}`);
    const [first, second] = [`${batchId}-1`, `${batchId}-2`];
    const reference = `pay/${batchId}`;
    const given = [row(first, 1, reference), row(second, 2)];
    const file = { path: `${batchId}.${how}` };
    const content =
      how === 'csv'
        ? [HEADER, cells(first, 1, reference), cells(second, 2, ''), ''].join('\n')
        : `${given.map((one) => JSON.stringify(one)).join('\n')}\n`;
    if (how !== 'inline') await writeFile(join(lab.folder, file.path), content);
    const input = { batchId, startedBy: 'ann', ...(how === 'inline' ? { rows: given } : { file }) };
    const batch = await startBatch(lab.temporal.client, input);
    const { outcomes, report } = await batch.result();
    expect(outcomes).toMatchObject({ completed: 2, refused: 0, conflict: 0 });
    expect(await lab.orders.order(first).result()).toMatchObject({ reference });
    expect(await lab.orders.order(second).result()).not.toHaveProperty('reference');
    const listed = async () => (await lab.orders.list({ reference })).orders.map(({ orderId }) => orderId);
    await expect.poll(listed, { timeout: 60_000 }).toEqual([first]);

    const lines: Record<string, string>[] = parse(await readFile(join(lab.folder, report?.path ?? '')), {
      columns: true,
    });
    expect(lines.map((line) => [line.order_id, line.reference])).toEqual([
      [first, reference],
      [second, ''],
    ]);
    for (const id of [first, second]) expect(lab.gate.about(id, 'create')).toHaveLength(1);
    expect(lab.gate.requests.map(({ body }) => body).join()).not.toMatch(/reference|pay\//);

    if (how === 'inline') {
      const other = { ...input, rows: [row(first, 1, 'pay/other'), row(second, 2)] };
      await expect(startBatch(lab.temporal.client, other)).rejects.toMatchObject({ fields: ['rows[0].reference'] });
    }
  },
);

test('a bad reference refuses the file by its line, and a row with another one is a conflict', async () => {
  const batchId = newOrderId('referenced-bad');
  const write = (name: string, reference: string) =>
    writeFile(join(lab.folder, `${name}.csv`), [HEADER, cells(`${batchId}-1`, 1, reference), ''].join('\n'));
  const start = (name: string) =>
    startBatch(lab.temporal.client, { batchId: name, startedBy: 'ann', file: { path: `${name}.csv` } });
  await write(`${batchId}-a`, '#N/A');
  await expect((await start(`${batchId}-a`)).result()).rejects.toMatchObject({
    type: 'InvalidInput',
    fields: expect.arrayContaining([expect.objectContaining({ field: 'line 2: reference' })]),
  });
  expect(lab.gate.about(`${batchId}-1`)).toEqual([]);
  await write(`${batchId}-b`, 'one');
  expect((await (await start(`${batchId}-b`)).result()).outcomes).toMatchObject({ completed: 1 });
  await write(`${batchId}-c`, 'two');
  expect((await (await start(`${batchId}-c`)).result()).outcomes).toMatchObject({ conflict: 1 });
  expect(lab.gate.about(`${batchId}-1`, 'create')).toHaveLength(1);
});
