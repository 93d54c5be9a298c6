import type { OrderListItem } from '../contract/service-objects.js';
import { MalformedResponseError } from './errors.js';
import { DEFAULT_PAGE_SIZE, MAX_ORDERS_PER_PAGE, type OrderListQuery } from './queries.js';

/** One page of a list. */
export interface Page<T> {
  items: T[];
  /** Items that could not be read, by their index on the page; `reason` names fields, never values. */
  malformed: { index: number; reason: string }[];
  /** Items on the page as received. */
  total: number;
}

/**
 * Reads pages until one is not full. New entries shift later ones to the next page, so an entry may come twice: only its
 * first appearance is kept. A full page without anything new means that the service ignores `page`; going on would never
 * end and stopping would lose entries, so that is a MalformedResponseError.
 */
export async function* allPages<T, Q extends { limit?: number; page?: number }>(
  query: Q,
  list: (query: Q) => Promise<Page<T>>,
  idOf: (item: T) => string,
): AsyncGenerator<Page<T>> {
  const seen = new Set<string>();
  const limit = query.limit ?? DEFAULT_PAGE_SIZE;
  for (let number = query.page ?? 1; ; number += 1) {
    const page = await list({ ...query, limit, page: number });
    const fresh = page.items.filter((item) => !seen.has(idOf(item)));
    for (const item of fresh) seen.add(idOf(item));
    const full = page.total >= limit;
    if (full && number !== (query.page ?? 1) && fresh.length === 0) {
      throw new MalformedResponseError([{ field: 'data', reason: 'a full page brought nothing new' }]);
    }
    yield { ...page, items: fresh };
    if (!full) return;
  }
}

/** How far dates and date filters may lie apart: their undocumented zones are 12 h behind UTC to 14 h ahead. */
export const ZONE_SLACK_MS = 26 * 3_600_000;

/** A span of creation dates, as the service writes dates; both ends belong to it. */
export interface DateWindow {
  from: string;
  to: string;
}

/** What one window holds. `paged`: it was full down to one second, so orders may have shifted while its pages were read. */
export interface WindowPage {
  window: DateWindow;
  page: Page<OrderListItem>;
  paged: boolean;
}

const SECOND_MS = 1_000;

/** The service's date-time of a time; UTC, as its zone is not documented. */
export const serviceDateTime = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

/**
 * Reads the orders created between two times through windows that are halved until a page is not full: such a page is the
 * whole window in one answer, so that nothing can shift between pages, whatever the list's order. Halves share their
 * boundary, because it is not documented whether `date_to` belongs to the window: an order may come twice. `limit` is a
 * page's size.
 */
export async function* orderWindows(
  list: (query: OrderListQuery) => Promise<Page<OrderListItem>>,
  { fromMs, toMs }: { fromMs: number; toMs: number },
  { limit = MAX_ORDERS_PER_PAGE, ...filter }: Omit<OrderListQuery, 'date_from' | 'date_to' | 'page'> = {},
): AsyncGenerator<WindowPage> {
  const floor = (ms: number) => Math.floor(ms / SECOND_MS) * SECOND_MS;
  const open = [{ fromMs: floor(fromMs), toMs: floor(toMs) + SECOND_MS }];
  let halved = false;
  for (let span = open.pop(); span; span = open.pop()) {
    const window = { from: serviceDateTime(span.fromMs), to: serviceDateTime(span.toMs) };
    const query = { ...filter, limit, date_from: window.from, date_to: window.to };
    const page = await list(query);
    if (page.total < limit) {
      yield { window, page, paged: false };
    } else if (span.toMs - span.fromMs <= SECOND_MS) {
      for await (const next of allPages(query, list, (order) => order.order_uuid))
        yield { window, page: next, paged: true };
    } else {
      if (!halved) await refuseWithoutFilter(list, filter);
      halved = true;
      const middleMs = span.fromMs + floor((span.toMs - span.fromMs) / 2);
      open.push({ fromMs: middleMs, toMs: span.toMs }, { fromMs: span.fromMs, toMs: middleMs });
    }
  }
}

/** A service that ignores dates would be asked for every second of the window. */
async function refuseWithoutFilter(
  list: (query: OrderListQuery) => Promise<Page<OrderListItem>>,
  filter: OrderListQuery,
): Promise<void> {
  const [date_from, date_to] = ['2000-01-01 00:00:00', '2000-01-01 00:00:01'];
  const page = await list({ ...filter, limit: 1, date_from, date_to });
  if (page.total > 0) throw new MalformedResponseError([{ field: 'data', reason: 'the date filter was ignored' }]);
}
