import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

const require = createRequire(import.meta.url);
const { parse } = createRequire(require.resolve('@temporalio/proto'))('protobufjs');

/** What of OTLP's request for traces is looked at, by its numbers on the wire. */
const OTLP = `
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
    fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
    repeated KeyValue attributes = 9; repeated Event events = 11; Status status = 15;
  }
  message Event { string name = 2; }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
`;
const Request = parse(OTLP).root.lookupType('Request');

/** A span as a collector got it. */
export interface SentSpan {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  /** Undefined for the first of its trace. */
  parentId?: string;
  startMs: number;
  endMs: number;
  attributes: Record<string, unknown>;
  failed: boolean;
  events: number;
}

/** A collector that takes traces by OTLP over HTTP. */
export interface Collector {
  url: string;
  spans(): SentSpan[];
  /** Everything that was sent to it, headers too, as it came. */
  received(): Buffer;
  close(): Promise<void>;
}

/** Starts one on a free port; `hangs`: it takes what comes and never answers. */
export async function startCollector({ hangs = false }: { hangs?: boolean } = {}): Promise<Collector> {
  const bodies: Buffer[] = [];
  const heads: Buffer[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    heads.push(Buffer.from(`${request.url}\n${request.rawHeaders.join('\n')}\n`));
    void buffer(request).then((body) => {
      bodies.push(body);
      if (!hangs) response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => bodies.flatMap(spansIn),
    received: () => Buffer.concat([...heads, ...bodies]),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

type Pairs = readonly { key: string; value?: object }[];

/** What is read of a request, as the decoder gives it. */
interface Decoded {
  resourceSpans?: { resource?: { attributes?: Pairs }; scopeSpans?: { spans?: DecodedSpan[] }[] }[];
}

interface DecodedSpan {
  name: string;
  traceId?: Uint8Array;
  spanId?: Uint8Array;
  parentSpanId?: Uint8Array;
  startTimeUnixNano: number;
  endTimeUnixNano: number;
  attributes?: Pairs;
  status?: { code?: number };
  events?: unknown[];
}

const hex = (bytes: Uint8Array = new Uint8Array()): string => Buffer.from(bytes).toString('hex');
const attributesIn = (pairs: Pairs = []): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value = {} }) => [key, Object.values(value)[0]]));

function spansIn(body: Buffer): SentSpan[] {
  const { resourceSpans = [] }: Decoded = Request.toObject(Request.decode(body), { longs: Number });
  return resourceSpans.flatMap(({ resource, scopeSpans = [] }) => {
    const service = `${attributesIn(resource?.attributes)['service.name']}`;
    return scopeSpans.flatMap(({ spans = [] }) => spans.map((span) => sentSpan(service, span)));
  });
}

function sentSpan(service: string, { parentSpanId, events = [], ...span }: DecodedSpan): SentSpan {
  return {
    service,
    name: span.name,
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    ...(parentSpanId && parentSpanId.length > 0 && { parentId: hex(parentSpanId) }),
    startMs: span.startTimeUnixNano / 1e6,
    endMs: span.endTimeUnixNano / 1e6,
    attributes: attributesIn(span.attributes),
    failed: span.status?.code === 2,
    events: events.length,
  };
}
