import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ReceiverConfig, Secret } from '../../src/config.js';
import { type OutgoingEvent, verifyEvent } from '../../src/index.js';

/** A secret of tests. */
export const EVENT_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';

/** One POST, its signature checked. */
interface Received {
  event: OutgoingEvent;
  body: string;
  headers: IncomingHttpHeaders;
  path: string;
}

/** What a receiver answers to a POST; the n-th one is 1. */
export type Answer = (n: number, response: ServerResponse, request: IncomingMessage) => void;

/** Answers with a status. */
export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(code, headers).end('an answer');

/** A receiver of events on a free port of this machine. */
export async function startEventReceiver(name: string, answer: Answer = status(204)) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { headers, url: path = '' } = request;
    received.push({ event: verifyEvent(body, headers, EVENT_SECRET), body, headers, path });
    self.answer(received.length, response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const config: ReceiverConfig = {
    name,
    url: new Secret(`http://127.0.0.1:${port}/hooks`),
    secrets: [new Secret(EVENT_SECRET)],
    allowPrivate: true,
  };
  const self = {
    config,
    port,
    received,
    answer,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
  return self;
}
