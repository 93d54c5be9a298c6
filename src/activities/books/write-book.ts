import { getClient } from '@temporalio/activity';
import { exportBook } from '../../client/books/export-book.js';
import { OurOrders } from '../../client/books/our-orders.js';
import type { ReportFile } from '../../contract/batch/batch.js';
import { BOOK_COLUMNS, bookCells } from '../../reports/book.js';
import { openCsvReport } from '../../reports/formats.js';
import type { Account } from '../deps.js';
import type { PacedReads } from '../paced-reads.js';
import { readBookPage } from './book-page.js';

const DAY_MS = 86_400_000;

/** Writes the book of the last whole day before a time. A later one of the day replaces it. */
export async function writeBook(
  { rates, name }: Pick<Account, 'rates'> & { name: string },
  reads: PacedReads,
  { reportDir, beforeMs }: { reportDir: string; beforeMs: number },
): Promise<ReportFile> {
  const toMs = Math.floor(beforeMs / DAY_MS) * DAY_MS;
  const fromMs = toMs - DAY_MS;
  const day = new Date(fromMs).toISOString().slice(0, 10);
  const period = { account: name, fromMs, toMs, untilNow: false };
  const both = {
    ours: () => OurOrders.read(getClient(), period),
    page: async (query: Parameters<typeof readBookPage>[2]) =>
      readBookPage(reads.orders(), await rates.current(), query),
    balances: () => reads.ask((service, options) => service.balances(options)),
  };
  const csv = await openCsvReport(reportDir, `book-${name}-${day}.csv`, BOOK_COLUMNS);
  try {
    for await (const line of exportBook(both, period)) await csv.add(bookCells(line));
    return await csv.finish();
  } finally {
    await csv.discard();
  }
}
