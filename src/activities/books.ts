import { getClient } from '@temporalio/activity';
import { exportBook } from '../client/books/export-book.js';
import { OurOrders } from '../client/books/our-orders.js';
import { ServiceClock } from '../client/books/service-clock.js';
import type { ReportFile } from '../contract/batch/batch.js';
import { BOOK_FIELDS, type BookItem, type BookPage, type BookQuery } from '../contract/books/book.js';
import { requestOfOrder } from '../contract/order/followers.js';
import { isOrderType } from '../contract/order/types.js';
import { DAY_MS, dateTimeMs } from '../contract/reconcile/input.js';
import type { OrderListItem, Rates } from '../contract/service-objects.js';
import { type List, orderWindows, type Page, wholeList } from '../payment-service/paging.js';
import type { OrderListQuery } from '../payment-service/queries.js';
import { BOOK_COLUMNS, bookCells } from '../reports/book.js';
import { openCsvReport } from '../reports/formats.js';
import { payersOf } from '../validation/rate-checks.js';
import type { Account } from './deps.js';
import { ordersOfForms } from './orders-of-ids.js';
import type { PacedReads } from './paced-reads.js';
import { shownId } from './reconcile/scan.js';

/** Orders per request. Twice as many, with balance changes, may exceed Temporal's payload. */
const ORDERS_AT_ONCE = 500;

/** Time after which a page ends, because the activity has 45 s. */
const LONGEST_MS = 15_000;

type Orders = List<OrderListItem, OrderListQuery>;

/** Reads orders for the books. Of a time with many orders, reads its first part. */
export async function readBookPage(list: Orders, rates: Rates | undefined, query: BookQuery): Promise<BookPage> {
  const { page, next } = query.order_ids
    ? { page: await ordersOfForms(query.order_ids, list) }
    : await byDates(list, query);
  return {
    items: page.items.map((item) => bookItem(item, rates)),
    malformed: page.malformed.map(({ reason }) => reason),
    ...(next !== undefined && { next }),
  };
}

async function byDates(
  list: Orders,
  { date_from: from = '', date_to: to = '' }: BookQuery,
): Promise<{ page: Page<OrderListItem>; next?: string }> {
  const span = { fromMs: dateTimeMs(from) ?? 0, toMs: dateTimeMs(to) ?? 0 };
  const untilMs = performance.now() + LONGEST_MS;
  let read = '';
  let orders = 0;
  const isEnough = () => read !== '' && (orders > ORDERS_AT_ONCE / 2 || performance.now() > untilMs);
  async function* firstWindows(): AsyncGenerator<Page<OrderListItem>> {
    for await (const { window, page, paged } of orderWindows(list, span, { limit: ORDERS_AT_ONCE })) {
      if (isEnough() && window.to !== read) return;
      read = window.to;
      orders += page.total;
      yield page;
      // All pages of one second belong together.
      if (!paged && isEnough()) return;
    }
  }
  const page = await wholeList(firstWindows());
  return read <= to ? { page, next: read } : { page };
}

function bookItem(item: OrderListItem, rates: Rates | undefined): BookItem {
  const { order_type: type, user_order_id: id } = item;
  const shown = Object.fromEntries(BOOK_FIELDS.map((field) => [field, item[field]])) as unknown as BookItem;
  const payers = isOrderType(type) ? payersOf(rates, type, requestOfOrder(type, item)) : undefined;
  return {
    ...shown,
    user_order_id: shownId(id),
    ...(payers && { fee_from_payer: payers.from, fee_to_payer: payers.to }),
  };
}

/**
 * Writes the book of the last day before a time that is over by the service's clock. A later one of
 * the day replaces it.
 */
export async function writeBook(
  account: Pick<Account, 'rates'> & { name: string },
  reads: PacedReads,
  { reportDir, beforeMs }: { reportDir: string; beforeMs: number },
): Promise<ReportFile> {
  const { rates, name } = account;
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
  const clock = new ServiceClock(toMs);
  try {
    for await (const line of exportBook(both, period, undefined, clock)) await csv.add(bookCells(line));
    if (clock.hasPassed()) return await csv.finish();
  } finally {
    await csv.discard();
  }
  return writeBook(account, reads, { reportDir, beforeMs: fromMs });
}
