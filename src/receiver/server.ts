import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { type CallbackTarget, verifyCallbackPath } from '../contract/callback-url.js';
import { type Cut, openPort, type Port } from '../http-port/port.js';
import { announcedBytes, readBody } from '../http-port/read-body.js';
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
  /** Called with the name of each answer. */
  onAnswer?: (name: AnswerName) => void;
}

/**
 * Largest callback body in bytes. A genuine one has a few KiB; that of the largest order that we may
 * send, to 100 cards, has 75 KiB.
 */
export const MAX_CALLBACK_BODY_BYTES = 80 * 1024;

/** Answers that are counted instead of logged one by one. */
const COUNTED = ['notFound', 'tooLarge', 'malformed', 'crowded', 'limited'] as const;

/** The same, and connections that were cut. */
type Refusal = (typeof COUNTED)[number] | Cut;

const isCounted = (name: AnswerName): name is (typeof COUNTED)[number] =>
  (COUNTED as readonly AnswerName[]).includes(name);

/** Returns true for a checker's question. */
const isAsked = ({ method, url = '' }: IncomingMessage, path: string): boolean =>
  method === 'GET' && url.split('?', 1)[0] === path;

/** Starts the callback receiver: token → body → allowance → parse → signal → answer. */
export async function startReceiver(options: ReceiverOptions): Promise<Port> {
  const { log } = options;
  const refusals = createRefusals(log);
  const read = createReader(options);
  const port = await openPort(
    (request, response) => {
      const answer = (name: AnswerName | undefined): void => {
        // Its sender is gone.
        if (!name) return;
        // A callback URL that got into wrong hands must not fill the log either.
        if (isCounted(name)) refusals.count(name);
        options.onAnswer?.(name);
        send(response, name);
      };
      read(request, answer).catch((error: unknown) => {
        // A mistake of ours must not cost the callback. Only the name is logged: the message could quote the request.
        log.warn({ error: error instanceof Error ? error.name : 'unknown' }, 'callback not handled');
        if (!response.headersSent) answer('unavailable');
      });
    },
    { onCut: refusals.count },
    options,
  );
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
    count(reason: Refusal): void {
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      timer ??= setTimeout(flush, REFUSALS_INTERVAL_MS).unref();
    },
    flush,
  };
}

/** Names in the log what a callback is about. */
const subjectOf = (target: CallbackTarget): { account: string; orderId?: string; addressRef?: string } =>
  target.kind === 'order'
    ? { account: target.account, orderId: target.orderId }
    : { account: target.account, addressRef: target.ref };

/** Returns how a request is read and answered. What its headers decide is answered before the rest is even parsed. */
function createReader({ log, tokenKeys, signal, received, whyNotReady }: ReceiverOptions) {
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
    if (!isCounted(outcome.result)) {
      const level = outcome.result === 'delivered' || outcome.result === 'closed' ? 'info' : 'warn';
      log[level]({ ...subjectOf(target), ...outcome }, 'callback');
    }
    return outcome.result;
  }
  return async (request: IncomingMessage, answer: (name: AnswerName | undefined) => void): Promise<void> => {
    if (isAsked(request, '/readyz')) return answer((await whyNotReady?.()) === undefined ? 'healthy' : 'unavailable');
    const first = atOnce(request);
    answer(typeof first === 'string' ? first : await callback(request, first));
  };
}
