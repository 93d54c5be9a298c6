import { setTimeout as sleep } from 'node:timers/promises';
import { isCreate } from '../chaos/oracle/traffic.js';
import { sumOfLedgers } from '../chaos/service-admin.js';
import type { Answer } from '../sandbox/answer.js';
import { openDouble, type RequestLogEntry, type SandboxOrder, type SettingsChange } from '../sandbox/index.js';
import type { SandboxOptions } from '../sandbox/options.js';
import { verifyCallbackPath } from '../src/contract/callback-url.js';
import { NoAnswerError, NotSentError } from '../src/payment-service/errors.js';
import type { Transport, WireAnswer } from '../src/payment-service/transport.js';
import { createSignalOrder, createSignalReceived } from '../src/receiver/signals.js';
import { spareReceived, spareTemporal } from '../src/receiver/spare-temporal.js';
import type { Engine } from './engine/engine.js';
import { outside } from './outside.js';
import type { Process } from './process.js';
import type { Random } from './random.js';

/** Where callbacks go, and the key of their tokens. */
export const CALLBACK = { baseUrl: 'http://127.0.0.1:1', tokenKeys: ['a-token-key-of-the-simulator'] };

export type Double = ReturnType<typeof openDouble>;

const NOTHING = Promise.resolve();

/** Moments of a create: it is taken up, allowed, executed, and its answer is there. */
export type Moment = 'taken up' | 'allowed' | 'executed' | 'answered';

/** The payment service without sockets. */
export interface SimulatedService {
  /** The account of the orders. */
  double: Double;
  /** All accounts: the orders' own, and another merchant's. */
  doubles: readonly Double[];
  /** When processes sent what they had decided before they stood still. */
  sentLateMs: ReadonlySet<number>;
  /** The product's receiver: the HTTP status of its answer to a callback. */
  receive: (url: URL, body: Buffer) => Promise<number>;
  /** Told of each moment of a create. */
  onMoment: (moment: Moment, process: Process, orderId: string) => void;
  /** The way of one process to it. */
  transportOf(process: Process): Transport;
}

export function openService(
  engine: Engine,
  random: Random,
  options: SandboxOptions,
  executesTwice = false,
): SimulatedService {
  let isPlanted = executesTwice;
  const orders = spareTemporal(createSignalOrder(engine.client));
  const receipts = spareReceived(createSignalReceived(engine.client));
  const transitMs = () => random.between(5, 60);
  const receive: SimulatedService['receive'] = async (url, raw) => {
    await sleep(transitMs());
    const target = verifyCallbackPath(url.pathname, CALLBACK.tokenKeys);
    if (!target) return 404;
    const { result } = await (target.kind === 'order' ? orders(target, raw) : receipts(target, raw));
    return STATUSES[result] ?? 200;
  };
  const open = (more: SandboxOptions) =>
    openDouble({ ...options, ...more }, (url, body) => receive(new URL(url), Buffer.from(body)));
  const double = open({});
  const doubles = [double, open({ apiKey: 'another-merchant', seed: `${options.seed}, elsewhere` })];
  const sentLateMs = new Set<number>();
  const transportOf =
    (process: Process): Transport =>
    async ({ url, headers, body, timeoutMs, signal, beforeSend, maxBytes }) => {
      const tell = (moment: Moment) => tellOf(service, process, url, body, moment);
      await process.runs(sleep(transitMs()));
      tell('taken up');
      await process.runs(NOTHING);
      const allowedMs = await process.runs(Promise.resolve(beforeSend?.()).then(() => Date.now()));
      tell('allowed');
      if (signal?.aborted) throw new NotSentError('aborted');
      // A process that is killed here has not sent; one that stands still sends when it goes on.
      await process.runs(NOTHING);
      if (Date.now() > allowedMs) sentLateMs.add(Date.now());
      const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
      const asked = doubles.find(({ world }) => world.options.apiKey === given['api-key']) ?? double;
      const serve = () => asked.service.serve({ path: url.pathname, headers: given, body });
      const { answer, orderId, orderIds } = outside(serve);
      leaveUnpaid(asked, orderId);
      if (isPlanted && url.pathname.endsWith('/withdraw') && answer.status === 200) {
        isPlanted = false;
        outside(serve);
      }
      const { fault, malformed } = answer;
      const status = isSilent(answer) ? 0 : answer.status;
      asked.world.traffic.request({
        atMs: Date.now(),
        path: url.pathname,
        // A request too many is refused unread.
        orderId: orderId ?? Object(JSON.parse(body.toString())).order_id,
        status,
        fault,
        malformed,
        orderIds,
      });
      tell('executed');
      const arrived = await process.runs(arrives(answer, { timeoutMs, signal, maxBytes, transitMs: transitMs() }));
      tell('answered');
      await process.runs(NOTHING);
      return arrived;
    };
  const service: SimulatedService = { double, doubles, transportOf, sentLateMs, receive, onMoment: () => undefined };
  return service;
}

