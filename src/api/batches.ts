import * as z from 'zod';
import type { BatchHandle } from '../client/batch/batch-handle.js';
import type { Batches } from '../client/batch/batches.js';
import { checkBatchInput } from '../client/checked-input.js';
import { InvalidInputError, RefusedError } from '../client/errors.js';
import type { PaymentOrders } from '../client.js';
import type { Verb } from '../config.js';
import type { BatchInput, BatchPlan } from '../contract/batch/batch.js';
import { DEFAULT_ACCOUNT } from '../contract/names.js';
import { withoutWallets } from '../contract/shown-json.js';
import { batchPlan } from '../shapes/batch-schemas.js';
import { FORMAT_CHECKS } from '../validation/field-errors.js';
import { batchSchema, optionSchemas } from '../validation/input-schemas.js';
import { orderSchemas } from '../validation/request-schemas.js';
import { batchBody, startedBatch } from './bodies.js';
import { actorOf, allowedAccount, type Caller, requireAmounts } from './callers.js';
import { accountQuery, answers, bodyOf, idParams, instructionBody, locationOf, namedBody } from './documents.js';
import type { Api } from './server.js';

const formatChecks = z.enum(FORMAT_CHECKS).optional();

// Only for the OpenAPI document: the library checks the input.
const row = orderSchemas.withdraw.extend({ reference: optionSchemas.reference });
const startBody = batchSchema
  .omit({ planOnly: true })
  .extend({ startedBy: z.string().optional(), rows: z.array(row).optional(), formatChecks });

const approveBody = instructionBody.omit({ reason: true }).extend({ digest: z.string() });
const haltBody = instructionBody.pick({ by: true, reason: true });
const resumeBody = instructionBody.extend({ pausedAt: z.string().optional() });

/** Returns a checked batch input in the caller's name. */
function readBatch(
  value: unknown,
  caller: Caller,
): { input: BatchInput; options: { formatChecks?: 'warn' | 'refuse' } } {
  const { formatChecks: checks, ...given } = Object(value) as Record<string, unknown>;
  const account = allowedAccount(caller, String(given.account ?? DEFAULT_ACCOUNT));
  const options = { formatChecks: formatChecks.safeParse(checks ?? undefined).data };
  const startedBy = actorOf(caller, 'startedBy', given.startedBy);
  const input = checkBatchInput({ ...given, startedBy }, options);
  if (caller.key?.accounts && input.file) requireUploaded(input.file.path, account);
  return { input, options };
}

/** Throws InvalidInputError unless a file was uploaded for the account. */
function requireUploaded(path: string, account: string): void {
  const [folder, name = ''] = [`uploads/${account}/`, path.split('/').at(-1)];
  if (path === folder + name && /^[0-9a-f]{64}\./.test(name)) return;
  const reason = `must be a file that was uploaded for this account, ${folder}…, because the key is for some accounts only; upload it in parts: PUT /v1/batch-files/{sha256}/{part}`;
  throw new InvalidInputError([{ field: 'file.path', reason }]);
}

/** Throws Refusal if a plan moves more than the key allows, or if there is no plan yet. */
const requirePlanned = (caller: Caller, plan: BatchPlan | undefined): void =>
  requireAmounts(caller, plan?.currencies.map(({ currency, total }) => ({ currency, amount: total })) ?? [{}]);

const OTHER_DIGEST = 'the digest is not that of its plan';

export function handleOf(
  batches: Batches,
  caller: Caller,
  { params, query }: { params: { id: string }; query: { account?: string | undefined } },
): BatchHandle {
  return batches.handle(params.id, { account: allowedAccount(caller, query.account) });
}

export const aboutOne = { params: idParams, querystring: accountQuery };

async function shown(handle: BatchHandle): Promise<unknown> {
  const { batchId, account } = handle;
  return withoutWallets({ batchId, account, state: await handle.state() });
}

