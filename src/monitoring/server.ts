import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import type { Registry } from 'prom-client';
import type { Monitoring } from '../config.js';
import { type Finding, nameOf } from '../preflight/findings.js';

/** What is shown of a process. `whyNotReady`: why it should get no work now; undefined = it is ready. Never rejects. */
export interface Shown {
  whyNotReady: () => Promise<string | undefined>;
  /** What should be mended, though the process is ready; absent = nobody looks. */
  findings?: () => readonly Finding[];
  registry: Registry;
}

/** A listening monitoring port. */
export interface MonitoringServer {
  url: string;
  close: () => Promise<void>;
}

/** Serves `/healthz`, `/readyz` and `/metrics` on a port of its own; undefined where none is configured. */
export async function startMonitoring(
  address: Monitoring['metricsAddress'],
  shown: Shown,
): Promise<MonitoringServer | undefined> {
  if (!address) return undefined;
  const server = createServer({ requestTimeout: 5_000, headersTimeout: 5_000, maxHeaderSize: 8 * 1024 });
  server.maxConnections = 64;
  server.on('request', ({ method, url = '' }, response) => {
    const path = method === 'GET' || method === 'HEAD' ? url.split('?', 1)[0] : undefined;
    void answer(path, shown, response).catch(() => send(response, 500, 'failed\n'));
  });
  server.listen(address);
  await once(server, 'listening');
  return { url: urlOf(server), close: () => closed(server) };
}

async function answer(path: string | undefined, shown: Shown, response: ServerResponse): Promise<void> {
  if (path === '/healthz') send(response, 200, 'ok\n');
  else if (path === '/readyz') {
    const why = await shown.whyNotReady();
    const found = (shown.findings?.() ?? []).filter(({ level }) => level !== 'note');
    const lines = [why ?? 'ready', ...found.map((finding) => `${finding.level} ${nameOf(finding)}`)];
    send(response, why === undefined ? 200 : 503, `${lines.join('\n')}\n`);
  } else if (path === '/metrics') send(response, 200, await shown.registry.metrics(), shown.registry.contentType);
  else send(response, 404, 'not found\n');
}

const send = (response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void =>
  void response.writeHead(status, { 'Content-Type': type, Connection: 'close' }).end(text);

function urlOf(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

async function closed(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  if (server.listening) await once(server, 'close');
}
