import { context, createContextKey, SpanKind, trace } from '@opentelemetry/api';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import { maskName } from '../contract/masking.js';
import type { CreateAnswer, CreateOrderInput } from '../contract/order/activities.js';
import { spanIdOfRun, spanIn, type TraceSinks } from '../contract/trace.js';
import { type Answered, answers } from '../payment-service/answers.js';
import { nextSpanId } from '../tracing/provider.js';
import { aboutWorkflow, contextOf, endedBy, markFailed, tracer } from '../tracing/spans.js';

/** The attempt of the activity that a request is made in. */
const ATTEMPT = createContextKey('attempt');

/** One span for each attempt of an activity of a traced workflow; creates say what became of them. */
export const traceActivities: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    execute: (input, next) => {
      const parent = spanIn(input.headers);
      if (!parent) return next(input);
      const { activityType, activityId, attempt, workflowExecution } = info;
      const { workflowId = '', runId } = workflowExecution ?? {};
      const attributes = { ...aboutWorkflow(workflowId, runId), temporalActivityId: activityId, attempt };
      const span = tracer.startSpan(`RunActivity:${activityType}`, { attributes }, contextOf(parent));
      const run = async (): Promise<unknown> => {
        const answer = await next(input);
        if (activityType === 'createOrder') {
          const { permission } = input.args[0] as CreateOrderInput;
          span.setAttributes({ permission, verdict: (answer as CreateAnswer).kind });
        }
        return answer;
      };
      const within = trace.setSpan(context.active(), span).setValue(ATTEMPT, attempt);
      return context.with(within, () => endedBy(span, run()));
    },
  },
});

/** Spans of workflows: made when one ends, under an id that its activities knew from the beginning. Callers choose types and names. */
export const traceSinks: InjectedSinks<TraceSinks> = {
  traces: {
    ended: {
      callDuringReplay: false,
      fn({ workflowId, workflowType, runId, runStartTime }, parent, how) {
        const attributes = { ...aboutWorkflow(workflowId, runId), outcome: maskName(how) };
        nextSpanId(spanIdOfRun(runId));
        const options = { startTime: runStartTime.getTime(), attributes };
        const span = tracer.startSpan(`RunWorkflow:${maskName(workflowType)}`, options, contextOf(parent));
        if (how !== 'completed' && how !== 'continued') markFailed(span, how);
        span.end();
      },
    },
    heard: {
      callDuringReplay: false,
      fn({ workflowId, runId }, of, name, sender) {
        const link = trace.getSpanContext(contextOf(sender));
        const options = { attributes: aboutWorkflow(workflowId, runId), ...(link && { links: [{ context: link }] }) };
        tracer.startSpan(`HandleMessage:${maskName(name)}`, options, contextOf(of)).end();
      },
    },
  },
};

/** A request as a span, made when it has ended. No URL and no header: the path names the operation alone. */
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

/** From now on requests that are made within the span of an activity are spans. Once for a process, however often it is said. */
export function traceRequests(): void {
  answers.unsubscribe(traceRequest);
  answers.subscribe(traceRequest);
}
