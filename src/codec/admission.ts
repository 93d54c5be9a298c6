import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { isLoopback } from '../config/addresses.js';
import type { CodecConfig } from '../config.js';

/** Largest body: two payloads of 2 MB, the most that Temporal keeps, with room for base64. */
export const BODY_LIMIT_BYTES = 6 * 1024 * 1024;

/** Bodies under way at the same time, in bytes; handling one takes ten times as much memory. */
const BUDGET_BYTES = 8 * 1024 * 1024;

/** Most parts of a body (objects, lists, and what follows a comma); a payload of ours has six. */
const MAX_PARTS = 10_000;

const TOO_MANY = `more than ${MAX_PARTS} payloads and fields: send fewer payloads at a time`;

/** Reports a body that is not handled; its message quotes nothing of it. */
export class RefusedBody extends Error {
  constructor(
    message: string,
    readonly statusCode = 400,
  ) {
    super(message);
  }
}

/** Where checkers ask. */
export const HEALTH: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** A body whose length is not told might be the largest. */
const lengthOf = ({ 'content-length': length }: IncomingHttpHeaders): number => Number(length ?? BODY_LIMIT_BYTES);

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const refuse = (reply: FastifyReply, status: number, message: string) =>
  reply.code(status).header('connection', 'close').send({ message });

/**
 * Lets in, before any body is read: who has the token or, where none is set, who names this very machine. A web page may lead
 * its own name to this address, and browsers then take us for a part of it; they send that name as Host.
 */
export function admitKnown(app: FastifyInstance, { token }: Pick<CodecConfig, 'token'>): void {
  const wanted = token && digest(`Bearer ${token.reveal()}`);
  app.addHook('onRequest', async ({ headers, method, url }, reply) => {
    // What a checker learns is no secret, and it has no token.
    if (method === 'GET' && HEALTH.has(url)) return;
    // Browsers ask without the token whether they may send it; nothing but that is answered.
    if (method === 'OPTIONS') return;
    if (wanted && !timingSafeEqual(wanted, digest(headers.authorization ?? ''))) {
      return refuse(reply, 401, 'needs the bearer token that CODEC_TOKEN holds');
    }
    if (!wanted && !isLoopback(URL.parse(`http://${headers.host}`)?.hostname ?? '')) {
      return refuse(reply, 403, 'not a Host of this machine: ask 127.0.0.1 or localhost, or set CODEC_TOKEN');
    }
  });
}

/** Keeps the bodies under way below the budget: beyond it callers are told to come back, before a byte is read. */
export function limitBodies(app: FastifyInstance): void {
  let bytes = 0;
  app.addHook('onRequest', async ({ headers, method }, reply) => {
    if (method !== 'POST') return;
    const length = lengthOf(headers);
    if (length > BODY_LIMIT_BYTES) return refuse(reply, 413, `larger than ${BODY_LIMIT_BYTES} bytes`);
    if (bytes + length > BUDGET_BYTES) return refuse(reply.header('retry-after', '1'), 503, 'busy; ask again');
    bytes += length;
    // Also where the caller goes away in the middle.
    reply.raw.once('close', () => {
      bytes -= length;
    });
  });
}

/** Refuses a body of very many payloads, keys or lists before it is parsed: a few bytes each, they take time and memory. */
export function limitParts(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    // Base64, which is nearly all of a genuine body, has none of these characters.
    if (body.split(/[{[,]/, MAX_PARTS + 1).length > MAX_PARTS) done(new RefusedBody(TOO_MANY, 413));
    else parse(request, body, done);
  });
}