/** Plans only for keys with a limit, because a plan costs a workflow. */
async function plannedFor(
  batches: Batches,
  caller: Caller,
  { input, options }: ReturnType<typeof readBatch>,
): Promise<BatchInput> {
  if (!caller.key?.maxAmount) return input;
  const plan = await batches.plan(input, options);
  requirePlanned(caller, plan);
  return input.file ? { ...input, file: { ...input.file, sha256: plan.sha256 } } : input;
}

/** Adds the routes of batches, except those of their files. */
export function addBatchRoutes(api: Api, { batches }: PaymentOrders): void {
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
      description:
        'Rows inline, or a file: uploaded, or below BATCH_DIR of the workers. Idempotent by batchId or by the rows.',
      body: startBody,
      response: answers({
        201: ['Temporal has the batch', startedBatch],
        200: ['The same batch was started before', startedBatch],
        409: 'The id has another input (fields)',
        413: 'The body is larger than 128 KiB: upload the rows as a file',
      }),
    },
    handler: async (request, reply) => {
      const { caller } = request;
      const read = bodyOf(request, (value) => readBatch(value, caller));
      const { batchId, account, attached } = await batches.start(await plannedFor(batches, caller, read), read.options);
      reply.code(attached ? 200 : 201).header('location', locationOf('batches', batchId, account));
      return { batchId, account, attached };
    },
  });

  api.get('/v1/batches/:id', {
    config: { verbs: ['read'] },
    schema: {
      summary: 'Shows a batch',
      ...aboutOne,
      response: answers({ 200: ['Its state', batchBody], ...REFUSALS }),
    },
    handler: async (request) => shown(handleOf(batches, request.caller, request)),
  });

  addInstructions(api, batches);
}

const REFUSALS = { 404: 'Temporal has no such batch', 409: 'Refused: read the state again' };

/** Adds the routes that send an update to a batch, and answer with its state. */
function addInstructions(api: Api, batches: Batches): void {
  function add<B extends z.ZodType<{ by?: string | undefined }>>(
    name: 'approve' | 'pause' | 'resume' | 'stop',
    { verbs, summary, body }: { verbs: readonly Verb[]; summary: string; body: B },
    update: (handle: BatchHandle, given: z.output<B> & { by: string }, caller: Caller) => Promise<void>,
  ): void {
    const response = answers({ 200: ['The state after it', batchBody], ...REFUSALS });
    api.post(`/v1/batches/:id/${name}`, {
      config: { verbs },
      schema: { summary, ...aboutOne, body: body as z.ZodType, response },
      handler: async (request) => {
        const handle = handleOf(batches, request.caller, request);
        await update(handle, namedBody(request, body), request.caller);
        // The update succeeded, so a missing state must not become an error.
        return shown(handle).catch(() => ({ batchId: handle.batchId, account: handle.account }));
      },
    });
  }

  const approve = { verbs: ['approve'], summary: 'Approves the plan with this digest', body: approveBody } as const;
  add('approve', approve, async (handle, given, caller) => {
    if (caller.key?.maxAmount) {
      const { plan } = await handle.state();
      requirePlanned(caller, plan);
      // The judged plan must be the approved one.
      if (plan?.digest !== given.digest) throw new RefusedError('batch', handle.batchId, 'instruction', OTHER_DIGEST);
    }
    await handle.approve(given);
  });

  const resume = { verbs: ['approve'], summary: 'Continues after a pause', body: resumeBody } as const;
  add('resume', resume, async (handle, given, caller) => {
    if (caller.key?.maxAmount) requirePlanned(caller, (await handle.state()).plan);
    await handle.resume(given);
  });

  const halt = { verbs: ['start', 'approve'], body: haltBody } as const;
  const until = 'Starts no more orders until resume';
  add('pause', { ...halt, summary: until }, (handle, given) => handle.pause(given));
  add('stop', { ...halt, summary: 'Starts no more orders at all' }, (handle, given) => handle.stop(given));
}
