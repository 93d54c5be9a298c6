import { Readable } from 'node:stream';
import * as z from 'zod';
import type { PaymentOrders } from '../client.js';
import type { DepositAddressInput } from '../contract/address/address.js';
import type { BookLine } from '../contract/books/book.js';
import { ORDER_TYPES } from '../contract/order/types.js';
import { withoutWallets } from '../contract/shown-json.js';
import { bookText } from '../reports/book.js';
import { depositAddressResult } from '../shapes/order-schemas.js';
import { shownBalances, shownRates } from '../shapes/read-schemas.js';
import { clientInfoSchema, currencySchema, descriptionSchema, networkSchema } from '../validation/request-schemas.js';
import { addressPage } from './bodies.js';
import { allowedAccount } from './callers.js';
import { accountQuery, answers, bodyBy, queryNumber } from './documents.js';
import type { Load } from './load.js';
import { type Problem, Refusal } from './problems.js';
import type { Api } from './server.js';

const ratesQuery = accountQuery.extend({ order_type: z.enum(ORDER_TYPES).optional(), pair: z.string().optional() });

const addressesQuery = accountQuery.extend({
  currency: currencySchema.optional(),
  network: networkSchema.optional(),
  limit: queryNumber(1, 100).optional(),
  page: queryNumber(1, 100_000).optional(),
});

// The worker checks the values. Strict, because an unknown field would be ignored.
const addressBody = accountQuery.extend({
  ref: z.string(),
  address: z.strictObject({
    currency: currencySchema,
    network: networkSchema,
    currency_to: currencySchema.optional(),
    address_title: descriptionSchema,
    client_info: clientInfoSchema,
  }),
});

/** Each read of the service is a workflow. */
const READS_AT_ONCE = 2;

/** Adds the routes of rates, balances and permanent addresses. */
export function addServiceRoutes(api: Api, orders: PaymentOrders): void {
  api.get('/v1/rates', {
    config: { verbs: ['read'], atOnce: READS_AT_ONCE },
    schema: {
      summary: 'Shows rates, limits and fees',
      description: 'Entries with "malformed" cannot be read.',
      querystring: ratesQuery,
      response: answers({ 200: ['Rates by order type and pair', shownRates] }),
    },
    handler: async ({ caller, query: { account, ...query } }) => orders.rates(allowedAccount(caller, account), query),
  });

  api.get('/v1/balances', {
    config: { verbs: ['read'], atOnce: READS_AT_ONCE },
    schema: {
      summary: "Shows the merchant's balances",
      querystring: accountQuery,
      response: answers({ 200: ['Balances by currency', shownBalances] }),
    },
    handler: async ({ caller, query }) => orders.balances(allowedAccount(caller, query.account)),
  });

  api.get('/v1/addresses', {
    config: { verbs: ['read'], atOnce: READS_AT_ONCE },
    schema: {
      summary: 'Lists permanent deposit addresses, one page',
      querystring: addressesQuery,
      response: answers({ 200: ['One page', addressPage] }),
    },
    handler: async ({ caller, query: { account, ...query } }) => {
      const addresses = await orders.addressList(query, allowedAccount(caller, account));
      return withoutWallets({ addresses });
    },
  });

  api.post('/v1/addresses', {
    config: { verbs: ['start'] },
    schema: {
      summary: 'Creates a permanent deposit address, or returns the one of this ref',
      body: addressBody,
      response: answers({ 200: ['The address', depositAddressResult] }),
    },
    handler: async (request) => {
      const given = bodyBy(request, addressBody);
      const account = allowedAccount(request.caller, given.account);
      return withoutWallets(await orders.createAddress({ ...given, account } as DepositAddressInput));
    },
  });
}

const bookQuery = accountQuery.extend({
  day: z.string().optional(),
  month: z.string().optional(),
  from: z.string().optional(),
  to: z.string().optional(),
  format: z.enum(['csv', 'ndjson']).optional(),
});

const BOOKS = '/v1/books';

/** Maximum books at once, which keep all their orders in memory. */
const MOST_BOOKS = 2;

const BUSY: Problem = {
  status: 429,
  code: 'limited',
  detail: 'Other books are being exported, and this one was not begun. Ask for it again after Retry-After',
  headers: { 'retry-after': '10' },
};

/** Adds the route of the books. */
export function addBookRoute(api: Api, orders: PaymentOrders, load: Load): void {
  api.get(BOOKS, {
    config: { verbs: ['read'] },
    schema: {
      summary: 'Exports the book of a day, a month, or a time',
      description:
        'Every order that ended in it, what is missing, and the sums by currency. The last line has the kind "end": a book without it is incomplete.',
      querystring: bookQuery,
      response: answers({ 200: ['The lines, as CSV or as NDJSON', z.string()] }, 'text/csv'),
    },
    handler: async ({ caller, query: { account, format = 'csv', ...period } }, reply) => {
      if (!load.enter(BOOKS, reply.raw, MOST_BOOKS)) throw new Refusal(BUSY);
      const lines = orders.export({ ...period, account: allowedAccount(caller, account) });
      load.hold(reply.raw, () => lines.return());
      // Waits for the first line: an error after it could only cut the answer.
      const first = await lines.next();
      const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson';
      return reply.type(type).send(Readable.from(bookText(allLines(first, lines), format)));
    },
  });
}

async function* allLines(first: IteratorResult<BookLine, void>, others: AsyncGenerator<BookLine, void>) {
  if (!first.done) yield first.value;
  yield* others;
}
