import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type IdGenerator,
  RandomIdGenerator,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';

/** The end of a process waits so long for a collector. */
const STOP_MS = 2_000;

/** What could not be sent is told no more often. */
const TOLD_EVERY_MS = 60_000;

/** Traces of this process. */
export interface Tracing {
  /** Sends what is left, for 2 s at most; false: there was more, and connections to the collector may be open. Never rejects. */
  stop(): Promise<boolean>;
}

/** How the traces of a process are. */
export interface TracingOptions {
  /** What it is called where OTEL_SERVICE_NAME does not say it. */
  service: string;
  /** Told that spans were lost; never with an address or an answer. */
  tell: (problem: string) => void;
  /** Whether it lives for one command only: then each sending is over when its end need no longer wait. */
  isShort?: boolean;
}

/** Random ids, but for a span whose id is known before it is made. */
class SpanIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  next: string | undefined;

  generateTraceId = (): string => this.#random.generateTraceId();

  generateSpanId = (): string => {
    const known = this.next;
    this.next = undefined;
    return known ?? this.#random.generateSpanId();
  };
}

const ids = new SpanIds();

/** The next span that is begun gets this id; begin it at once. */
export function nextSpanId(id: string): void {
  ids.next = id;
}

/**
 * Sends spans where OTEL_* says; its packages read those variables by themselves. They are sent in the background, and what a collector
 * does not take in time is dropped: nothing waits for it but the end of the process.
 */
export function startTracing({ service, tell, isShort = false }: TracingOptions): Tracing {
  const exporter = new OTLPTraceExporter(isShort ? { timeoutMillis: STOP_MS } : {});
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': service }))
      // Neither host nor process: their arguments may be anything.
      .merge(detectResources({ detectors: [envDetector] })),
    idGenerator: ids,
    spanProcessors: [new BatchSpanProcessor(telling(exporter, tell))],
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return {
    stop: () => {
      const late = new Promise<false>((resolve) => setTimeout(resolve, STOP_MS, false).unref());
      const over = () => true;
      return Promise.race([provider.shutdown().then(over, over), late]);
    },
  };
}

/** The exporter, and somebody who hears that it failed. */
function telling(exporter: SpanExporter, tell: TracingOptions['tell']): SpanExporter {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const isTold = performance.now() - toldAtMs < TOLD_EVERY_MS;
        // The collector's own words may quote the headers that it was sent.
        if (result.error && !isTold) {
          toldAtMs = performance.now();
          tell('spans were lost: the collector at OTEL_EXPORTER_OTLP_ENDPOINT does not take them');
        }
        done(result);
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}
