import type { IncomingMessage } from 'node:http';

/** Length of a body as its request says it; one whose length is not told might have `maxBytes`. */
export const announcedBytes = ({ headers }: IncomingMessage, maxBytes: number): number =>
  Number(headers['content-length'] ?? maxBytes);

/** Reads a body; 'tooLarge' above `maxBytes`, 'gone' when its sender ended before it. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | 'tooLarge' | 'gone'> {
  return new Promise((resolve) => {
    // In one piece: hundreds of small ones take several times as much memory, of as many senders as may wait.
    const body = Buffer.allocUnsafe(announcedBytes(request, maxBytes));
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
