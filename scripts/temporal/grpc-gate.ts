import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  createSecureServer,
  createServer,
  type IncomingHttpHeaders,
  type SecureServerOptions,
  type ServerHttp2Session,
} from 'node:http2';
import type { AddressInfo } from 'node:net';

type Change = (message: Buffer) => Uint8Array | Promise<Uint8Array>;

/** Stands between a process and Temporal as a gateway does that knows who may do what. */
export interface GrpcGate {
  address: string;
  /** From now on all polls are refused by PERMISSION_DENIED, those that are open too. */
  refusePolls(): void;
  /** From now on calls of this name go through, and their answers are lost. */
  loseAnswers(method: string): void;
  /** From now on answers to calls of this name are changed, as protobuf messages, or come later. */
  changeAnswers(method: string, change: Change): void;
  close(): void;
}

const POLL = /\/Poll(Workflow|Activity)TaskQueue$/;
const UNAUTHENTICATED = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' };
const DENIED = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '7', 'grpc-message': 'taken back' };

/** Headers as they may be handed on: those that name a connection stay with it. */
const handedOn = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'connection'));

/** An answer of one message, in its frame: a byte for the compression and four for the length. */
async function changed(answer: AsyncIterable<Buffer>, change: Change): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  const frame = Buffer.concat(chunks);
  if (frame.length === 0) return frame;
  const message = await change(frame.subarray(5));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** `tls`: it speaks TLS to its callers. `apiKey`: it refuses calls without that key. */
export interface GateOptions {
  tls?: SecureServerOptions;
  apiKey?: string;
}

/** Opens a gate to the server at `target` on a free port of 127.0.0.1. The server may be killed and come back. */
export async function openGrpcGate(target: string, { tls, apiKey }: GateOptions = {}): Promise<GrpcGate> {
  let upstream: ClientHttp2Session | undefined;
  const session = (): ClientHttp2Session => {
    if (upstream && !upstream.closed && !upstream.destroyed) return upstream;
    upstream = connect(`http://${target}`);
    // Its streams report the error.
    upstream.on('error', () => undefined);
    return upstream;
  };
  const sessions = new Set<ServerHttp2Session>();
  const open = new Set<() => void>();
  let isRefusing = false;
  let losing: string | undefined;
  const changes = new Map<string, Change>();
  const server = tls ? createSecureServer(tls) : createServer();
  server.on('session', (session) => void sessions.add(session));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    const isPoll = POLL.test(`${headers[':path']}`);
    const refuse = () => {
      if (!stream.headersSent && !stream.destroyed) stream.respond(DENIED, { endStream: true });
    };
    if (isPoll && isRefusing) return refuse();
    if (apiKey && headers.authorization !== `Bearer ${apiKey}`)
      return stream.respond(UNAUTHENTICATED, { endStream: true });
    const onward = session().request(handedOn(headers));
    onward.on('error', () => stream.destroy());
    if (isPoll) open.add(refuse);
    stream.pipe(onward);
    onward.on('response', (answer) => {
      const isLost = losing !== undefined && `${headers[':path']}`.endsWith(`/${losing}`);
      if (isLost || stream.headersSent || stream.destroyed) return;
      open.delete(refuse);
      // An error without a message has its trailers in its headers.
      if (answer['grpc-status'] !== undefined) return stream.respond(handedOn(answer), { endStream: true });
      stream.respond(handedOn(answer), { waitForTrailers: true });
      onward.on('trailers', (trailers) => stream.on('wantTrailers', () => stream.sendTrailers(trailers)));
      const change = changes.get(`${headers[':path']}`.split('/').at(-1) ?? '');
      if (change) void changed(onward, change).then((body) => stream.end(body));
      else onward.pipe(stream);
    });
    stream.on('close', () => onward.close());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    refusePolls: () => {
      isRefusing = true;
      for (const refuse of open) refuse();
    },
    changeAnswers: (method, change) => void changes.set(method, change),
    loseAnswers: (method) => {
      losing = method;
    },
    close: () => {
      for (const session of sessions) session.destroy();
      upstream?.destroy();
      server.close();
    },
  };
}