/** Every order of every account. */
export const allOrders = ({ doubles }: SimulatedService): SandboxOrder[] =>
  doubles.flatMap(({ admin }) => admin.orders());

/** Every request at every account, oldest first. */
export const allRequests = ({ doubles }: SimulatedService): RequestLogEntry[] =>
  doubles.flatMap(({ admin }) => admin.requests()).sort((one, other) => one.atMs - other.atMs);

/** Balances by currency, summed over the accounts. */
export const allBalances = ({ doubles }: SimulatedService): Record<string, string> =>
  sumOfLedgers(doubles.map(({ admin }) => admin.ledger()));

/** Changes the settings of every account. */
export const setAll = ({ doubles }: SimulatedService, change: SettingsChange): void => {
  for (const { admin } of doubles) admin.set(change);
};

/** Tells of a moment of a create. Other requests have none. */
function tellOf(
  { onMoment }: SimulatedService,
  process: Process,
  { pathname }: URL,
  body: Buffer,
  moment: Moment,
): void {
  if (isCreate({ path: pathname })) onMoment(moment, process, String(Object(JSON.parse(body.toString())).order_id));
}

/** True for the id of a canary, which has the form of the ids of these stories. */
export const isCanary = (orderId: string): boolean => orderId.startsWith('Canary_of:');

/** Nobody pays a canary. */
function leaveUnpaid({ world }: Double, orderId?: string): void {
  if (!orderId || !isCanary(orderId)) return;
  for (const { plan } of world.store.ordersOf(orderId)) plan.outcome = 'canceled';
}

/** HTTP statuses of the receiver's answers; all others are 200. */
const STATUSES: Record<string, number> = { malformed: 400, limited: 429, crowded: 429, unavailable: 503 };

const isSilent = ({ delivery }: Answer): boolean => delivery === 'none' || delivery === 'reset';

interface Waiting {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  maxBytes: number;
  transitMs: number;
}

/** The answer as the client of the product gets it, or its error. */
async function arrives(answer: Answer, { timeoutMs, signal, maxBytes, transitMs }: Waiting): Promise<WireAnswer> {
  const isNever = answer.delivery === 'none' || answer.delivery === 'drip';
  const afterMs = isNever ? timeoutMs : transitMs + (answer.delayMs ?? 0);
  try {
    await sleep(Math.min(afterMs, timeoutMs), undefined, { signal });
  } catch {
    throw new NoAnswerError('aborted');
  }
  if (afterMs >= timeoutMs) throw new NoAnswerError('timeout');
  const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
  const headers = { date: new Date().toUTCString(), ...answer.headers };
  const { status } = answer;
  switch (answer.delivery ?? 'whole') {
    case 'reset':
    case 'cut':
      throw new NoAnswerError('ECONNRESET');
    case 'oversized':
    case 'endless':
      throw new NoAnswerError('response_too_large');
    case 'gzip-bomb':
      return { status, headers, body: Buffer.from([31, 139]) };
    case 'truncated':
      return { status, headers, body: Buffer.from(text.slice(0, Math.floor(text.length / 2))) };
    default:
      if (text.length > maxBytes) throw new NoAnswerError('response_too_large');
      return {
        status,
        headers,
        body: status === 200 || status === 400 || status === 404 ? Buffer.from(text) : Buffer.alloc(0),
      };
  }
}
