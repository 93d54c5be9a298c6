import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Connection, MAX_HEADER_BYTES } from '../http-port/connection.js';
import { ANSWERS, type CallbackAnswer, rawAnswer, wireOf } from './answers.js';

/** A request as it stands when its headers were read. */
export interface Asked {
  request: IncomingMessage;
  connection: Connection;
  /** Has the body sent, where its sender waits for that. */
  askForBody: () => void;
}

/** The answer of a request: known at once, or later; undefined where nobody waits for one any more. */
export type Handle = (asked: Asked) => CallbackAnswer | Promise<CallbackAnswer | undefined>;

/**
 * An HTTP server for connections that are handed to it by `emit('connection')`: one request each, answered by `handle`. What it
 * cannot read is answered as `handle` answers what it does not know.
 */
export function createHttp(handle: Handle, onUnreadable: () => void): Server {
  // Node would answer a request without Host itself, and nothing here depends on that header.
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false });

  function take(request: IncomingMessage, response: ServerResponse, askForBody: () => void = () => undefined): void {
    const connection: unknown = request.socket;
    // A second request within one piece: the first one gets its answer, this one nothing.
    if (!(connection instanceof Connection)) return;
    connection.response ??= response;
    if (connection.response !== response) return;
    const send = (answer: CallbackAnswer | undefined): void => {
      if (!answer || connection.answered) return;
      const { status, headers, text } = wireOf(answer);
      response.writeHead(status, headers).end(text);
    };
    const answer = handle({ request, connection, askForBody });
    // At once where possible: then the rest of what has come is not even parsed.
    if (answer instanceof Promise) void answer.then(send);
    else send(answer);
  }
  server.on('request', (request, response) => take(request, response));
  server.on('checkContinue', (request, response) => take(request, response, () => response.writeContinue()));
  // Another expectation is ignored: an answer of its own would tell what answers.
  server.on('checkExpectation', (request, response) => take(request, response));

  function refuse(connection: Duplex): void {
    if (!(connection instanceof Connection) || connection.answered || connection.request?.complete) return;
    onUnreadable();
    connection.end(rawAnswer(ANSWERS.notFound));
  }
  server.on('clientError', (_error, connection) => refuse(connection));
  server.on('connect', (_request, connection) => refuse(connection));
  return server;
}
