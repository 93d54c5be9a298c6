import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { OrderObject } from '../../sandbox/index.js';

/** A callback as it arrived. */
export interface Received {
  atMs: number;
  path: string;
  headers: NodeJS.Dict<string | string[]>;
  body: OrderObject;
}

/** A merchant's callback receiver that answers the given statuses in turn, then 200. */
export async function startReceiver(answers: number[] = [], port = 0): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString());
      received.push({ atMs: Date.now(), path: request.url ?? '', headers: request.headers, body });
      response.writeHead(answers.shift() ?? 200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}
