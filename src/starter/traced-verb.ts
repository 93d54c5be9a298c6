import { loadTracing } from '../config.js';
import { startTracingIf } from '../tracing.js';

/** An open connection to a collector may keep the process for so long, once it was given its time. */
const LINGER_MS = 1_000;

/** Runs a verb within one span where OTEL_* asks for traces, and sends them; `tell`: what was lost. Throws ConfigError. */
export async function tracedVerb(
  verb: string,
  act: () => Promise<void>,
  tell: (problem: string) => void,
): Promise<void> {
  const tracing = await startTracingIf(loadTracing(), { service: 'payment-orders', tell, isShort: true });
  if (!tracing) return act();
  const { withinSpan } = await import('../tracing/spans.js');
  try {
    await withinSpan(`payment-orders ${verb}`, act);
  } finally {
    if (!(await tracing.stop())) setTimeout(() => process.exit(), LINGER_MS).unref();
  }
}
