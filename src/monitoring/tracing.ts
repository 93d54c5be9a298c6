import {
  type Attributes,
  context,
  createContextKey,
  ROOT_CONTEXT,
  type Span,
  type SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type IdGenerator,
  RandomIdGenerator,
} from '@opentelemetry/sdk-trace-base';
import { maskName } from '../contract/masking.js';
import { maskWallets } from '../contract/wallets.js';

/** Maximum wait for a collector at the end. */
const STOP_MS = 2_000;

/** Run of a new trace. */
const RUN = createContextKey('run');

const random = new RandomIdGenerator();

/** Gives all spans of a run one trace id: the run id without dashes. */
const ids: IdGenerator = {
  generateTraceId: () =>
    (context.active().getValue(RUN) as string | undefined)?.replaceAll('-', '') ?? random.generateTraceId(),
  generateSpanId: () => random.generateSpanId(),
};

export const tracer = trace.getTracer('payment-orders');

/** Starts a span in the trace of a workflow's run. */
export function startSpanOf(
  { workflowId = '', runId }: { workflowId?: string; runId?: string | undefined },
  name: string,
  { attributes, ...options }: { attributes: Attributes; kind?: SpanKind; startTime?: number },
): Span {
  const about = { temporalWorkflowId: maskWallets(workflowId), ...(runId && { run_id: runId }) };
  return context.with(ROOT_CONTEXT.setValue(RUN, runId), () =>
    tracer.startSpan(name, { ...options, attributes: { ...about, ...attributes } }, ROOT_CONTEXT),
  );
}

/** Marks a span as failed by the failure's kind, because messages quote private texts. */
export function markFailed(span: Span, kind: string): void {
  span.setAttribute('error.type', maskName(kind));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Sends spans by OTEL_*. Returns how to stop within 2 s; later spans are dropped. */
export function startTracing(service: string): () => Promise<void> {
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': service }))
      // Neither host nor process, whose arguments may hold anything.
      .merge(detectResources({ detectors: [envDetector] })),
    idGenerator: ids,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return () => {
    const tooLate = new Promise<void>((resolve) => setTimeout(resolve, STOP_MS).unref());
    return Promise.race([provider.shutdown().catch(() => undefined), tooLate]);
  };
}
