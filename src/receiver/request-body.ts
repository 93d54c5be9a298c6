import type { IncomingMessage } from 'node:http';
import { MAX_HEADER_BYTES } from '../http-port/connection.js';

/**
 * Largest callback body in bytes. A genuine one (the order object) is a few KiB; that of the largest order that we may send, to
 * 100 cards, has 89 KiB at most: a test builds it.
 */
export const MAX_CALLBACK_BODY_BYTES = 80 * 1024;

/** Largest request, with room for the frames of chunks. */
export const MAX_REQUEST_BYTES = 2 * (MAX_HEADER_BYTES + MAX_CALLBACK_BODY_BYTES);

/** True when a request says that its body is too large. */
export const announcesTooMuch = ({ headers }: IncomingMessage): boolean =>
  Number(headers['content-length'] ?? 0) > MAX_CALLBACK_BODY_BYTES;

/** The body of a request; 'tooLarge' as soon as it is that, 'gone' when its sender went away or was cut off before its end. */
export function readBody(request: IncomingMessage): Promise<Buffer | 'tooLarge' | 'gone'> {
  return new Promise((resolve) => {
    // In one piece: hundreds of small ones take several times as much memory, of as many senders as may wait.
    const body = Buffer.allocUnsafe(Number(request.headers['content-length'] ?? MAX_CALLBACK_BODY_BYTES));
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      if (bytes + chunk.length > body.length) resolve('tooLarge');
      bytes += chunk.copy(body, bytes);
    });
    request.on('end', () => resolve(body.subarray(0, bytes)));
    request.on('error', () => resolve('gone'));
    request.on('close', () => resolve('gone'));
  });
}
