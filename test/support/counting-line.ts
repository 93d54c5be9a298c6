import { once } from 'node:events';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';

/** A line to a Temporal server that knows which calls are open on it. */
export interface CountingLine {
  /** host:port for a connection of its own. */
  address: string;
  /** Open long polls by the last part of their path, such as `PollActivityTaskQueue`. */
  polls(): Record<string, number>;
  /** All calls that were made, by the last part of their path. */
  calls(): Record<string, number>;
  close(): Promise<void>;
}

/** Opens such a line: every call is passed on as it is, and counts from its first byte until either end closes it. */
export async function openCountingLine(target: string): Promise<CountingLine> {
  const upstream = http2.connect(`http://${target}`);
  const open = new Set<{ name: string }>();
  const calls: string[] = [];
  const server = http2.createServer();
  const sessions = new Set<http2.ServerHttp2Session>();
  server.on('session', (session) => void sessions.add(session));
  server.on('stream', (stream, headers) => {
    const name = String(headers[':path']).split('/').at(-1) ?? '';
    const call = { name };
    calls.push(name);
    open.add(call);
    stream.once('close', () => open.delete(call));
    passOn(stream, upstream.request(headers, { endStream: false }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    polls: () => countOf([...open].map(({ name }) => name).filter((name) => name.startsWith('Poll'))),
    calls: () => countOf(calls),
    close: async () => {
      for (const session of sessions) session.destroy();
      upstream.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function countOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function passOn(stream: http2.ServerHttp2Stream, call: http2.ClientHttp2Stream): void {
  let trailers: http2.IncomingHttpHeaders = {};
  stream.pipe(call);
  call.on('response', (headers, flags) => {
    if (stream.destroyed) return;
    // gRPC refuses with headers alone.
    const endStream = (flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    stream.respond(headers, { endStream, waitForTrailers: !endStream });
    if (!endStream) call.pipe(stream);
  });
  call.on('trailers', (received) => {
    trailers = received;
  });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.on('close', () => call.close(http2.constants.NGHTTP2_CANCEL));
  stream.on('error', () => undefined);
  call.on('error', () => stream.destroy());
}
