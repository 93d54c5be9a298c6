import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startBatch } from '../../../src/client/batch/start-batch.js';
import { newOrderId } from '../../support/lab.js';
import { useBatchLab } from './batches.fixture.js';

/* A payroll whose names the service shows otherwise: nobody is asked to compare 200 of them. */

const lab = useBatchLab();

const FIRST = ['Jürgen', 'Łukasz', 'Søren', 'İpek', 'Þórður', 'Đorđe', 'Zoë', 'Ágnes', 'François', 'Jiří'];
const LAST = [
  'Weiß-Müller',
  'Dąbrowski',
  'Kjærgård',
  'Yıldız',
  'Æsison',
  'Žižić',
  'Nuñez',
  'Szőke',
  'Lefèvre',
  'Dvořák',
];
const SHOWN = ['echo-name-ascii', 'echo-name-cut', 'echo-name-lost'];

/** Two by each name, each with an account of its own. */
const PEOPLE = [1, 2].flatMap((n) =>
  FIRST.flatMap((first) => LAST.map((last) => `${first} ${last}${n > 1 ? ' jun.' : ''}`)),
);

/** The n-th German account number, with its check digits. */
function iban(n: number): string {
  const bban = `37040044${`${1_000_000_000 + n}`}`;
  const check = 98n - (BigInt(`${bban}131400`) % 97n);
  return `DE${`${check}`.padStart(2, '0')}${bban}`;
}

test('200 names with umlauts, transliterated, cut and lost by the service: all are paid once, and nobody is asked', async () => {
  const batchId = newOrderId('payroll');
  const rows = PEOPLE.map((recipient_name, n) => ({
    ...{ order_id: `${batchId}-${n}`, currency: 'eur', network: 'sepa', amount: '12.50', wallet: iban(n) },
    wallet_details: { recipient_email: `person${n}@example.com`, recipient_name },
    description: `[sandbox ${['create', 'status', 'list'].map((place) => `${place}=${SHOWN[n % SHOWN.length]}`).join(' ')} times=all pay_ms=20]`,
  }));
  const path = `${batchId}.ndjson`;
  await writeFile(join(lab.folder, path), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const handle = await startBatch(lab.temporal.client, { batchId, file: { path }, startedBy: 'ann' });
  const result = await handle.result();
  expect(result.outcomes).toMatchObject({ completed: PEOPLE.length, parked: 0, conflict: 0 });
  const { executedByOrderId } = lab.sandbox.stats();
  expect(rows.filter(({ order_id }) => executedByOrderId[order_id] !== 1)).toEqual([]);
  // Their names were shown otherwise.
  const some = await Promise.all(rows.map(({ order_id }) => lab.orders.order(order_id).result()));
  expect(some.filter((one) => !one.echoDifferences?.includes('wallet_details'))).toEqual([]);
});
