import { defaultPayloadConverter, type Headers } from '@temporalio/common';

/**
 * How a trace passes through Temporal: in the header, and the form, of Temporal's own interceptors, so that a backend that traces with
 * those is continued. Headers are never encrypted, and whoever reaches Temporal writes them: only what is a span's name is read.
 */
const TRACE_HEADER = '_tracer-data';

/** A span, by its W3C ids. Only sampled ones are passed on: without the header nothing is traced, or stored. */
export interface SpanRef {
  traceId: string;
  spanId: string;
}

/** `version-trace-span-flags`; flag 01: sampled. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-01$/;

/** No tracer of ours or of others needs as much. */
const MOST_BYTES = 1_024;

/** The span as headers of a workflow, an activity or a message. */
export const traceHeaders = ({ traceId, spanId }: SpanRef): Headers => ({
  [TRACE_HEADER]: defaultPayloadConverter.toPayload({ traceparent: `00-${traceId}-${spanId}-01` }),
});

/** The span in such headers; undefined where there is none, or something else. */
export function spanIn(headers: Headers): SpanRef | undefined {
  const payload = headers[TRACE_HEADER];
  if (!payload || (payload.data?.length ?? 0) > MOST_BYTES) return undefined;
  try {
    const { traceparent } = defaultPayloadConverter.fromPayload<{ traceparent?: unknown }>(payload);
    const [, traceId, spanId] = TRACEPARENT.exec(`${traceparent}`) ?? [];
    return traceId && spanId ? { traceId, spanId } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The span of a workflow's run: whoever knows the run knows it, and no random number of the workflow is spent on it, since activities
 * have their ids of those.
 */
export const spanIdOfRun = (runId: string): string => runId.replaceAll('-', '').slice(-16);

/** What a traced workflow tells its worker, which makes spans of it; nothing comes back. */
export type TraceSinks = {
  traces: {
    /** The run ended, `how`: `completed`, `continued`, or the type of its failure. `parent`: the span that it was started in. */
    ended(parent: SpanRef, how: string): void;
    /** A signal or an update came, whose sender was traced. */
    heard(of: SpanRef, name: string, sender: SpanRef): void;
  };
};
