import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { maskName } from '../contract/masking.js';
import type { SpanRef } from '../contract/trace.js';
import { maskWallets } from '../contract/wallets.js';

/** Makes spans where a provider is registered, by us or by the process that this library runs in; otherwise ones that nobody sees. */
export const tracer = trace.getTracer('payment-orders');

/** In which what belongs to a span of elsewhere is begun. */
export const contextOf = (span: SpanRef): Context =>
  trace.setSpanContext(ROOT_CONTEXT, { ...span, traceFlags: TraceFlags.SAMPLED, isRemote: true });

/** A span as it is handed on; undefined for one that is not sampled. */
export function refOf(span: Span): SpanRef | undefined {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return traceFlags & TraceFlags.SAMPLED ? { traceId, spanId } : undefined;
}

/** Which workflow a span is about: by the names of Temporal's own interceptors. Ids carry the names that callers choose. */
export const aboutWorkflow = (workflowId: string, runId?: string): Attributes => ({
  temporalWorkflowId: maskWallets(workflowId),
  ...(runId && { run_id: runId }),
});

/** Marks a span as failed: by the kind of failure alone, since messages quote what people and the service wrote. */
export function markFailed(span: Span, kind: string): void {
  span.setAttribute('error.type', maskName(kind));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** The kind of an error, in a word of the code. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'type' in error && typeof error.type === 'string' && error.type !== '' ? error.type : error.name;
}

/** Runs `act` within a span of its own. */
export function withinSpan<T>(name: string, act: () => Promise<T>): Promise<T> {
  const span = tracer.startSpan(name);
  return context.with(trace.setSpan(context.active(), span), () => endedBy(span, act()));
}

/** Ends a span with what becomes of `work`, and hands that on. */
export async function endedBy<T>(span: Span, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    markFailed(span, kindOf(error));
    throw error;
  } finally {
    span.end();
  }
}
