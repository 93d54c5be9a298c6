import { context, createContextKey, SpanKind } from '@opentelemetry/api';
import { type WorkflowClientInterceptor, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { markFailed, startSpanOf } from '../monitoring/tracing.js';

export { startTracing } from '../monitoring/tracing.js';

const REQUEST = createContextKey('request');

/** Runs the handler of a request, so that the spans of its starts name the request. */
export const within = (requestId: string, handle: () => void): void =>
  context.with(context.active().setValue(REQUEST, requestId), handle);

/** Creates one span per start, in the trace of the run that it made. */
export const traceStarts: WorkflowClientInterceptor = {
  async startWithDetails(input, next) {
    const { workflowType, options } = input;
    const startTime = Date.now();
    const requestId = context.active().getValue(REQUEST);
    const spanOf = (runId?: string) =>
      startSpanOf({ workflowId: options.workflowId, runId }, `StartWorkflow:${workflowType}`, {
        ...{ kind: SpanKind.CLIENT, startTime },
        attributes: typeof requestId === 'string' ? { requestId } : {},
      });
    try {
      const started = await next(input);
      spanOf(started.runId).end();
      return started;
    } catch (error) {
      const span = spanOf();
      if (error instanceof WorkflowExecutionAlreadyStartedError) span.setAttribute('attached', true);
      else markFailed(span, error instanceof Error ? error.name : 'unknown');
      span.end();
      throw error;
    }
  },
};
