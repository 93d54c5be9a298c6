import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { pino } from 'pino';
import { isLoopback } from '../config/addresses.js';
import type { CodecConfig } from '../config.js';
import { announcedBytes, openPort, type Port, readBody } from '../http-port/port.js';
import { LOG_HOOKS } from '../print.js';
import { encryptionCodec, PayloadDecryptionError } from '../temporal/encryption-codec.js';

const { Payloads } = proto.temporal.api.common.v1;

/** Largest body: two payloads of 2 MB, the most that Temporal keeps, with room for base64. */
const MAX_BODY_BYTES = 6 * 1024 * 1024;

/** A large request may take that long on a slow line. */
const LIMITS = { maxWaitMs: 10_000 };

/** Reports a question that is not answered; its message quotes nothing of the body. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Starts Temporal's codec protocol: POST /decode and /encode, JSON `{payloads}` in and out. Port 0 takes a free one. */
export async function startCodec(config: CodecConfig): Promise<Port> {
  const codec = encryptionCodec(config.encryptionKeys);
  const log = pino(
    { level: config.logLevel ?? 'info', hooks: LOG_HOOKS, base: { service: 'payment-orders-codec' } },
    pino.destination(2),
  );

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<object | undefined> {
    const { method, headers, url: path = '' } = request;
    admitPage(headers, config, response);
    // Without its keys it would not have started. What a checker learns is no secret, and it has no token.
    if (method === 'GET' && (path === '/healthz' || path === '/readyz')) return { result: 'ok' };
    // Browsers ask without the token whether they may send it; nothing but that is answered.
    if (method === 'OPTIONS') return undefined;
    admitCaller(headers, config);
    if (method !== 'POST' || (path !== '/decode' && path !== '/encode')) throw new Refusal(404, 'not found');
    // Browsers send other types across origins without asking first.
    if (!headers['content-type']?.startsWith('application/json')) throw new Refusal(415, 'must be application/json');
    const body =
      announcedBytes(request, MAX_BODY_BYTES) > MAX_BODY_BYTES ? 'tooLarge' : await readBody(request, MAX_BODY_BYTES);
    if (typeof body === 'string') throw new Refusal(413, `larger than ${MAX_BODY_BYTES} bytes`);
    const payloads = payloadsOf(body.toString());
    const done = await (path === '/decode' ? codec.decode(payloads) : codec.encode(payloads));
    return Payloads.toObject(Payloads.fromObject({ payloads: done }), { bytes: String });
  }

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const send = (status: number, body?: object): void =>
      void response
        .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
        .end(body && JSON.stringify(body));
    answer(request, response).then(
      (body) => send(body ? 200 : 204, body),
      (error: Error) => {
        if (error instanceof Refusal) return send(error.status, { message: error.message });
        if (error instanceof PayloadDecryptionError) return send(400, { message: error.message });
        // Other messages could quote the body.
        log.warn({ error: error.name }, 'question not answered');
        return send(500, { message: 'not possible' });
      },
    );
  };
  return openPort(handle, LIMITS, config);
}

/** Lets the pages of one origin read answers, and refuses all others, those of this very address under a false name too. */
function admitPage({ origin }: IncomingHttpHeaders, { uiOrigin }: CodecConfig, response: ServerResponse): void {
  if (origin === undefined) return;
  if (origin !== uiOrigin) throw new Refusal(403, 'not an origin that may ask');
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-allow-methods', 'POST');
  response.setHeader('access-control-allow-headers', 'content-type,x-namespace,authorization');
  response.setHeader('access-control-allow-credentials', 'true');
  response.setHeader('vary', 'origin');
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Lets in who has the token or, without one, names this machine: web pages send their own Host. */
function admitCaller({ authorization = '', host }: IncomingHttpHeaders, { token }: CodecConfig): void {
  if (token && !timingSafeEqual(digest(`Bearer ${token.reveal()}`), digest(authorization)))
    throw new Refusal(401, 'needs the bearer token that CODEC_TOKEN holds');
  if (!token && !isLoopback(URL.parse(`http://${host}`)?.hostname ?? ''))
    throw new Refusal(403, 'not a Host of this machine: ask 127.0.0.1 or localhost, or set CODEC_TOKEN');
}

function payloadsOf(body: string): Payload[] {
  try {
    return Payloads.fromObject(JSON.parse(body)).payloads;
  } catch {
    throw new Refusal(400, 'must be {"payloads": […]} in the JSON form of the protocol');
  }
}
