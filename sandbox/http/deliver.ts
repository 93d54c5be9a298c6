import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Answer } from '../answer.js';

const OVERSIZED_BYTES = 40 * 1024 * 1024;
const CHUNK = Buffer.alloc(256 * 1024, ' ');
const DRIP_INTERVAL_MS = 1000;
const UNPACKED_BYTES = 64 * 1024 * 1024;

/** The HTTP status that leaves the sandbox; 0 when none does. */
export const visibleStatus = ({ delivery, status }: Answer): number =>
  delivery === 'none' || delivery === 'reset' ? 0 : status;

/** Sends an answer the way it wants to be sent. Ends early when the client goes away. */
export async function deliver(response: ServerResponse, answer: Answer): Promise<void> {
  if (answer.delayMs) await sleep(answer.delayMs, undefined, { ref: false });
  const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
  const headers = { 'content-type': 'application/json; charset=utf-8', ...answer.headers };
  const length = { 'content-length': Buffer.byteLength(text) };
  switch (answer.delivery ?? 'whole') {
    case 'whole':
      response.writeHead(answer.status, { ...headers, ...length }).end(text);
      return;
    case 'none':
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'truncated':
      return sendHalf(response.writeHead(answer.status, headers), text);
    case 'cut':
      return cut(response.writeHead(answer.status, { ...headers, ...length }), text);
    case 'oversized':
      return send(response.writeHead(answer.status, headers), chunks(OVERSIZED_BYTES / CHUNK.length));
    case 'endless':
      return send(response.writeHead(answer.status, headers), chunks(Number.POSITIVE_INFINITY));
    case 'gzip-bomb':
      response
        .writeHead(answer.status, { ...headers, 'content-encoding': 'gzip' })
        .end(gzipSync(Buffer.alloc(UNPACKED_BYTES)));
      return;
    case 'drip':
      return drip(response.writeHead(answer.status, headers), text);
  }
}

/** A well-ended response whose JSON is not: only parsing tells. */
function sendHalf(response: ServerResponse, text: string): void {
  response.end(text.slice(0, Math.floor(text.length / 2)));
}

/** More was announced than ever comes. */
function cut(response: ServerResponse, text: string): void {
  response.write(text.slice(0, Math.floor(text.length / 2)), () => response.socket?.resetAndDestroy());
}

function* chunks(count: number): Generator<Buffer> {
  for (let sent = 0; sent < count; sent += 1) yield CHUNK;
}

const send = (response: ServerResponse, content: Iterable<Buffer>): Promise<void> =>
  pipeline(Readable.from(content), response);

async function drip(response: ServerResponse, text: string): Promise<void> {
  for (const byte of Buffer.from(text)) {
    if (response.destroyed) return;
    response.write(Buffer.of(byte));
    await sleep(DRIP_INTERVAL_MS, undefined, { ref: false });
  }
  response.end();
}
