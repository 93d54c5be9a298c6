import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import { SERVICE_REJECTED, statusText } from '../contract/failures.js';
import { ORDER_TYPES } from '../contract/order/types.js';
import { isMalformed, type Malformed, type Rates, READS } from '../contract/service-objects.js';
import { InvalidRequestError, RejectedError } from '../payment-service/errors.js';
import { allPages, hasMore, type List, type Page } from '../payment-service/paging.js';
import {
  addressListSchema,
  checkRequest,
  DEFAULT_PAGE_SIZE,
  type OrderStatusQuery,
  orderListSchema,
  orderStatusSchema,
} from '../payment-service/queries.js';
import { shownAddress } from './address/address-list.js';
import { readBookPage } from './books.js';
import { type Account, type ActivityDeps, accountOf } from './deps.js';
import { invalidInput, retryLater, validInput } from './failures.js';
import { checkOrder, checkQuery } from './order/check-order.js';

/** Maximum JSON size of an answer, about 1,000 orders. Temporal refuses 2 MiB. */
const MAX_ANSWER_BYTES = 2_000_000;

const inputSchema = z.strictObject({
  account: z.string(),
  read: z.enum(READS),
  query: z.record(z.string(), z.unknown()).optional(),
});

/**
 * Runs one signed read for a caller without secrets. Fails with InvalidInput or ServiceRejected;
 * other errors are repeated.
 */
export function readServiceActivity(deps: ActivityDeps) {
  return async function readService(raw: { account: string; read: string; query?: unknown }): Promise<unknown> {
    const { account, read, query = {} } = validInput(inputSchema, raw);
    try {
      return fitting(await readFrom(deps, accountOf(deps, account), read, query));
    } catch (error) {
      if (error instanceof InvalidRequestError) {
        throw invalidInput(error.errors.map(({ field, reason }) => ({ field: `query.${field}`, reason })));
      }
      if (error instanceof RejectedError) {
        throw rejected(`the service refused the read (${statusText(error.status, error.excerpt)}); check the query`);
      }
      throw retryLater(error);
    }
  };
}

const rejected = (message: string): ApplicationFailure =>
  ApplicationFailure.create({ type: SERVICE_REJECTED, message, nonRetryable: true });

/** Throws at once if Temporal would refuse the answer, which would look like no answer. */
function fitting(answer: unknown): unknown {
  const bytes = Buffer.byteLength(JSON.stringify(answer));
  if (bytes <= MAX_ANSWER_BYTES) return answer;
  const size = `the answer of ${bytes} bytes is too large (at most ${MAX_ANSWER_BYTES})`;
  throw invalidInput([{ field: 'query', reason: `${size}: ask for a smaller limit, or for the rates of one pair` }]);
}

const ratesQuery = z.strictObject({ order_type: z.enum(ORDER_TYPES).optional(), pair: z.string().optional() });

/** Returns the rates of an order type, or of a pair key such as `usd_card`, or all of them. */
async function ratesOf(account: Account, { order_type: type, pair }: z.infer<typeof ratesQuery>): Promise<Rates> {
  const types = Object.entries(await account.service.rates(OF_CALLER)).filter(
    ([name]) => type === undefined || name === type,
  );
  return Object.fromEntries(
    types.map(([name, pairs]) => [
      name,
      Object.fromEntries(Object.entries(pairs).filter(([key]) => pair === undefined || key === pair)),
    ]),
  );
}

/** Returns one row per row of the service. An unreadable row says so in its place. */
function rowsOf<T>({ items, malformed }: Page<T>): (T | Malformed)[] {
  const rows: (T | Malformed)[] = [...items];
  for (const { index, reason } of malformed) rows.splice(index, 0, { malformed: reason });
  return rows;
}

/** Returns the rows of a page as the query asks, whatever the service's own page size is. */
async function pageOf<T, Q extends { limit?: number; page?: number }>(
  query: Q,
  list: List<T, Q>,
): Promise<(T | Malformed)[]> {
  const { limit = DEFAULT_PAGE_SIZE, page: number = 1 } = query;
  const page = await list.page(query);
  const isShort = page.total > 0 && page.total < limit;
  // After a short page, the offset of later pages is unclear.
  const isOther = list.sizes.small || (isShort && (number > 1 || (await hasMore(query, page, list))));
  if (!isOther) return rowsOf(page);
  const rows: (T | Malformed)[] = [];
  for await (const next of allPages(query, list)) {
    rows.push(...rowsOf(next));
    if (rows.length >= number * limit) break;
  }
  return rows.slice((number - 1) * limit, number * limit);
}

/** Options of reads for callers, who may ask often. */
const OF_CALLER = { turn: 'read' } as const;

async function readFrom(
  deps: ActivityDeps,
  account: Account,
  read: (typeof READS)[number],
  query: unknown,
): Promise<unknown> {
  const { service } = account;
  switch (read) {
    case 'rates':
      return ratesOf(account, checkRequest(ratesQuery, query));
    case 'balances':
      checkRequest(z.strictObject({}), query);
      return service.balances(OF_CALLER);
    case 'orderStatus': {
      const { order, said } = await service.orderStatus(
        checkRequest(orderStatusSchema, query) as OrderStatusQuery,
        OF_CALLER,
      );
      if (!order) throw rejected(`order/status answers ${said}: no such order, a bad query or a wrong base URL`);
      return order;
    }
    case 'orderList':
      return pageOf(checkRequest(orderListSchema, query), service.orders(OF_CALLER));
    case 'addressList':
      return (await pageOf(checkRequest(addressListSchema, query), service.addresses(OF_CALLER))).map((row) =>
        isMalformed(row) ? row : shownAddress(row),
      );
    case 'book':
      return readBookPage(
        service.orders(OF_CALLER),
        await account.rates.current(),
        checkRequest(orderListSchema, query),
      );
    case 'check':
      return checkOrder(deps, account, checkRequest(checkQuery, query));
  }
}
