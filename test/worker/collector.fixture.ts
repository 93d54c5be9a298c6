import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A collector that takes traces by OTLP over HTTP. */
export interface Collector {
  url: string;
  /** Everything that was sent to it, headers too, as it came: names and attributes are readable in the bytes. */
  received(): Buffer;
  close(): Promise<void>;
}

/** Starts one on a free port; `hangs`: it takes what comes and never answers. */
export async function startCollector({ hangs = false }: { hangs?: boolean } = {}): Promise<Collector> {
  const parts: Buffer[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    parts.push(Buffer.from(`${request.url}\n${request.rawHeaders.join('\n')}\n`));
    void buffer(request).then((body) => {
      parts.push(body);
      if (!hangs) response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: () => Buffer.concat(parts),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
