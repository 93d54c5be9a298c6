import type { Tracing, TracingOptions } from './tracing/provider.js';

export type { Tracing } from './tracing/provider.js';

/** Starts the traces of a process where they are wanted; otherwise nothing of OpenTelemetry is loaded. */
export async function startTracingIf(isTraced: boolean, options: TracingOptions): Promise<Tracing | undefined> {
  if (!isTraced) return undefined;
  const { startTracing } = await import('./tracing/provider.js');
  return startTracing(options);
}
