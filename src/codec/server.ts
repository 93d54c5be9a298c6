import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import { pino } from 'pino';
import { isLoopback } from '../config/formats.js';
import type { CodecConfig } from '../config.js';
import { bugIn } from '../contract/failures.js';
import { announcedBytes, openPort, type Port, readBody } from '../http-port/port.js';
import { LOG_HOOKS } from '../print.js';
import { encryptionCodec, PayloadDecryptionError } from '../temporal/encryption-codec.js';

const { Payloads } = proto.temporal.api.common.v1;

/** Maximum body: two payloads of 2 MB, Temporal's limit, in base64. */
const MAX_BODY_BYTES = 6 * 1024 * 1024;

/** Maximum number of payloads: even empty ones cost time and memory. Pages ask for fewer. */
const MAX_PAYLOADS = 1_000;

/** Maximum of each sign that begins a value. Base64 holds none, and a payload has few fields. */
const MAX_SIGNS = 16 * MAX_PAYLOADS;

/** Time limit of a large request on a slow line. */
const LIMITS = { maxWaitMs: 10_000 };

/** Error of a refused question. Its message quotes nothing of the body. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Starts Temporal's codec protocol: POST /decode and /encode with JSON `{payloads}`. Port 0 takes a
 * free one.
 */
export async function startCodec(config: CodecConfig): Promise<Port> {
  const codec = encryptionCodec(config.encryptionKeys);
  const log = pino(
    { level: config.logLevel ?? 'info', hooks: LOG_HOOKS, base: { service: 'payment-orders-codec' } },
    pino.destination(2),
  );

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<object | undefined> {
    const { method, headers, url: path = '' } = request;
    admitPage(headers, config, response);
    // Health checks have no token and learn nothing secret.
    if (method === 'GET' && (path === '/healthz' || path === '/readyz')) return { result: 'ok' };
    // Browsers send this preflight request without the token.
    if (method === 'OPTIONS') return undefined;
    admitCaller(headers, config);
    if (method !== 'POST' || (path !== '/decode' && path !== '/encode')) throw new Refusal(404, 'not found');
    // Browsers send other types across origins without a preflight request.
    if (!headers['content-type']?.startsWith('application/json')) throw new Refusal(415, 'must be application/json');
    const body =
      announcedBytes(request, MAX_BODY_BYTES) > MAX_BODY_BYTES ? 'tooLarge' : await readBody(request, MAX_BODY_BYTES);
    if (typeof body === 'string') throw new Refusal(413, `larger than ${MAX_BODY_BYTES} bytes`);
    const payloads = payloadsOf(body);
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
        log.warn(bugIn(error), 'question not answered');
        return send(500, { message: 'not possible' });
      },
    );
  };
  return openPort(handle, LIMITS, config);
}

/** Allows one origin to read answers. Refuses all others, also DNS names of this address. */
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

/**
 * Admits a caller with the token or, without one, to this machine: web pages send their own Host.
 */
function admitCaller({ authorization = '', host }: IncomingHttpHeaders, { token }: CodecConfig): void {
  if (token && !timingSafeEqual(digest(`Bearer ${token.reveal()}`), digest(authorization)))
    throw new Refusal(401, 'needs the bearer token that CODEC_TOKEN holds');
  if (!token && !isLoopback(URL.parse(`http://${host}`)?.hostname ?? ''))
    throw new Refusal(403, 'not a Host of this machine: ask 127.0.0.1 or localhost, or set CODEC_TOKEN');
}

/** Returns true for a body with too many values to parse: 1 MB of empty ones takes 0.6 s. */
function holdsTooMany(body: Buffer): boolean {
  return [',', '[', '{'].some((sign) => {
    let count = 0;
    for (let at = body.indexOf(sign); at >= 0 && count <= MAX_SIGNS; at = body.indexOf(sign, at + 1)) count += 1;
    return count > MAX_SIGNS;
  });
}

function payloadsOf(body: Buffer): Payload[] {
  const wrong = new Refusal(400, 'must be {"payloads": […]} in the JSON form of the protocol');
  const tooMany = new Refusal(413, `more than ${MAX_PAYLOADS} payloads`);
  if (holdsTooMany(body)) throw tooMany;
  try {
    const parsed: unknown = JSON.parse(body.toString());
    const { length = 0 }: { length?: number } = Object(Object(parsed).payloads);
    if (length > MAX_PAYLOADS) throw tooMany;
    return Payloads.fromObject(Object(parsed)).payloads;
  } catch (error) {
    throw error instanceof Refusal ? error : wrong;
  }
}
