import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { type CallbackTarget, verifyCallbackPath } from '../contract/callback-url.js';
import { MAX_HEADER_BYTES } from '../http-port/connection.js';
import { type Cut, openPort, type Port } from '../http-port/port.js';
import { announcedBytes, readBody } from '../http-port/read-body.js';
import { ANSWERS, type AnswerName, type CallbackAnswer } from './answers.js';
import { type Asked, createHttp } from './http.js';
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
  /** Told each answer. */
  onAnswer?: (name: AnswerName) => void;
}

/**
 * Largest callback body in bytes. A genuine one (the order object) is a few KiB; that of the largest order that we may send, to
 * 100 cards, has 75 KiB: a test builds it.
 */
export const MAX_CALLBACK_BODY_BYTES = 80 * 1024;

/** What is counted instead of logged one by one: some answers, and connections that were cut. */
type Refusal = 'notFound' | 'tooLarge' | 'malformed' | 'crowded' | 'limited' | Cut;

const COUNTED: readonly AnswerName[] = ['notFound', 'tooLarge', 'malformed', 'crowded', 'limited'];
const isCounted = (name: AnswerName): name is AnswerName & Refusal => COUNTED.includes(name);

/** How the log names what a callback was about. */
function subjectOf(target: CallbackTarget): { account: string; orderId?: string; addressRef?: string } {
  return target.kind === 'order'
    ? { account: target.account, orderId: target.orderId }
    : { account: target.account, addressRef: target.ref };
}

/** Returns true for a checker's question. */
const isAsked = ({ method, url = '' }: IncomingMessage, path: string): boolean =>
  method === 'GET' && url.split('?', 1)[0] === path;

/** Starts the callback receiver: token → body → allowance → parse → signal → answer. */
export async function startReceiver(options: ReceiverOptions): Promise<Port> {
  const { log } = options;
  const refusals = createRefusals(log);
  const answering = createAnswering(options);
  const answered = (name: AnswerName): CallbackAnswer => {
    // A callback URL that got into wrong hands must not fill the log either.
    if (isCounted(name)) refusals.count(name);
    options.onAnswer?.(name);
    return ANSWERS[name];
  };
  const failed = (error: unknown): CallbackAnswer => {
    // A mistake of ours must not cost the callback. Only the name is logged: the message could quote the request.
    log.warn({ error: error instanceof Error ? error.name : 'unknown' }, 'callback not handled');
    return ANSWERS.unavailable;
  };
  const readiness = async (): Promise<CallbackAnswer> =>
    (await options.whyNotReady?.()) === undefined ? ANSWERS.healthy : ANSWERS.unavailable;
  const handle = (asked: Asked): CallbackAnswer | Promise<CallbackAnswer | undefined> => {
    try {
      if (isAsked(asked.request, '/readyz')) return readiness();
      const first = answering.atOnce(asked);
      if (typeof first === 'string') return answered(first);
      return answering.callback(first, asked).then((name) => name && answered(name), failed);
    } catch (error) {
      return failed(error);
    }
  };
  const http = createHttp(handle, () => refusals.count('notFound'));
  // With room for the frames of chunks.
  const maxBytes = 2 * (MAX_HEADER_BYTES + MAX_CALLBACK_BODY_BYTES);
  const limits = { maxBytes, onCut: refusals.count };
  const port = await openPort(http, limits, options);
  return {
    url: port.url,
    async close() {
      await port.close();
      refusals.flush();
    },
  };
}

/** Time between two lines of the log. */
const REFUSALS_INTERVAL_MS = 60_000;

/** Logs counts once a minute: one line each would let anybody fill the log, also whoever got hold of one callback URL. */
function createRefusals(log: ReceiverOptions['log']) {
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
      timer ??= setTimeout(flush, REFUSALS_INTERVAL_MS).unref();
    },
  };
}

/** Callbacks about one order or address whose bodies are read at once. */
export const MAX_BODIES_PER_SUBJECT = 250;

/** What requests are answered with. */
function createAnswering(options: ReceiverOptions) {
  const { log, tokenKeys } = options;
  const aboutOrder = spareTemporal(options.signal);
  const aboutReceipt = spareReceived(options.received);
  // Bodies under way, by order or address: a leaked URL, used by many senders, must not fill the memory.
  const bodies = new Map<string, number>();

  /** From the headers alone: the answer, or what the callback is about. */
  function atOnce({ request }: Asked): AnswerName | CallbackTarget {
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (isAsked(request, '/healthz')) return 'healthy';
    const target = request.method === 'POST' ? verifyCallbackPath(path, tokenKeys) : undefined;
    if (!target) return 'notFound';
    return announcedBytes(request, MAX_CALLBACK_BODY_BYTES) > MAX_CALLBACK_BODY_BYTES ? 'tooLarge' : target;
  }

  /** From the body, after all that it brings about. */
  async function callback(target: CallbackTarget, { request, askForBody }: Asked): Promise<AnswerName | undefined> {
    const subject = Object.values(subjectOf(target)).join();
    const others = bodies.get(subject) ?? 0;
    if (others >= MAX_BODIES_PER_SUBJECT) return 'limited';
    bodies.set(subject, others + 1);
    askForBody();
    const body = await readBody(request, MAX_CALLBACK_BODY_BYTES);
    const left = (bodies.get(subject) ?? 1) - 1;
    if (left > 0) bodies.set(subject, left);
    else bodies.delete(subject);
    if (body === 'gone') return undefined;
    if (body === 'tooLarge') return 'tooLarge';
    const outcome = await (target.kind === 'order' ? aboutOrder(target, body) : aboutReceipt(target, body));
    if (!isCounted(outcome.result)) {
      const level = outcome.result === 'delivered' || outcome.result === 'closed' ? 'info' : 'warn';
      log[level]({ ...subjectOf(target), ...outcome }, 'callback');
    }
    return outcome.result;
  }
  return { atOnce, callback };
}
