import {
  context,
  createContextKey,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
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
import { activityInfo } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { maskName } from '../contract/masking.js';
import type { CreateAnswer, CreateOrderInput } from '../contract/order/activities.js';
import { maskWallets } from '../contract/wallets.js';
import { type Answered, answers } from '../payment-service/answers.js';

/** Maximum wait for a collector at the end. */
const STOP_MS = 2_000;

/** Attempt of the activity that makes a request. */
const ATTEMPT = createContextKey('attempt');

const random = new RandomIdGenerator();

/** Gives all spans of a run one trace id: the run id without dashes. */
const ids: IdGenerator = {
  generateTraceId: () => activityInfo().workflowExecution?.runId.replaceAll('-', '') ?? random.generateTraceId(),
  generateSpanId: () => random.generateSpanId(),
};

const tracer = trace.getTracer('payment-orders');

/** Creates one span per activity attempt. Spans of creates show permission and verdict. */
export const traceActivities: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: async (input, next) => {
      const { activityType, activityId, attempt, workflowExecution } = info;
      const { workflowId = '', runId } = workflowExecution ?? {};
      const attributes = {
        temporalWorkflowId: maskWallets(workflowId),
        ...(runId && { run_id: runId }),
        temporalActivityId: activityId,
        attempt,
      };
      const span = tracer.startSpan(`RunActivity:${activityType}`, { attributes }, ROOT_CONTEXT);
      const within = trace.setSpan(context.active(), span).setValue(ATTEMPT, attempt);
      try {
        const answer = await context.with(within, () => next(input));
        if (activityType === 'createOrder') {
          const { permission } = input.args[0] as CreateOrderInput;
          span.setAttributes({ permission, verdict: (answer as CreateAnswer).kind });
        }
        return answer;
      } catch (error) {
        markFailed(span, kindOf(error));
        throw error;
      } finally {
        span.end();
      }
    },
  },
});

/** Marks a span as failed by the failure's kind, because messages quote private texts. */
function markFailed(span: Span, kind: string): void {
  span.setAttribute('error.type', maskName(kind));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'type' in error && typeof error.type === 'string' && error.type !== '' ? error.type : error.name;
}

/** Creates the span of a completed request, without URL and headers. The path is the operation. */
function traceRequest(message: unknown): void {
  if (!trace.getActiveSpan()) return;
  const { account, operation, answer, status, seconds } = message as Answered;
  const endTime = Date.now();
  const span = tracer.startSpan(`POST /v2/${operation}`, {
    kind: SpanKind.CLIENT,
    startTime: endTime - 1_000 * seconds,
    attributes: {
      'http.request.method': 'POST',
      'url.path': `/v2/${operation}`,
      ...(status !== undefined && { 'http.response.status_code': status }),
      operation,
      account,
      answer,
      attempt: Number(context.active().getValue(ATTEMPT) ?? 1),
    },
  });
  if (answer !== '200') markFailed(span, answer);
  span.end(endTime);
}

/** Sends spans by OTEL_*. Returns how to stop within 2 s; later spans are dropped. */
export function startTracing(): () => Promise<void> {
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'payment-orders-worker' }))
      // Neither host nor process, whose arguments may hold anything.
      .merge(detectResources({ detectors: [envDetector] })),
    idGenerator: ids,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  answers.subscribe(traceRequest);
  return () => {
    const tooLate = new Promise<void>((resolve) => setTimeout(resolve, STOP_MS).unref());
    return Promise.race([provider.shutdown().catch(() => undefined), tooLate]);
  };
}
