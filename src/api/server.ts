import { randomUUID } from 'node:crypto';
import swagger from '@fastify/swagger';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { InvalidInputError } from '../client/errors.js';
import type { PaymentOrders } from '../client.js';
import { isLoopback } from '../config/formats.js';
import type { ApiKey, Verb } from '../config.js';
import { withoutFigures } from '../contract/shown-json.js';
import { holdsWallet, maskWallets } from '../contract/wallets.js';
import { createAllowance } from '../http-port/allowance.js';
import { openPort, type Port } from '../http-port/port.js';
import { checkedBy } from '../validation/field-errors.js';
import { readJsonBytes } from '../validation/json-input.js';
import { addAccountRoutes } from './accounts.js';
import { addBatchFileRoutes } from './batch-files.js';
import { addBatchRoutes } from './batches.js';
import { authenticate, type Caller, requireVerb } from './callers.js';
import { docsPage } from './docs-page.js';
import { Load } from './load.js';
import { openApi } from './open-api.js';
import { addEventRoutes, addOrderDecisions, addOrderReads } from './orders.js';
import { loggedError, type Problem, problemBody, problemOf, Refusal } from './problems.js';
import { addBookRoute, addServiceRoutes } from './service.js';
import { addStarts } from './starts.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Verbs of which a key needs one; absent = no key needed. */
    verbs?: readonly Verb[];
    /** Maximum requests of one caller under way, each of which is costly for workers. */
    atOnce?: number;
  }
  interface FastifyRequest {
    caller: Caller;
  }
}

/** Parts of the API. */
export interface ApiOptions {
  host: string;
  /** Port; 0 takes a free one. */
  port: number;
  orders: PaymentOrders;
  /** Absent = every caller may do everything. */
  keys?: readonly ApiKey[] | undefined;
  requestsPerSecond?: number;
  /** Never receives a body, wallet or key. */
  log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
  /** Returns why Temporal does not answer; absent = not checked. Never rejects. */
  whyNotReady?: () => Promise<string | undefined>;
  /** Runs a handler in the context of its request id; absent without traces. */
  within?: ((requestId: string, handle: () => void) => void) | undefined;
  /** Called with each answer, and with the cause of a connection cut. */
  onAnswer?: (answer: string, route: string) => void;
}

/** Maximum body. The largest order has 75 KiB. */
const MAX_BODY_BYTES = 128 * 1024;
/** Order ids have up to 120 characters, possibly escaped. */
const MAX_PARAM_LENGTH = 400;
const MAX_WAIT_MS = 10_000;
const DEFAULT_REQUESTS_PER_SECOND = 50;
/** Burst of a caller, in seconds of its limit. */
const BURST_SECONDS = 4;

const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;

/** Returns the caller's request id if it is valid, or a new one. */
function requestIdOf(header: unknown): string {
  const isSane = typeof header === 'string' && REQUEST_ID.test(header) && !holdsWallet(header);
  return isSane ? header : randomUUID();
}

/** Statuses that are not logged: anybody can cause them without a key. */
const UNLOGGED: readonly number[] = [401, 429];

