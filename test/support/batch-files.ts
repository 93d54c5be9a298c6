import { once } from 'node:events';
import { createWriteStream, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Columns of the rows that `payoutLine` makes. */
export const PAYOUT_HEADER = 'order_id,currency,network,amount,wallet';

/** Makes a folder that is removed when the test ends, or with `afterAll` when its file ends. */
export function newFolder(atEnd: (remove: () => void) => void = onTestFinished): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'batch-')));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder with one file in it. */
export function folderWith(name: string, content: string | Uint8Array): string {
  const folder = newFolder();
  writeFileSync(join(folder, name), content);
  return folder;
}

/** A card number that passes every check, different for each number below 10 million. */
export function cardNumber(number: number): string {
  const start = `400000${String(number).padStart(9, '0')}`;
  const doubled = [...start].map((digit, index) => (index % 2 === 0 ? Number(digit) * 2 : Number(digit)));
  const sum = doubled.reduce((total, value) => total + (value > 9 ? value - 9 : value), 0);
  return `${start}${(10 - (sum % 10)) % 10}`;
}

/** The CSV line of a valid payout; every row has its own id, wallet and, nearly, amount. */
export const payoutLine = (row: number): string =>
  `payroll-2026-11-${row},usd,card,${10 + (row % 500)}.50,${cardNumber(row)}`;

/** Writes a CSV file of valid payouts, row by row: the repository holds no large files. */
export async function writePayouts(file: string, rows: number, lineOf = payoutLine): Promise<void> {
  const stream = createWriteStream(file);
  stream.write(`${PAYOUT_HEADER}\n`);
  for (let row = 1; row <= rows; row += 1) {
    if (!stream.write(`${lineOf(row)}\n`)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'finish');
}
