import type { Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { CodecConfig } from '../config.js';
import { MAX_HEADER_BYTES } from '../http-port/connection.js';
import { openPort, type Port } from '../http-port/port.js';
import { LOG_HOOKS } from '../print.js';
import { encryptionCodec, PayloadDecryptionError } from '../temporal/encryption-codec.js';
import { admitKnown, BODY_LIMIT_BYTES, HEALTH, limitBodies, limitParts, RefusedBody } from './admission.js';

const { Payloads } = proto.temporal.api.common.v1;

/** Largest request, with room for the frames of chunks; a large one may take that long on a slow line. */
const LIMITS = { maxBytes: 2 * MAX_HEADER_BYTES + BODY_LIMIT_BYTES, maxWaitMs: 10_000 };

/** Starts Temporal's codec protocol: POST /decode and /encode, JSON `{payloads}` in and out. Port 0 takes a free one. */
export async function startCodec({
  host,
  port,
  encryptionKeys,
  uiOrigin,
  token,
  logLevel = 'info',
}: CodecConfig): Promise<Port> {
  const codec = encryptionCodec(encryptionKeys);
  const log = pino(
    { level: logLevel, hooks: LOG_HOOKS, base: { service: 'payment-orders-codec' } },
    pino.destination(2),
  );
  const app = fastify({ logger: false, bodyLimit: BODY_LIMIT_BYTES });
  // Browsers send plain text across origins without asking first.
  app.removeContentTypeParser('text/plain');
  admitPages(app, uiOrigin);
  admitKnown(app, { token });
  limitBodies(app);
  limitParts(app);
  app.post('/decode', async ({ body }) => toJson(await codec.decode(fromJson(body))));
  app.post('/encode', async ({ body }) => toJson(await codec.encode(fromJson(body))));
  // Without its keys it would not have started.
  for (const path of HEALTH) app.get(path, async () => ({ result: 'ok' }));
  app.setErrorHandler<FastifyError>(async (error, _request, reply) => {
    const told = error instanceof PayloadDecryptionError || error instanceof RefusedBody;
    // Other messages could quote the body.
    if (!told && (error.statusCode ?? 500) >= 500) log.warn({ error: error.name }, 'question not answered');
    return reply.code(error.statusCode ?? (told ? 400 : 500)).send({ message: told ? error.message : 'not possible' });
  });
  await app.ready();
  return openPort(app.server, LIMITS, { host, port });
}

/** Lets the pages of one origin read answers, and refuses all others, those of this very address under a false name too. */
function admitPages(app: FastifyInstance, uiOrigin: string | undefined): void {
  app.addHook('onRequest', async ({ headers: { origin } }, reply) => {
    if (origin === undefined) return;
    if (origin !== uiOrigin) return reply.code(403).send({ message: 'not an origin that may ask' });
    reply.headers({
      'access-control-allow-origin': uiOrigin,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type,x-namespace,authorization',
      'access-control-allow-credentials': 'true',
      vary: 'origin',
    });
  });
  app.options('*', async (_request, reply) => reply.code(204).send());
}

function fromJson(body: unknown): Payload[] {
  try {
    return Payloads.fromObject(body as Record<string, unknown>).payloads;
  } catch {
    throw new RefusedBody('must be {"payloads": […]} in the JSON form of the protocol');
  }
}

const toJson = (payloads: Payload[]) => Payloads.toObject(Payloads.fromObject({ payloads }), { bytes: String });