/** Creates the API without a port. */
export function createApi(
  { orders, keys, log, whyNotReady, within, onAnswer, ...options }: ApiOptions,
  connections: Port['connections'] = () => ({ open: 0, underWay: 0 }),
) {
  const app = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    requestIdHeader: false,
    genReqId: ({ headers }) => requestIdOf(headers['x-request-id']),
    frameworkErrors: (error, request, reply) => void refuse(error, request, reply),
    exposeHeadRoutes: false,
  }).withTypeProvider<ZodTypeProvider>();

  const { requestsPerSecond = DEFAULT_REQUESTS_PER_SECOND } = options;
  const burst = Math.max(1, Math.ceil(BURST_SECONDS * requestsPerSecond));
  const load = new Load(connections);
  const allowance = createAllowance({ burst, intervalMs: 1_000 / requestsPerSecond });

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const problem = problemOf(error);
    if (problem.status >= 500) log.warn({ requestId: request.id, code: problem.code, ...loggedError(error) }, 'failed');
    return reply
      .code(problem.status)
      .headers({ ...problem.headers, 'x-request-id': request.id })
      .type('application/problem+json; charset=utf-8')
      .send(problemBody(problem, request.id));
  }

  app.setErrorHandler(refuse);
  app.setNotFoundHandler((request, reply) => refuse(new Refusal(NO_ROUTE), request, reply));
  // The library checks bodies. A second check would name other fields.
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) =>
    httpPart === 'body' ? (value) => ({ value }) : (value) => checked(schema, value),
  );
  app.setSerializerCompiler(() => JSON.stringify);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, bytes, done) => {
    const { problem, ...parsed } = readJsonBytes(bytes as Buffer);
    if (!problem) return done(null, parsed);
    const detail = `The body ${problem}. Nothing was started. Correct it and send it again`;
    done(new Refusal({ status: 400, code: 'unreadable', detail }));
  });

  app.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function (request, reply) {
      const work = Promise.resolve(handler.call(this, request, reply));
      load.hold(reply.raw, () => work);
      return work;
    };
  });
  // A body may have come late.
  app.addHook('preHandler', async ({ routeOptions }) => {
    if (routeOptions.config.verbs && load.isFull) throw new Refusal(FULL);
  });
  app.decorateRequest('caller');
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store' });
    const { url, config } = request.routeOptions;
    if (!config.verbs) return;
    if (load.isFull) throw new Refusal(FULL);
    if (!keys) requireOwnPage(request);
    const caller = authenticate(request, keys);
    request.caller = caller;
    const name = caller.key?.name ?? '';
    const isRoom = () => !config.atOnce || load.enter(`${name} ${url}`, reply.raw, config.atOnce);
    if (!allowance.take(name) || !load.enter(name, reply.raw) || !isRoom()) throw new Refusal(LIMITED);
    requireVerb(caller, config.verbs);
  });
  // Not earlier: reading the body would leave the context.
  if (within) app.addHook('preHandler', (request, _reply, done) => within(request.id, done));
  // Also for errors. Without a key, a caller may do everything.
  app.addHook('preSerialization', async ({ caller }, _reply, payload) =>
    caller?.key?.verbs.has('read') === false ? withoutFigures(payload) : payload,
  );
  app.addHook('onResponse', async (request, { statusCode: status, elapsedTime }) => {
    const { url: route = 'none', config } = request.routeOptions;
    onAnswer?.(String(status), route);
    if (!config.verbs) return;
    const { id } = Object(request.params) as { id?: string };
    const about = { requestId: request.id, caller: request.caller?.key?.name, method: request.method, route };
    const level = UNLOGGED.includes(status) ? 'debug' : 'info';
    log[level]({ ...about, ...(id && { id: maskWallets(id) }), status, ms: Math.round(elapsedTime) }, 'request');
  });

  app.register(swagger, openApi);
  app.register(async (routes) => {
    const api = routes.withTypeProvider<ZodTypeProvider>();
    const hidden = { schema: { hide: true } };
    api.get('/healthz', hidden, async () => ({ result: 'ok' }));
    api.get('/readyz', hidden, async () => {
      if (await whyNotReady?.()) throw new Refusal(NOT_READY);
      return { result: 'ok' };
    });
    // Made once: whoever has no key may ask for them.
    let [document, page]: string[] = [];
    const allow = () => {
      if (!allowance.take('documents')) throw new Refusal(LIMITED);
    };
    api.get('/openapi.json', hidden, async (_request, reply) => {
      allow();
      document ??= JSON.stringify(app.swagger());
      return reply.type('application/json; charset=utf-8').send(document);
    });
    api.get('/docs', hidden, async (_request, reply) => {
      allow();
      page ??= docsPage(app.swagger());
      reply.headers({ 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" });
      return reply.type('text/html; charset=utf-8').send(page);
    });
    addStarts(api, orders, load);
    addOrderReads(api, orders);
    addOrderDecisions(api, orders);
    addBatchRoutes(api, orders);
    addBatchFileRoutes(api, orders);
    addServiceRoutes(api, orders);
    addAccountRoutes(api, orders);
    addBookRoute(api, orders, load);
    addEventRoutes(api, orders);
  });
  return app;
}

/** Instance for routes. */
export type Api = ReturnType<typeof createApi>;

/** Starts the API. */
export async function startApi(options: ApiOptions): Promise<Port> {
  const app = createApi(options, () => port.connections());
  await app.ready();
  const onCut = (why: string): void => options.onAnswer?.(why, 'none');
  const port: Port = await openPort(
    (request, response) => app.routing(request, response),
    { maxWaitMs: MAX_WAIT_MS, onCut },
    options,
  );
  return {
    ...port,
    close: async () => {
      await port.close();
      await app.close();
    },
  };
}

function checked<S extends z.ZodType>(schema: S, value: unknown) {
  const result = checkedBy(schema, value);
  return 'errors' in result ? { error: new InvalidInputError(result.errors) } : { value: result.input };
}

/** Throws Refusal for a web page of another address, or of another name of this one. */
function requireOwnPage({ headers }: FastifyRequest): void {
  const { host, origin = `http://${host}`, 'sec-fetch-site': site = 'none' } = headers;
  if (!isLoopback(URL.parse(`http://${host}`)?.hostname ?? '')) throw new Refusal(OTHER_HOST);
  const isOwn = origin === `http://${host}` && ['none', 'same-origin'].includes(String(site));
  if (!isOwn) throw new Refusal(OTHER_PAGE);
}

const NO_ROUTE: Problem = {
  status: 404,
  code: 'noRoute',
  detail: 'This API has no such path and method, so nothing was done. /openapi.json lists all',
};
const NOT_READY: Problem = {
  status: 503,
  code: 'unreachable',
  detail: 'Temporal does not answer. Orders wait and nothing is lost. Ask again later',
};
const FULL: Problem = {
  status: 503,
  code: 'unreachable',
  detail: 'All connections of the API are in use, so nothing was done. Send it again after Retry-After',
  headers: { 'retry-after': '1' },
};
const LIMITED: Problem = {
  status: 429,
  code: 'limited',
  detail:
    'The caller sends more requests than its limit allows, or has more than 100 under way, so nothing was done. Send it again after Retry-After',
  headers: { 'retry-after': '1' },
};
const OTHER_HOST: Problem = {
  status: 403,
  code: 'forbidden',
  detail:
    'Without API_KEYS_FILE only 127.0.0.1 and localhost may be asked, so nothing was done. Use one of them as Host',
};
const OTHER_PAGE: Problem = {
  status: 403,
  code: 'forbidden',
  detail:
    'A web page of another address sent this, so nothing was done. Without API_KEYS_FILE only pages of this API may; send it from a program, or use keys',
};
