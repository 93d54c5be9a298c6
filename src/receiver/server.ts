import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { type CallbackTarget, verifyCallbackPath } from '../contract/callback-url.js';
import { announcedBytes, type Cut, openPort, type Port, readBody } from '../http-port/port.js';
import { type AnswerName, send } from './answers.js';
import type { SignalOrder, SignalReceived } from './signals.js';
import { spareReceived, spareTemporal } from './spare-temporal.js';

/** What the receiver needs. `tokenKeys`: all keys of CALLBACK_TOKEN_KEY; port 0 takes a free one. */
export interface ReceiverOptions {
  host: string;
  port: number;
  tokenKeys: readonly string[];
  /** Wakes orders up. */
  signal: SignalOrder;
  /** Wakes up, or starts, followers of receipts on permanent addresses. */
  received: SignalReceived;
  /** Never given a body, token or query string. */
  log: Pick<Logger, 'info' | 'warn'>;
  /** Why callbacks cannot be handed on now; absent = nobody looks. Never rejects. */
  whyNotReady?: () => Promise<string | undefined>;
  /** Called with the name of each answer, and why a connection was closed without one. */
  onAnswer?: (name: AnswerName | Cut) => void;
}

/** Largest callback body: that of our largest order, to 100 cards, has 75 KiB. */
export const MAX_CALLBACK_BODY_BYTES = 80 * 1024;

/** Answers that are not logged: whoever got hold of one callback URL could fill the log. */
const UNLOGGED: readonly AnswerName[] = ['malformed', 'crowded', 'limited'];

/** Returns true for a checker's question. */
const isAsked = ({ method, url = '' }: IncomingMessage, path: string): boolean =>
  method === 'GET' && url.split('?', 1)[0] === path;

/** Starts the callback receiver: token → body → allowance → parse → signal → answer. */
export async function startReceiver(options: ReceiverOptions): Promise<Port> {
  const { log, onAnswer, whyNotReady = async () => undefined } = options;
  const read = createReader(options);
  return openPort(
    (request, response) => {
      const answer = (name: AnswerName | undefined): void => {
        // Its sender is gone.
        if (!name) return;
        onAnswer?.(name);
        send(response, name);
      };
      // Readiness is no callback: it is neither counted nor an alert.
      if (isAsked(request, '/readyz'))
        return void whyNotReady().then((why) => send(response, why ? 'unavailable' : 'healthy'));
      read(request, answer).catch((error: unknown) => {
        // A mistake of ours must not cost the callback. Only the name is logged: the message could quote the request.
        log.warn({ error: error instanceof Error ? error.name : 'unknown' }, 'callback not handled');
        if (!response.headersSent) answer('unavailable');
      });
    },
    { onCut: onAnswer },
    options,
  );
}

/** Names in the log what a callback is about. */
const subjectOf = (target: CallbackTarget): { account: string; orderId?: string; addressRef?: string } =>
  target.kind === 'order'
    ? { account: target.account, orderId: target.orderId }
    : { account: target.account, addressRef: target.ref };

/** Returns how a request is read and answered. What its headers decide is answered before the rest is even parsed. */
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
