import { serviceTime } from '../contract/reconcile/input.js';
import type { OrderListItem } from '../contract/service-objects.js';
import { MalformedResponseError, TooManyValuesError } from './errors.js';
import { DEFAULT_PAGE_SIZE, MAX_ORDERS_PER_PAGE, type OrderListQuery } from './queries.js';

/** One page of a list. */
export interface Page<T> {
  items: T[];
  /** Unreadable items by their index on the page. `reason` names fields, never values. */
  malformed: { index: number; reason: string }[];
  /** Number of items on the page as received. */
  total: number;
}

/** List of the service, page by page. The order of its entries is undocumented. */
export interface List<T, Q> {
  page: (query: Q) => Promise<Page<T>>;
  idOf: (entry: T) => string;
  sizes: PageSizes;
}

/** Page that was shorter than requested although more entries followed. */
export interface SmallPage {
  size: number;
  limit: number;
}

/** Explains a small page. */
export const smallPageNote = ({ size, limit }: SmallPage): string =>
  `the service shows ${size} entries on a page although ${limit} were requested: its lists are read page by page to their ends, ` +
  'with more requests';

/** Page sizes that one list has shown to this process. */
export class PageSizes {
  #largest = 0;
  #small?: SmallPage;
  #isReported = false;

  constructor(private readonly report: (small: SmallPage) => void = () => undefined) {}

  /** Service's own page size; undefined if no page has shown one. */
  get small(): SmallPage | undefined {
    return this.#small;
  }

  /** Records a page. A larger page disproves an earlier small page size. */
  record(total: number): void {
    this.#largest = Math.max(this.#largest, total);
    if (this.#small && total > this.#small.size) this.#small = undefined;
  }

