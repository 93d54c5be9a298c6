import { connect, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { type CallbackTarget, callbackUrl } from '../../src/contract/callback-url.js';
import type { CallbackHint } from '../../src/contract/order/messages.js';
import type { Port } from '../../src/http-port/port.js';
import { startReceiver } from '../../src/receiver/server.js';
import type {
  OrderTarget,
  ReceivedHint,
  ReceivedTarget,
  SignalOrder,
  SignalReceived,
} from '../../src/receiver/signals.js';

export const TOKEN_KEY = 'token-key-of-the-tests-0123456789abcdef';
export const ORDER: OrderTarget = { kind: 'order', account: 'default', orderId: 'invoice-1' };
export const ADDRESS: ReceivedTarget = { kind: 'address', account: 'default', ref: 'shop-7' };
export const BODY = JSON.stringify({ user_order_id: 'invoice-1', order_uuid: 'u-1', status: 'completed' });

/** A receiver on a free port with the signals it sent and the log lines it wrote; closed when the test ends. */
export interface RunningReceiver extends Port {
  port: number;
  signals: { target: OrderTarget; hint: CallbackHint }[];
  /** What was asked of Temporal about receipts on permanent addresses. */
  receipts: { target: ReceivedTarget; hint: ReceivedHint }[];
  log: Record<string, unknown>[];
  /** How often each answer was given, and connections were closed for each reason. */
  counts: Record<string, number>;
  logText(): string;
  urlOf(target: CallbackTarget): string;
  pathOf(target: CallbackTarget): string;
}

export async function runReceiver(
  signal: SignalOrder = async () => 'delivered',
  tokenKeys: readonly string[] = [TOKEN_KEY],
  received: SignalReceived = async () => 'delivered',
): Promise<RunningReceiver> {
  const lines: string[] = [];
  const signals: RunningReceiver['signals'] = [];
  const receipts: RunningReceiver['receipts'] = [];
  const counts: Record<string, number> = {};
  const sink = new Writable({ write: (chunk, _encoding, done) => done(void lines.push(String(chunk))) });
  const receiver = await startReceiver({
    host: '127.0.0.1',
    port: 0,
    tokenKeys,
    log: pino(sink),
    onAnswer: (name) => {
      counts[name] = (counts[name] ?? 0) + 1;
    },
    signal: (target, hint, repeated, mayLookUp) => {
      signals.push({ target, hint });
      return signal(target, hint, repeated, mayLookUp);
    },
    received: (target, hint, mayStart, repeated) => {
      receipts.push({ target, hint });
      return received(target, hint, mayStart, repeated);
    },
  });
  onTestFinished(() => receiver.close());
  const urlOf = (target: CallbackTarget): string => callbackUrl(receiver.url, TOKEN_KEY, target);
  return {
    ...receiver,
    port: Number(new URL(receiver.url).port),
    signals,
    receipts,
    counts,
    get log() {
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    logText: () => lines.join(''),
    urlOf,
    pathOf: (target) => new URL(urlOf(target)).pathname,
  };
}

/** Posts a callback. */
export function post(url: string, body: string | Uint8Array = BODY, headers = {}): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
}

/** A TCP connection that shows what came back and when it ended. */
export interface RawConnection {
  socket: Socket;
  received(): string;
  /** Resolves once the other side is gone, with the milliseconds since the connection was opened. */
  closed: Promise<number>;
}

/** `localAddress`: another address of 127.0.0.0/8 to come from, as Linux has them all. */
export async function openRaw(
  port: number,
  firstBytes: string | Buffer = '',
  localAddress = '127.0.0.1',
): Promise<RawConnection> {
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  // A reset is one of the ways in which a connection may end here.
  socket.on('error', () => undefined);
  const openedAt = performance.now();
  const closed = new Promise<number>((resolve) => socket.on('close', () => resolve(performance.now() - openedAt)));
  onTestFinished(() => void socket.destroy());
  await Promise.race([new Promise((resolve) => socket.once('connect', resolve)), closed]);
  if (firstBytes.length > 0) socket.write(firstBytes);
  return { socket, received: () => received, closed };
}

/** A whole request that posts a callback, to be sent as it is. */
export const rawPost = (path: string, body = BODY, headers = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** Sends bytes over a connection of their own: all that came back until it was closed. */
export async function exchange(port: number, bytes: string | Buffer, localAddress?: string): Promise<string> {
  const raw = await openRaw(port, bytes, localAddress);
  await raw.closed;
  return raw.received();
}
