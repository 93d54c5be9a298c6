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

/** Longest wait for a collector when the worker ends. */
const STOP_MS = 2_000;

/** Attempt of the activity that makes a request. */
const ATTEMPT = createContextKey('attempt');

const random = new RandomIdGenerator();

/** Gives all spans of a run one trace, whose id is the run id without dashes. */
const ids: IdGenerator = {
  generateTraceId: () => activityInfo().workflowExecution?.runId.replaceAll('-', '') ?? random.generateTraceId(),
  generateSpanId: () => random.generateSpanId(),
};

const tracer = trace.getTracer('payment-orders');

/** Makes one span for each attempt of an activity. Spans of creates show permission and verdict. */
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

/** Marks a span as failed by the kind of failure: messages quote what people and the service wrote. */
function markFailed(span: Span, kind: string): void {
  span.setAttribute('error.type', maskName(kind));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'type' in error && typeof error.type === 'string' && error.type !== '' ? error.type : error.name;
}

/** Makes a span of a request that has ended. It carries no URL and no header: the path names the operation alone. */
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

/** Sends spans where OTEL_* says; returns how to stop within 2 s. Late spans are dropped. */
export function startTracing(): () => Promise<void> {
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'payment-orders-worker' }))
      // Neither host nor process: their arguments may be anything.
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
