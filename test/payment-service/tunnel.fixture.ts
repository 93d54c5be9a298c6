import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { TLS_CERTIFICATE, TLS_KEY } from './certificates.fixture.js';
import { orderObject } from './objects.fixture.js';
import { answer } from './server.fixture.js';

/** What the service shows, and what it demands of its clients. */
export const SERVICE_TLS = { key: TLS_KEY, cert: TLS_CERTIFICATE, ca: TLS_CERTIFICATE } as const;
export const CLIENTS_DEMANDED = { requestCert: true, rejectUnauthorized: true } as const;

/** One request for a tunnel: what the proxy was asked, and its two ends. */
export interface Tunnel {
  /** The request line and headers as they came. */
  asked: string;
  near: Socket;
  /** Opens the way to where the CONNECT leads, or to another port, without answering or piping anything yet. */
  open(port?: number): Promise<Socket>;
  /** Says 200 and passes everything on until one of both ends goes. */
  pass(port?: number): Promise<Socket>;
}

/** A CONNECT proxy on this machine, each of whose tunnels behaves as `rule` says. */
export interface TestProxy {
  port: number;
  /** Every CONNECT so far. */
  asked: string[];
  /** Connections that are open at the moment. */
  open(): number;
  /** How the tunnels that follow behave. */
  rule: (tunnel: Tunnel) => unknown;
  /** Breaks the tunnel whose far end came from this port. */
  cut(farPort: number | undefined): void;
  close(): Promise<void>;
}

/** The answer that opens a tunnel. */
export const OPENED = 'HTTP/1.1 200 Connection established\r\n\r\n';

/** Passes everything on. */
export const passes = (tunnel: Tunnel) => tunnel.pass();

/** Answers this and ends. */
export const answers = (text: string) => (tunnel: Tunnel) => void tunnel.near.end(text);

/** Passes this many bytes on to the service, and everything back, and then breaks both ends. */
export const passesBytes = (limit: number, how: 'destroy' | 'resetAndDestroy') => async (tunnel: Tunnel) => {
  const far = await tunnel.open();
  let left = limit;
  const cut = () => {
    tunnel.near[how]();
    far[how]();
  };
  tunnel.near.on('data', (data: Buffer) => {
    // What was passed on arrives before the end of the connection does.
    if (data.length >= left) far.end(data.subarray(0, left), cut);
    else far.write(data);
    left -= Math.min(left, data.length);
  });
  tunnel.near.write(OPENED);
  far.pipe(tunnel.near);
  if (limit === 0) cut();
};

/** Starts a proxy on a free port. */
export async function startProxy(rule: TestProxy['rule'] = passes): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  const tunnels = new Map<number | undefined, () => void>();
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const server = createServer(async (near) => {
    track(near);
    let asked = '';
    while (!asked.includes('\r\n\r\n')) {
      const [data] = (await once(near, 'data').catch(() => [])) as [Buffer?];
      if (!data) return;
      asked += data.toString('latin1');
    }
    proxy.asked.push(asked);
    const open = async (port = Number(/^CONNECT \S+:(\d+) /.exec(asked)?.[1])): Promise<Socket> => {
      const far = track(connect({ port, host: '127.0.0.1' }));
      await once(far, 'connect');
      const cut = () => {
        near.destroy();
        far.destroy();
      };
      tunnels.set(far.localPort, cut);
      near.on('close', () => far.destroy());
      far.on('close', () => near.destroySoon());
      return far;
    };
    const pass = async (port?: number): Promise<Socket> => {
      const far = await open(port);
      near.write(OPENED);
      near.pipe(far);
      far.pipe(near);
      return far;
    };
    await proxy.rule({ asked, near, open, pass });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: TestProxy = {
    port: (server.address() as AddressInfo).port,
    asked: [],
    open: () => [...sockets].filter((socket) => !socket.destroyed).length,
    rule,
    cut: (farPort) => tunnels.get(farPort)?.(),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

/** A request that reached a service whole. */
export interface Reached {
  headers: NodeJS.Dict<string | string[]>;
  /** The name in the certificate that the client showed; undefined = it showed none. */
  client: string | undefined;
}

/** A payment service behind TLS that answers every request with an order, after `before` let it. */
export function createTlsService(options: TlsOptions, before: (socket: Socket) => boolean = () => true) {
  const reached: Reached[] = [];
  const server = createHttpsServer({ ...SERVICE_TLS, ...options }, (request, response) => {
    // A request that breaks off never ends.
    request.on('error', () => {}).resume();
    request.on('end', () => {
      const subject = (request.socket as TLSSocket).getPeerCertificate().subject as { CN?: string } | undefined;
      reached.push({ headers: request.headers, client: subject?.CN });
      if (before(request.socket)) answer(response, orderObject());
    });
  });
  server.on('secureConnection', (socket) => socket.on('error', () => {}));
  return { server, reached };
}

/** TLS in front of a service that speaks plain HTTP. */
export interface Front {
  url: string;
  /** Asked about each request, before it and before its answer goes on; false = it goes no further. */
  lets: (what: 'request' | 'answer', path: string, farPort: number | undefined) => boolean;
  setTls(options: TlsOptions): void;
  close(): Promise<void>;
}

/** Opens such a front on a free port. */
export async function openFront(targetUrl: string, options: TlsOptions): Promise<Front> {
  const sockets = new Set<Socket>();
  const server = createTlsServer({ ...SERVICE_TLS, ...options }, (near) => {
    const far = connect(Number(new URL(targetUrl).port), '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket)));
    }
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroySoon());
    let path = '';
    near.on('data', (data: Buffer) => {
      path ||= /^POST (\S+)/.exec(data.toString('latin1'))?.[1] ?? '';
      if (front.lets('request', path, near.remotePort)) far.write(data);
    });
    far.on('data', (data: Buffer) => {
      if (front.lets('answer', path, near.remotePort)) near.write(data);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const front: Front = {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    lets: () => true,
    setTls: (changed) => server.setSecureContext({ ...SERVICE_TLS, ...changed }),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return front;
}