  /** Records that `next` entries followed a short page. Reports the first such page. */
  recordSmall(small: SmallPage, next: number): void {
    // A few entries after a short page are probably new ones.
    if (small.size < this.#largest && next < small.size) return;
    this.#small = small;
    if (!this.#isReported) this.report(small);
    this.#isReported = true;
  }
}

/**
 * Reads each entry of a list once, until a page is empty. Adapts to a smaller page size of the
 * service. Throws MalformedResponseError if the service ignores `page`.
 */
export async function* allPages<T, Q extends { limit?: number; page?: number }>(
  query: Omit<Q, 'page'>,
  { page: ask, idOf, sizes }: List<T, Q>,
): AsyncGenerator<Page<T>> {
  const seen = new Set<string>();
  const asked = query.limit ?? DEFAULT_PAGE_SIZE;
  let limit = asked;
  let before: Page<T> | undefined;
  for (let number = 1; ; number += 1) {
    const page = await ask({ ...query, limit, page: number } as Q);
    const items = page.items.filter((item) => !seen.has(idOf(item)));
    for (const item of items) seen.add(idOf(item));
    const bringsNothing = items.length === 0 && page.malformed.length <= (before?.malformed.length ?? -1);
    if (before && bringsNothing && page.total >= before.total) {
      await refuseUnlessPaged(query as Q, page, { page: ask, idOf, sizes });
      return;
    }
    if (before && before.total < asked && !bringsNothing) {
      sizes.recordSmall({ size: before.total, limit: asked }, page.total);
    }
    yield { ...page, items };
    if (page.total === 0) return;
    if (number === 1) limit = Math.min(limit, page.total);
    before = page;
  }
}

/** Throws if the service repeats pages before the last one. */
async function refuseUnlessPaged<T, Q extends { limit?: number; page?: number }>(
  query: Q,
  { items: [first], total }: Page<T>,
  { page: ask, idOf }: List<T, Q>,
): Promise<void> {
  const second = total > 1 ? (await ask({ ...query, limit: 1, page: 2 })).items[0] : undefined;
  if (total === 1 || (first && second && idOf(first) !== idOf(second))) return;
  throw new MalformedResponseError([{ field: 'data', reason: 'a further page brought nothing new' }]);
}

/** Collects the pages of a list. */
export async function wholeList<T>(pages: AsyncIterable<Page<T>>): Promise<Page<T>> {
  const whole: Page<T> = { items: [], malformed: [], total: 0 };
  for await (const { items, malformed, total } of pages) {
    whole.items.push(...items);
    whole.malformed.push(...malformed.map(({ index, reason }) => ({ index: whole.total + index, reason })));
    whole.total += total;
  }
  return whole;
}

/** Returns whether entries follow a page. */
export async function hasMore<T, Q extends { limit?: number; page?: number }>(
  query: Q,
  { items, total }: Page<T>,
  { page: ask, idOf, sizes }: List<T, Q>,
): Promise<boolean> {
  const { limit = DEFAULT_PAGE_SIZE, page: number = 1 } = query;
  if (total >= Math.min(limit, sizes.small?.size ?? limit)) return true;
  if (total === 0) return false;
  const following = { ...query, limit: number === 1 ? total : limit, page: number + 1 };
  const next = await ask(following);
  const seen = new Set(items.map(idOf));
  const isSeen = (page: Page<T>) => page.items.length > 0 && page.items.every((item) => seen.has(idOf(item)));
  // A last page that is shown again is as long. Entries without an order may come twice by chance.
  if (next.total >= total && isSeen(next)) {
    await refuseUnlessPaged(query, next, { page: ask, idOf, sizes });
    if (isSeen(await ask(following))) return false;
  }
  if (next.total > 0) sizes.recordSmall({ size: total, limit }, next.total);
  return next.total > 0;
}

/** Range of creation dates in the service's format, both ends included. */
interface DateWindow {
  from: string;
  to: string;
}

/**
 * Content of one window. `paged`: it has several pages of one second, whose orders may have
 * shifted.
 */
export interface WindowPage {
  window: DateWindow;
  page: Page<OrderListItem>;
  paged: boolean;
}

const SECOND_MS = 1_000;
/** Share of a page that a first window should fill: fuller ones are often halved. */
const FILLED = 0.7;

/**
 * Reads the orders between two times in windows, halved until each fits one page. Windows share a
 * second, so an order may come twice. `expected`: orders in that time, for the first windows.
 */
export async function* orderWindows(
  list: List<OrderListItem, OrderListQuery>,
  { fromMs, toMs, expected = 0 }: { fromMs: number; toMs: number; expected?: number },
  { limit = MAX_ORDERS_PER_PAGE, ...filter }: Omit<OrderListQuery, 'date_from' | 'date_to' | 'page'> = {},
): AsyncGenerator<WindowPage> {
  const floor = (ms: number) => Math.floor(ms / SECOND_MS) * SECOND_MS;
  const [beginMs, endMs] = [floor(fromMs), floor(toMs) + SECOND_MS];
  const seconds = (endMs - beginMs) / SECOND_MS;
  const widthMs = Math.ceil(seconds / Math.max(1, expected / (FILLED * limit))) * SECOND_MS;
  const open: { fromMs: number; toMs: number }[] = [];
  for (let atMs = beginMs; atMs < endMs; atMs += widthMs) {
    open.unshift({ fromMs: atMs, toMs: Math.min(atMs + widthMs, endMs) });
  }
  let halved = false;
  for (let span = open.pop(); span; span = open.pop()) {
    const window = { from: serviceTime(span.fromMs), to: serviceTime(span.toMs) };
    const query = { ...filter, limit, date_from: window.from, date_to: window.to };
    const isShort = span.toMs - span.fromMs <= SECOND_MS;
    const page = await list.page(query).catch((error: unknown) => {
      if (error instanceof TooManyValuesError && !isShort) return undefined;
      throw error;
    });
    if (page && !(await hasMore(query, page, list))) {
      yield { window, page, paged: false };
    } else if (isShort) {
      for await (const next of allPages(query, list)) yield { window, page: next, paged: true };
    } else {
      if (!halved) await refuseWithoutFilter(list, filter);
      halved = true;
      const middleMs = span.fromMs + floor((span.toMs - span.fromMs) / 2);
      open.push({ fromMs: middleMs, toMs: span.toMs }, { fromMs: span.fromMs, toMs: middleMs });
    }
  }
}

/** Throws if the service ignores dates, which would cost a request for every second. */
async function refuseWithoutFilter(
  list: List<OrderListItem, OrderListQuery>,
  filter: Omit<OrderListQuery, 'page'>,
): Promise<void> {
  const [date_from, date_to] = ['2000-01-01 00:00:00', '2000-01-01 00:00:01'];
  const page = await list.page({ ...filter, limit: 1, date_from, date_to });
  if (page.total > 0) throw new MalformedResponseError([{ field: 'data', reason: 'the date filter was ignored' }]);
}
