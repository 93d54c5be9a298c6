import type { WorkerInterceptors, WorkerOptions } from '@temporalio/worker';
import type { TraceSinks } from '../contract/trace.js';

/** Workflows that were started traced tell their spans everywhere; a worker that makes none lets them fall. */
const NO_SINKS: WorkerOptions['sinks'] = {
  traces: { ended: { fn: () => undefined }, heard: { fn: () => undefined } },
} satisfies { traces: Record<keyof TraceSinks['traces'], { fn: () => void }> };

/** What a worker adds: `before` stands in front of the other interceptors of its activities, `client` is that of its activities. */
export interface TraceOptions {
  sinks: WorkerOptions['sinks'];
  before: NonNullable<WorkerInterceptors['activity']>;
  client?: WorkerInterceptors['client'];
}

/** What a worker adds where it is traced; otherwise nothing of OpenTelemetry is loaded. */
export async function traceOptions(isTraced = false): Promise<TraceOptions> {
  if (!isTraced) return { sinks: NO_SINKS, before: [] };
  const [{ traceActivities, traceRequests, traceSinks }, { traceCalls }] = await Promise.all([
    import('./traces.js'),
    import('../tracing/client.js'),
  ]);
  traceRequests();
  return { sinks: traceSinks, before: [traceActivities], client: { workflow: [traceCalls({ apart: true })] } };
}
