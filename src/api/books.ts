import { Readable } from 'node:stream';
import * as z from 'zod';
import type { PaymentOrders } from '../client.js';
import type { BookLine } from '../contract/books/book.js';
import { bookText } from '../reports/book.js';
import { allowedAccount } from './callers.js';
import { accountQuery, answers } from './documents.js';
import type { Api } from './server.js';

const bookQuery = accountQuery.extend({
  day: z.string().optional(),
  month: z.string().optional(),
  from: z.string().optional(),
  to: z.string().optional(),
  format: z.enum(['csv', 'ndjson']).optional(),
});

/** Adds the route of the books. */
export function addBookRoute(api: Api, orders: PaymentOrders): void {
  api.get('/v1/books', {
    config: { verbs: ['read'] },
    schema: {
      summary: 'Exports the book of a day, a month, or a time',
      description:
        'Every order that ended in it, what is missing, and the sums by currency. The last line has the kind "end": a book without it is incomplete.',
      querystring: bookQuery,
      response: answers({ 200: ['The lines, as CSV or as NDJSON', z.string()] }, 'text/csv'),
    },
    handler: async ({ caller, query: { account, format = 'csv', ...period } }, reply) => {
      const lines = orders.export({ ...period, account: allowedAccount(caller, account) });
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
