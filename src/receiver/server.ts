import fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { type CallbackTarget, verifyCallbackPath } from '../contract/callback-url.js';
import {
  ANSWERS,
  type CallbackAnswer,
  type CallbackOutcome,
  handleCallback,
  MAX_CALLBACK_BODY_BYTES,
} from './handle-callback.js';
import type { SignalOrder, SignalReceived } from './signals.js';
import { spareReceived, spareTemporal } from './spare-temporal.js';

/** Where the receiver writes; never given a body, token or query string. */
export type ReceiverLog = Pick<Logger, 'info' | 'warn'>;

/** What the receiver needs. `tokenKeys`: all keys of CALLBACK_TOKEN_KEY; port 0 takes a free one. */
export interface ReceiverOptions {
  host: string;
  port: number;
  tokenKeys: readonly string[];
  /** Wakes orders up. */
  signal: SignalOrder;
  /** Wakes up, or starts, followers of receipts on permanent addresses. */
  received: SignalReceived;
  log: ReceiverLog;
}

/** A listening receiver. `close` lets callbacks under way finish. */
export interface Receiver {
  url: string;
  close(): Promise<void>;
}

/** Answers to what is counted instead of logged. */
const REFUSED: Readonly<Record<Refusal, CallbackAnswer>> = {
  notFound: { status: 404, body: { result: 'not found' } },
  tooLarge: { status: 413, body: { result: 'body too large' } },
  malformed: ANSWERS.malformed,
  crowded: ANSWERS.crowded,
  limited: ANSWERS.limited,
};

const isRefusal = (result: CallbackOutcome['result']): result is CallbackOutcome['result'] & Refusal =>
  Object.hasOwn(REFUSED, result);

// Longer than the 2 s that a callback may take.
const CLOSE_GRACE_MS = 3_000;

function send(reply: FastifyReply, answer: CallbackAnswer): FastifyReply {
  if (answer.retryAfterSeconds) reply.header('retry-after', answer.retryAfterSeconds);
  return reply.code(answer.status).send(answer.body);
}

type Refuse = (reply: FastifyReply, reason: Refusal) => FastifyReply;

/** A server that admits any content type, gives slow senders 15 s, and answers all that it does not route alike. */
function createApp(refuse: Refuse, log: ReceiverLog): FastifyInstance {
  const app = fastify({
    // Its request log would contain the URL, and the URL contains the token.
    logger: false,
    bodyLimit: MAX_CALLBACK_BODY_BYTES,
    requestTimeout: 15_000,
    keepAliveTimeout: 5_000,
    // Node looks for expired connections every 30 s unless told otherwise.
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000 },
    frameworkErrors: (_error, _request, reply) => void refuse(reply, 'notFound'),
  });
  app.server.maxConnections = 1_000;
  // The content type of real callbacks is not documented; fastify refuses those it cannot read, so it sees none.
  app.addHook('onRequest', async (request) => {
    delete request.raw.headers['content-type'];
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setNotFoundHandler((_request, reply) => refuse(reply, 'notFound'));
  app.setErrorHandler<FastifyError>(async (error, request, reply) => {
    if (error.statusCode === 413) return refuse(reply, 'tooLarge');
    if (request.method !== 'POST') return refuse(reply, 'notFound');
    if (error.statusCode && error.statusCode < 500) return send(reply, ANSWERS.malformed);
    // A mistake of ours must not cost the callback. Only the name is logged: the message could quote the request.
    log.warn({ error: error.name }, 'callback not handled');
    return send(reply, ANSWERS.unavailable);
  });
  return app;
}

/** How the log names what a callback was about. */
function subjectOf(target: CallbackTarget): { account: string; orderId?: string; addressRef?: string } {
  return target.kind === 'order'
    ? { account: target.account, orderId: target.orderId }
    : { account: target.account, addressRef: target.ref };
}

/** Starts the callback receiver: raw bytes → size limit → token → parse → signal → answer. */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { log, tokenKeys } = options;
  const refusals = createRefusals(log);
  const delivery = { order: spareTemporal(options.signal), received: spareReceived(options.received) };
  const refuse: Refuse = (reply, reason) => {
    refusals.count(reason);
    return send(reply, REFUSED[reason]);
  };
  const app = createApp(refuse, log);
  app.get('/healthz', async () => ({ result: 'ok' }));
  app.post('/callbacks/*', async (request, reply) => {
    const [path = ''] = (request.raw.url ?? '').split('?', 1);
    const target = verifyCallbackPath(path, tokenKeys);
    if (!target) return refuse(reply, 'notFound');
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const outcome = await handleCallback(target, body, delivery);
    // A callback URL that got into wrong hands must not fill the log either.
    if (isRefusal(outcome.result)) return refuse(reply, outcome.result);
    const level = outcome.result === 'delivered' || outcome.result === 'closed' ? 'info' : 'warn';
    log[level]({ ...subjectOf(target), ...outcome }, 'callback');
    return send(reply, ANSWERS[outcome.result]);
  });
  const url = await app.listen({ host: options.host, port: options.port });
  return {
    url,
    async close() {
      // A closing server no longer looks for expired connections: half-sent requests would keep it open for ever.
      const cut = setTimeout(() => app.server.closeAllConnections(), CLOSE_GRACE_MS);
      // Closing ends the connections that are idle now; those that answer a last callback become idle later.
      const sweep = setInterval(() => app.server.closeIdleConnections(), 100);
      try {
        await app.close();
      } finally {
        clearTimeout(cut);
        clearInterval(sweep);
        refusals.flush();
      }
    },
  };
}

/** Time between two lines of the log. */
const INTERVAL_MS = 60_000;

/** Why a request was refused, where that is counted instead of logged. */
type Refusal = 'notFound' | 'tooLarge' | 'malformed' | 'crowded' | 'limited';

/** Logs counts once a minute: one line each would let anybody fill the log, also whoever got hold of one callback URL. */
function createRefusals(log: ReceiverLog) {
  const reasons = new Map<Refusal, number>();
  let timer: NodeJS.Timeout | undefined;
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const refused = [...reasons.values()].reduce((sum, count) => sum + count, 0);
    if (refused > 0) log.warn({ refused, reasons: Object.fromEntries(reasons) }, 'requests refused in the last minute');
    reasons.clear();
  }
  return {
    flush,
    count(reason: Refusal): void {
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      timer ??= setTimeout(flush, INTERVAL_MS).unref();
    },
  };
}
