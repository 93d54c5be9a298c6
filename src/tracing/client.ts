import { context, SpanKind, trace } from '@opentelemetry/api';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { Headers } from '@temporalio/common';
import { traceHeaders } from '../contract/trace.js';
import { aboutWorkflow, endedBy, refOf, tracer } from './spans.js';

/** How starts of a client are traced. */
export interface StartTraces {
  /** Each start begins a trace of its own, linked to where it was made: a batch of ten thousand rows is no one trace. */
  apart?: boolean;
}

const withHeaders = <T extends { headers: Headers }>(input: T, headers: Headers): T => ({
  ...input,
  headers: { ...input.headers, ...headers },
});

/**
 * Spans of what a client starts and sends to workflows, handed on by header. Reads are not traced. Where a span is not sampled no header
 * is sent: then the order is traced nowhere.
 */
export function traceCalls({ apart = false }: StartTraces = {}): WorkflowClientInterceptor {
  const starts = (type: string, id: string) => ({ name: `StartWorkflow:${type}`, workflowId: id, root: apart });
  return {
    startWithDetails: (input, next) =>
      traced(starts(input.workflowType, input.options.workflowId), (headers) => next(withHeaders(input, headers))),
    signalWithStart: (input, next) =>
      traced(starts(input.workflowType, input.options.workflowId), (headers) => next(withHeaders(input, headers))),
    startUpdateWithStart: (input, next) =>
      traced(starts(input.workflowType, input.workflowStartOptions.workflowId), (headers) =>
        next({
          ...input,
          workflowStartHeaders: { ...input.workflowStartHeaders, ...headers },
          updateHeaders: { ...input.updateHeaders, ...headers },
        }),
      ),
    signal: (input, next) =>
      traced(
        { name: `SignalWorkflow:${input.signalName}`, workflowId: input.workflowExecution.workflowId },
        (headers) => next(withHeaders(input, headers)),
      ),
    startUpdate: (input, next) =>
      traced(
        { name: `UpdateWorkflow:${input.updateName}`, workflowId: input.workflowExecution.workflowId },
        (headers) => next(withHeaders(input, headers)),
      ),
  };
}

interface Call {
  name: string;
  workflowId: string | null | undefined;
  /** Begins a trace of its own. */
  root?: boolean;
}

function traced<T>({ name, workflowId, root = false }: Call, call: (headers: Headers) => Promise<T>): Promise<T> {
  const maker = root ? trace.getActiveSpan()?.spanContext() : undefined;
  const span = tracer.startSpan(name, {
    kind: SpanKind.PRODUCER,
    root,
    attributes: aboutWorkflow(workflowId ?? ''),
    ...(maker && { links: [{ context: maker }] }),
  });
  const ref = refOf(span);
  return context.with(trace.setSpan(context.active(), span), () => endedBy(span, call(ref ? traceHeaders(ref) : {})));
}
