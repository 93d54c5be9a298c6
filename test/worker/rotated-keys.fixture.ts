import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { fingerprint as fingerprintOf } from '../../chaos/account-book.js';
import type { Sandbox } from '../../sandbox/index.js';

/** A request as the service got it, and how it was answered. */
export interface Asked {
  path: string;
  apiKey: string;
  status: number;
}

/** A service whose keys change: pairs of key and secret come and go while it runs, each for one of its accounts. */
export interface RotatedKeys {
  url: string;
  /** Takes a pair from now on, for one account. */
  allow(apiKey: string, apiSecret: string, account: Sandbox): void;
  /** Takes a key no more: 401. */
  revoke(apiKey: string): void;
  /** All requests so far. */
  asked(): Asked[];
  close(): Promise<void>;
}

/** Returns the fingerprint of a pair, as `doctor` shows it. */
export const fingerprint = ([apiKey, apiSecret]: readonly [key: string, secret: string]): string =>
  fingerprintOf({ apiKey, apiSecret });

const hmac = (secret: string, body: Buffer): string => createHmac('sha256', secret).update(body).digest('hex');

/** Opens a service without keys on a free port of 127.0.0.1. */
export async function openRotatedKeys(): Promise<RotatedKeys> {
  const pairs = new Map<string, { apiSecret: string; account: Sandbox }>();
  const asked: Asked[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const apiKey = `${incoming.headers['api-key']}`;
    const body = Buffer.concat(await incoming.toArray());
    const pair = pairs.get(apiKey);
    const isGenuine = pair && hmac(pair.apiSecret, body) === incoming.headers.signature;
    const note = (status: number) => asked.push({ path: incoming.url ?? '', apiKey, status });
    if (isGenuine) return forward(pair.account, body, incoming, outgoing, note);
    note(401);
    outgoing.writeHead(401, { 'content-type': 'application/json' }).end('{"status":"error"}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    allow: (apiKey, apiSecret, account) => void pairs.set(apiKey, { apiSecret, account }),
    revoke: (apiKey) => void pairs.delete(apiKey),
    asked: () => [...asked],
    close: async () => {
      server.closeAllConnections();
      await promisify(server.close.bind(server))();
    },
  };
}

/** Signed anew with the account's own pair, which its clients never see. */
function forward(
  account: Sandbox,
  body: Buffer,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  note: (status: number) => void,
): void {
  const own = { 'api-key': account.apiKey, signature: hmac(account.apiSecret, body) };
  const options = { method: incoming.method, headers: { ...incoming.headers, ...own }, agent: false };
  const onward = request(`${account.url}${incoming.url}`, options, (answer) => {
    note(answer.statusCode ?? 0);
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.on('error', () => outgoing.destroy());
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  onward.end(body);
}
