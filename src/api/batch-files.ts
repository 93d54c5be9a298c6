import * as z from 'zod';
import { FailedError } from '../client/errors.js';
import type { PaymentOrders } from '../client.js';
import { MAX_FILE_MIB, MAX_ROW_PAGE, PART_BYTES } from '../contract/batch/files.js';
import { withoutWallets } from '../contract/shown-json.js';
import { aboutOne, handleOf } from './batches.js';
import { batchRowPage, uploadState } from './bodies.js';
import { allowedAccount } from './callers.js';
import { accountQuery, answers, idParams, queryNumber } from './documents.js';
import { Refusal } from './problems.js';
import type { Api } from './server.js';

const CSV = 'text/csv';
const NDJSON = 'application/x-ndjson';

const partNumber = queryNumber(1, MAX_FILE_MIB);
const partParams = z.strictObject({
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits'),
  part: partNumber,
});

const rowsQuery = accountQuery.extend({
  limit: queryNumber(1, MAX_ROW_PAGE).optional(),
  cursor: z.string().max(6).optional(),
});

const NO_FILE: Refusal['problem'] = {
  status: 404,
  code: 'unknown',
  detail:
    'The batch ended without such a file: no row was rejected, nothing was sent, or its workers have no REPORT_DIR. Read the state of the batch',
};

/** Throws Refusal for a batch that failed: it sent nothing, so it has no report. */
function refuseFailed(error: unknown): never {
  if (!(error instanceof FailedError) || error.subject !== 'batch') throw error;
  throw new Refusal({ ...NO_FILE, detail: error.message });
}

/** Adds the routes of a batch's files: upload, rows, reports. */
export function addBatchFileRoutes(api: Api, { batches }: PaymentOrders): void {
  api.register(async (routes) => {
    // No other route takes bytes.
    routes.removeAllContentTypeParsers();
    routes.addContentTypeParser([CSV, NDJSON], { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));
    (routes as unknown as Api).put('/v1/batch-files/:sha256/:part', {
      bodyLimit: PART_BYTES,
      config: { verbs: ['start'], atOnce: 1 },
      schema: {
        summary: 'Uploads one part of a batch file',
        description: 'Raw bytes. Any order, any number of times; the answer says which parts are missing.',
        consumes: [CSV, NDJSON],
        params: partParams,
        querystring: accountQuery.extend({ parts: partNumber }),
        body: z.string(),
        response: answers({
          200: ['The missing parts; with the last one the file for a start', uploadState],
          413: 'Above 1 MiB',
        }),
      },
      handler: async ({ caller, params, query, body, headers }) => {
        const format = headers['content-type']?.startsWith(CSV) ? 'csv' : 'ndjson';
        const { sha256, part } = params;
        const about = { account: allowedAccount(caller, query.account), sha256, format, parts: query.parts } as const;
        return batches.uploadPart(about, part, (body as unknown as Buffer | undefined) ?? Buffer.of());
      },
    });
  });

  api.get('/v1/batches/:id/rows', {
    config: { verbs: ['read'], atOnce: 2 },
    schema: {
      summary: 'Lists the rows of a batch with the states of their orders, one page',
      description: 'In their order, also rows that were not started. Up to a few seconds old.',
      params: idParams,
      querystring: rowsQuery,
      response: answers({ 200: ['One page', batchRowPage], 404: 'Temporal has no such batch' }),
    },
    handler: async ({ caller, params, query: { cursor, limit, account } }) => {
      const handle = handleOf(batches, caller, { params, query: { account } });
      return withoutWallets(await handle.rows({ cursor, limit }));
    },
  });

  const addReport = (name: 'report' | 'rejected', verb: 'read' | 'start', summary: string): void => {
    api.get(`/v1/batches/:id/${name}`, {
      config: { verbs: [verb] },
      schema: {
        summary,
        ...aboutOne,
        response: answers({ 200: ['The file', z.string()], 404: 'No such batch or file' }, CSV),
      },
      handler: async (request, reply) => {
        const handle = handleOf(batches, request.caller, request);
        const bytes = await handle.report({ rejected: name === 'rejected' }).catch(refuseFailed);
        if (!bytes) throw new Refusal(NO_FILE);
        return reply.type(bytes.toString('latin1', 0, 1) === '{' ? NDJSON : `${CSV}; charset=utf-8`).send(bytes);
      },
    });
  };
  addReport('report', 'read', 'Returns the report of an ended batch: every row, wallets masked');
  // It holds wallets, so only who may send rows gets it.
  addReport('rejected', 'start', 'Returns the rows without an order of an ended batch, as they were sent');
}
