import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { type CallbackTarget, verifyCallbackPath } from '../contract/callback-url.js';
import { bugIn } from '../contract/failures.js';
import { announcedBytes, type Cut, openPort, type Port, readBody } from '../http-port/port.js';
import type { SignalOrder, SignalReceived } from './signals.js';
import { spareReceived, spareTemporal } from './spare-temporal.js';

/** HTTP answer. The service delivers again after every status but 200 and 201. */
interface CallbackAnswer {
  status: number;
  result: string;
  retryAfterSeconds?: number;
}

const ACCEPTED = { status: 200, result: 'accepted' };

/** All answers. A callback is acknowledged only after Temporal has stored it. */
const ANSWERS = {
  delivered: ACCEPTED,
  closed: ACCEPTED,
  unknown: ACCEPTED,
  healthy: { status: 200, result: 'ok' },
  notFound: { status: 404, result: 'not found' },
  malformed: { status: 400, result: 'malformed body' },
  tooLarge: { status: 413, result: 'body too large' },
  limited: { status: 429, result: 'too many callbacks for this order', retryAfterSeconds: 600 },
  crowded: { status: 429, result: 'too many new orders on this address', retryAfterSeconds: 60 },
  unavailable: { status: 503, result: 'try again', retryAfterSeconds: 5 },
} satisfies Record<string, CallbackAnswer>;

/** Name of an answer. */
type AnswerName = keyof typeof ANSWERS;

/** Writes an answer. */
function send(response: ServerResponse, name: AnswerName): void {
  const { status, result, retryAfterSeconds }: CallbackAnswer = ANSWERS[name];
  const text = JSON.stringify({ result });
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    ...(retryAfterSeconds && { 'Retry-After': retryAfterSeconds }),
  };
  response.writeHead(status, headers).end(text);
}

/**
 * Options of the receiver. `tokenKeys`: all keys of CALLBACK_TOKEN_KEY; port 0 takes a free one.
 */
interface ReceiverOptions {
  host: string;
  port: number;
  tokenKeys: readonly string[];
  /** Wakes orders. */
  signal: SignalOrder;
  /** Wakes or starts followers of receipts on permanent addresses. */
  received: SignalReceived;
  /** Never receives a body, token or query string. */
  log: Pick<Logger, 'info' | 'warn'>;
  /** Returns why callbacks cannot be delivered now; absent = not checked. Never rejects. */
  whyNotReady?: () => Promise<string | undefined>;
  /** Called with the name of each answer, and with the cause of a connection cut. */
  onAnswer?: (name: AnswerName | Cut) => void;
}

/** Maximum callback body. Our largest order, to 100 cards, has 75 KiB. */
export const MAX_CALLBACK_BODY_BYTES = 80 * 1024;

/** Answers that are not logged: the holder of one callback URL could fill the log. */
const UNLOGGED: readonly AnswerName[] = ['malformed', 'crowded', 'limited'];

/** Returns true for a health check. */
const isAsked = ({ method, url = '' }: IncomingMessage, path: string): boolean =>
  method === 'GET' && url.split('?', 1)[0] === path;

/** Starts the callback receiver: token → body → allowance → parse → signal → answer. */
export async function startReceiver(options: ReceiverOptions): Promise<Port> {
  const { log, onAnswer, whyNotReady = async () => undefined } = options;
  const read = createReader(options);
  return openPort(
    (request, response) => {
      const answer = (name: AnswerName | undefined): void => {
        // The sender has disconnected.
        if (!name) return;
        onAnswer?.(name);
        send(response, name);
      };
      // A readiness check is no callback: it is neither counted nor an alert.
      if (isAsked(request, '/readyz'))
        return void whyNotReady().then((why) => send(response, why ? 'unavailable' : 'healthy'));
      read(request, answer).catch((error: unknown) => {
        // Our own bug must not lose the callback. Logs the name only: the message could quote the
        // request.
        log.warn(bugIn(error), 'callback not handled');
        if (!response.headersSent) answer('unavailable');
      });
    },
    { onCut: onAnswer },
    options,
  );
}

/** Returns a callback's subject for the log. */
const subjectOf = (target: CallbackTarget): { account: string; orderId?: string; addressRef?: string } =>
  target.kind === 'order'
    ? { account: target.account, orderId: target.orderId }
    : { account: target.account, addressRef: target.ref };

/** Returns a reader that answers by the headers alone where possible, before it parses the rest. */
function createReader({ log, tokenKeys, signal, received }: ReceiverOptions) {
  const aboutOrder = spareTemporal(signal);
  const aboutReceipt = spareReceived(received);
  function atOnce(request: IncomingMessage): AnswerName | CallbackTarget {
    if (isAsked(request, '/healthz')) return 'healthy';
    const [path = ''] = (request.url ?? '').split('?', 1);
    const target = request.method === 'POST' ? verifyCallbackPath(path, tokenKeys) : undefined;
    if (!target) return 'notFound';
    return announcedBytes(request, MAX_CALLBACK_BODY_BYTES) > MAX_CALLBACK_BODY_BYTES ? 'tooLarge' : target;
  }
  async function callback(request: IncomingMessage, target: CallbackTarget): Promise<AnswerName | undefined> {
    const body = await readBody(request, MAX_CALLBACK_BODY_BYTES);
    if (body === 'gone') return undefined;
    if (body === 'tooLarge') return 'tooLarge';
    const outcome = await (target.kind === 'order' ? aboutOrder(target, body) : aboutReceipt(target, body));
    if (!UNLOGGED.includes(outcome.result)) {
      const level = outcome.result === 'delivered' || outcome.result === 'closed' ? 'info' : 'warn';
      log[level]({ ...subjectOf(target), ...outcome }, 'callback');
    }
    return outcome.result;
  }
  return async (request: IncomingMessage, answer: (name: AnswerName | undefined) => void): Promise<void> => {
    const first = atOnce(request);
    answer(typeof first === 'string' ? first : await callback(request, first));
  };
}
