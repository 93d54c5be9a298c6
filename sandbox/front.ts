import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import type { Sandbox } from './index.js';

/** One account behind a front: requests to `path` with `apiKey` go to a sandbox, which sees its own key. */
export interface FrontRoute {
  /** Prefix such as `/one`; '' for none. */
  path: string;
  apiKey: string;
  sandbox: Pick<Sandbox, 'url' | 'apiKey'>;
}

/** One host that serves several accounts, each with a sandbox of its own: orders, wallets and balances. */
export interface Front {
  /** Base URL without a route's path. */
  url: string;
  close(): Promise<void>;
}

const KEY_HEADER = 'api-key';

/** The body of a front's own answers. */
export const UNROUTED = '{"status":"error"}';

/** The route of a request, or the status of the answer to one that has none. */
export function routeFor(routes: readonly FrontRoute[], url: string, key: unknown): FrontRoute | 401 | 404 {
  const onPath = routes.filter(({ path }) => url.startsWith(`${path}/`));
  return onPath.find(({ apiKey }) => apiKey === key) ?? (onPath.length > 0 ? 401 : 404);
}

/**
 * Opens a front on a free port of 127.0.0.1. Two routes with different keys to one sandbox are one account whose key was
 * rotated. Other paths are answered 404, other keys 401. All sandboxes must have the secret that the client signs with.
 * `onRequest` is shown the headers of every request.
 */
export async function startFront(
  routes: readonly FrontRoute[],
  onRequest: (headers: IncomingHttpHeaders) => void = () => undefined,
): Promise<Front> {
  const server = createServer((incoming, outgoing) => {
    onRequest(incoming.headers);
    const route = routeFor(routes, incoming.url ?? '', incoming.headers[KEY_HEADER]);
    if (typeof route !== 'number') return forward(route, incoming, outgoing);
    outgoing.writeHead(route, { 'content-type': 'application/json' }).end(UNROUTED);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      server.closeAllConnections();
      await promisify(server.close.bind(server))();
    },
  };
}

function forward({ path, sandbox }: FrontRoute, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const url = `${sandbox.url}${(incoming.url ?? '').slice(path.length)}`;
  const headers = { ...incoming.headers, [KEY_HEADER]: sandbox.apiKey };
  const onward = request(url, { method: incoming.method, headers, agent: false }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.on('error', () => outgoing.destroy());
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
}
