import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import {
  createPaymentService,
  type PaymentService,
  type PaymentServiceOptions,
} from '../../src/payment-service/client.js';

export const API_KEY = 'key-4f1c9d2e7a';
export const API_SECRET = 'secret-b81e03d6c5';
export const SIGNATURE = 'signature-90ab12cd34';

/** A request as it arrived. */
export interface Received {
  method: string;
  path: string;
  /** Names (lowercase) and values in the order sent. */
  headers: [string, string][];
  body: Buffer;
}

type Handler = (response: ServerResponse, request: Received, incoming: IncomingMessage) => void;

/** Listens on a free port until the test ends and returns the port. */
export async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** An HTTP server that records what it gets and lets `handle` answer. */
export async function startServer(handle: Handler): Promise<{ baseUrl: string; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const request = recorded(incoming, Buffer.concat(chunks));
    received.push(request);
    handle(response, request, incoming);
  });
  return { baseUrl: `http://127.0.0.1:${await listen(server)}`, received };
}

function recorded({ method = '', url = '', rawHeaders }: IncomingMessage, body: Buffer): Received {
  const headers: [string, string][] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    headers.push([String(rawHeaders[i]).toLowerCase(), String(rawHeaders[i + 1])]);
  }
  return { method, path: url, headers, body };
}

/** A bare TCP server for what node:http would not do. */
export const startTcpServer = async (onSocket: (socket: Socket) => void): Promise<string> =>
  `http://127.0.0.1:${await listen(createTcpServer(onSocket))}`;

/** A client with a fixed signature, so that tests can look for it where it must not be. */
export const clientFor = (baseUrl: string, options: Partial<PaymentServiceOptions> = {}): PaymentService =>
  createPaymentService({
    baseUrl,
    apiKey: API_KEY,
    apiSecret: API_SECRET,
    sign: () => SIGNATURE,
    requestTimeoutMs: 2_000,
    ...options,
  });

/** A server whose lists all have one page, with these entries. */
export const startOneList = (...entries: unknown[]): ReturnType<typeof startServer> =>
  startServer((response, { body }) => answer(response, JSON.parse(body.toString()).page > 1 ? [] : entries));

/** Answers with a success envelope. */
export const answer = (response: ServerResponse, data: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof data === 'string' ? data : JSON.stringify({ status: 'success', data }));
};
