import * as z from 'zod';
import type { BatchHandle } from '../client/batches.js';
import { checkBatchInput } from '../client/checked-input.js';
import { RefusedError } from '../client/errors.js';
import type { PaymentOrders } from '../client.js';
import type { BatchInput, BatchPlan } from '../contract/batch/batch.js';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import { withoutWallets } from '../contract/shown-json.js';
import { FORMAT_CHECKS } from '../validation/field-errors.js';
import { batchSchema } from '../validation/input-schemas.js';
import { orderSchemas } from '../validation/request-schemas.js';
import { actorOf, type Caller, requireAccount, requireAmounts } from './callers.js';
import { accountQuery, answers, bodyBy, bodyOf, idParams } from './documents.js';
import type { Api } from './server.js';

const formatChecks = z.enum(FORMAT_CHECKS).optional();

// For the document alone: the library checks the input.
const startBody = batchSchema
  .omit({ planOnly: true })
  .extend({ startedBy: z.string().optional(), rows: z.array(orderSchemas.withdraw).optional(), formatChecks });

const signature = z.looseObject({ keyId: z.string(), value: z.string() }).optional();
const shared = { by: z.string().optional(), runId: z.string().optional() };
const approveBody = z.strictObject({ ...shared, digest: z.string(), signature });
const haltBody = z.strictObject({ by: z.string().optional(), reason: z.string() });
const resumeBody = z.strictObject({ ...shared, reason: z.string(), pausedAt: z.string().optional(), signature });

/** Returns the checked input of a batch, started in the name of the caller. */
function readBatch(
  value: unknown,
  caller: Caller,
): { input: BatchInput; options: { formatChecks?: 'warn' | 'refuse' } } {
  const { formatChecks: checks, ...given } = Object(value) as Record<string, unknown>;
  requireAccount(caller, String(given.account ?? DEFAULT_ACCOUNT));
  const options = { formatChecks: formatChecks.safeParse(checks ?? undefined).data };
  const startedBy = actorOf(caller, 'startedBy', given.startedBy);
  return { input: checkBatchInput({ ...given, startedBy }, options), options };
}

/** Throws Refusal if a plan moves more than the key allows, or if there is no plan yet. */
const requirePlanned = (caller: Caller, plan: BatchPlan | undefined): void =>
  requireAmounts(caller, plan?.currencies.map(({ currency, total }) => ({ currency, amount: total })) ?? [{}]);

const OTHER_DIGEST = 'the digest is not that of its plan';

/** Adds the routes of batches. */
export function addBatchRoutes(api: Api, { batches }: PaymentOrders): void {
  const handleOf = (caller: Caller, batchId: string, { account }: { account?: string }): BatchHandle => {
    requireAccount(caller, account ?? DEFAULT_ACCOUNT);
    return batches.handle(batchId, { account });
  };
  const shown = async (handle: BatchHandle): Promise<unknown> => {
    const { batchId, account } = handle;
    return withoutWallets({ batchId, account, state: await handle.state() });
  };
  /** A plan costs a workflow: it is made only for keys with a limit. */
  const plannedFor = async (caller: Caller, { input, options }: ReturnType<typeof readBatch>): Promise<BatchInput> => {
    if (!caller.key?.maxAmount) return input;
    const plan = await batches.plan(input, options);
    requirePlanned(caller, plan);
    return input.file ? { ...input, file: { ...input.file, sha256: plan.sha256 } } : input;
  };

  api.post('/v1/batches::plan', {
    config: { verbs: ['start', 'read'] },
    schema: {
      summary: 'Checks every row and shows what a batch would do',
      description: 'Starts no order.',
      body: startBody,
      response: answers({ 200: 'The plan' }),
    },
    handler: async (request) => {
      const { input, options } = bodyOf(request, (value) => readBatch(value, request.caller));
      return withoutWallets(await batches.plan(input, options));
    },
  });

  api.post('/v1/batches', {
    config: { verbs: ['start'] },
    schema: {
      summary: 'Starts a batch, or returns the same one',
      description: 'Rows inline, or a file below BATCH_DIR of the workers. Idempotent by batchId or by the rows.',
      body: startBody,
      response: answers({
        201: 'Temporal has the batch',
        200: 'The same batch was started before',
        409: 'The id has another input (fields)',
      }),
    },
    handler: async (request, reply) => {
      const { caller } = request;
      const read = bodyOf(request, (value) => readBatch(value, caller));
      const { batchId, account, attached } = await batches.start(await plannedFor(caller, read), read.options);
      const query = account === DEFAULT_ACCOUNT ? '' : `?account=${account}`;
      reply.code(attached ? 200 : 201).header('location', `/v1/batches/${encodeURIComponent(batchId)}${query}`);
      return { batchId, account, attached };
    },
  });

  const aboutOne = { params: idParams, querystring: accountQuery };
  const refusals = { 404: 'Temporal has no such batch', 409: 'Refused: read the state again' };

  api.get('/v1/batches/:id', {
    config: { verbs: ['read'] },
    schema: { summary: 'Shows a batch', ...aboutOne, response: answers({ 200: 'Its state', ...refusals }) },
    handler: async ({ caller, params, query }) => shown(handleOf(caller, params.id, query)),
  });

  api.post('/v1/batches/:id/approve', {
    config: { verbs: ['approve'] },
    schema: {
      summary: 'Approves the plan with this digest',
      description: 'The key names who approves, who must not be who started it.',
      ...aboutOne,
      body: approveBody,
      response: answers({ 200: 'The state after it', ...refusals }),
    },
    handler: async (request) => {
      const { caller, params, query } = request;
      const handle = handleOf(caller, params.id, query);
      const given = bodyBy(request, approveBody);
      if (caller.key?.maxAmount) {
        const { plan } = await handle.state();
        requirePlanned(caller, plan);
        // What was judged must be what is approved.
        if (plan?.digest !== given.digest) throw new RefusedError('batch', handle.batchId, 'instruction', OTHER_DIGEST);
      }
      await handle.approve({ ...given, by: actorOf(caller, 'by', given.by) });
      return shown(handle);
    },
  });

  for (const verb of ['pause', 'stop'] as const) {
    api.post(`/v1/batches/:id/${verb}`, {
      config: { verbs: ['start', 'approve'] },
      schema: {
        summary: verb === 'pause' ? 'Starts no more orders until resume' : 'Starts no more orders at all',
        description: 'Orders that were started are followed to their end.',
        ...aboutOne,
        body: haltBody,
        response: answers({ 200: 'The state after it', ...refusals }),
      },
      handler: async (request) => {
        const { caller, params, query } = request;
        const handle = handleOf(caller, params.id, query);
        const { by, reason } = bodyBy(request, haltBody);
        await handle[verb]({ reason, by: actorOf(caller, 'by', by) });
        return shown(handle);
      },
    });
  }

  api.post('/v1/batches/:id/resume', {
    config: { verbs: ['approve'] },
    schema: {
      summary: 'Continues after a pause',
      ...aboutOne,
      body: resumeBody,
      response: answers({ 200: 'The state after it', ...refusals }),
    },
    handler: async (request) => {
      const { caller, params, query } = request;
      const handle = handleOf(caller, params.id, query);
      const given = bodyBy(request, resumeBody);
      if (caller.key?.maxAmount) requirePlanned(caller, (await handle.state()).plan);
      await handle.resume({ ...given, by: actorOf(caller, 'by', given.by) });
      return shown(handle);
    },
  });
}
