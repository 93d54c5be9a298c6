import { context, createContextKey, SpanKind, trace } from '@opentelemetry/api';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { CreateAnswer, CreateOrderInput } from '../contract/order/activities.js';
import { markFailed, startSpanOf, startTracing, tracer } from '../monitoring/tracing.js';
import { type Answered, answers } from '../payment-service/answers.js';

/** Attempt of the activity that makes a request. */
const ATTEMPT = createContextKey('attempt');

/** Creates one span per activity attempt. Spans of creates show permission and verdict. */
export const traceActivities: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: async (input, next) => {
      const { activityType, activityId, attempt, workflowExecution } = info;
      const attributes = { temporalActivityId: activityId, attempt };
      const span = startSpanOf(workflowExecution ?? {}, `RunActivity:${activityType}`, { attributes });
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

/** Sends spans of activities and requests. Returns how to stop within 2 s. */
export function startWorkerTracing(): () => Promise<void> {
  const stop = startTracing('payment-orders-worker');
  answers.subscribe(traceRequest);
  return stop;
}
