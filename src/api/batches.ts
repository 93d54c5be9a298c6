import * as z from 'zod';
import type { BatchHandle } from '../client/batches.js';
import { checkBatchInput } from '../client/checked-input.js';
import { RefusedError } from '../client/errors.js';
import type { PaymentOrders } from '../client.js';
import type { Verb } from '../config.js';
import type { BatchInput, BatchPlan } from '../contract/batch/batch.js';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import { withoutWallets } from '../contract/shown-json.js';
import { batchPlan } from '../shapes/batch-schemas.js';
import { FORMAT_CHECKS } from '../validation/field-errors.js';
import { batchSchema, optionSchemas } from '../validation/input-schemas.js';
import { orderSchemas } from '../validation/request-schemas.js';
import { batchBody } from './bodies.js';
import { actorOf, allowedAccount, type Caller, requireAmounts } from './callers.js';
import { accountQuery, answers, bodyBy, bodyOf, idParams } from './documents.js';
import type { Api } from './server.js';

const formatChecks = z.enum(FORMAT_CHECKS).optional();

// Only for the OpenAPI document: the library checks the input.
const row = orderSchemas.withdraw.extend({ reference: optionSchemas.reference });
const startBody = batchSchema
  .omit({ planOnly: true })
  .extend({ startedBy: z.string().optional(), rows: z.array(row).optional(), formatChecks });

const signature = z.looseObject({ keyId: z.string(), value: z.string() }).optional();
const shared = { by: z.string().optional(), runId: z.string().optional() };
const approveBody = z.strictObject({ ...shared, digest: z.string(), signature });
const haltBody = z.strictObject({ by: z.string().optional(), reason: z.string() });
const resumeBody = z.strictObject({ ...shared, reason: z.string(), pausedAt: z.string().optional(), signature });

/** Returns a checked batch input in the caller's name. */
function readBatch(
  value: unknown,
  caller: Caller,
): { input: BatchInput; options: { formatChecks?: 'warn' | 'refuse' } } {
  const { formatChecks: checks, ...given } = Object(value) as Record<string, unknown>;
  allowedAccount(caller, String(given.account ?? DEFAULT_ACCOUNT));
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
    return batches.handle(batchId, { account: allowedAccount(caller, account) });
  };
  const shown = async (handle: BatchHandle): Promise<unknown> => {
    const { batchId, account } = handle;
    return withoutWallets({ batchId, account, state: await handle.state() });
  };
  /** Plans only for keys with a limit, because a plan costs a workflow. */
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
      response: answers({ 200: ['The plan', batchPlan] }),
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
    schema: {
      summary: 'Shows a batch',
      ...aboutOne,
      response: answers({ 200: ['Its state', batchBody], ...refusals }),
    },
    handler: async ({ caller, params, query }) => shown(handleOf(caller, params.id, query)),
  });

  /** Adds a route that sends an update to a batch and answers with its state. */
  function addUpdate<B extends z.ZodType>(
    name: 'approve' | 'pause' | 'resume' | 'stop',
    { verbs, summary, body }: { verbs: readonly Verb[]; summary: string; body: B },
    update: (handle: BatchHandle, given: z.output<B>, caller: Caller) => Promise<void>,
  ): void {
    const response = answers({ 200: ['The state after it', batchBody], ...refusals });
    api.post(`/v1/batches/:id/${name}`, {
      config: { verbs },
      schema: { summary, ...aboutOne, body: body as z.ZodType, response },
      handler: async (request) => {
        const { caller, params, query } = request;
        const handle = handleOf(caller, params.id, query);
        await update(handle, bodyBy(request, body), caller);
        // The update succeeded, so a missing state must not become an error.
        return shown(handle).catch(() => ({ batchId: handle.batchId, account: handle.account }));
      },
    });
  }

  const approve = { verbs: ['approve'], summary: 'Approves the plan with this digest', body: approveBody } as const;
  addUpdate('approve', approve, async (handle, given, caller) => {
    if (caller.key?.maxAmount) {
      const { plan } = await handle.state();
      requirePlanned(caller, plan);
      // The judged plan must be the approved one.
      if (plan?.digest !== given.digest) throw new RefusedError('batch', handle.batchId, 'instruction', OTHER_DIGEST);
    }
    await handle.approve({ ...given, by: actorOf(caller, 'by', given.by) });
  });

  const resume = { verbs: ['approve'], summary: 'Continues after a pause', body: resumeBody } as const;
  addUpdate('resume', resume, async (handle, given, caller) => {
    if (caller.key?.maxAmount) requirePlanned(caller, (await handle.state()).plan);
    await handle.resume({ ...given, by: actorOf(caller, 'by', given.by) });
  });

  const halt = { verbs: ['start', 'approve'], body: haltBody } as const;
  addUpdate('pause', { ...halt, summary: 'Starts no more orders until resume' }, (handle, { by, reason }, caller) =>
    handle.pause({ reason, by: actorOf(caller, 'by', by) }),
  );
  addUpdate('stop', { ...halt, summary: 'Starts no more orders at all' }, (handle, { by, reason }, caller) =>
    handle.stop({ reason, by: actorOf(caller, 'by', by) }),
  );
}
