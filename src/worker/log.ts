import { DefaultLogger, type LogLevel, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { maskWallets } from '../contract/wallets.js';

/** What a log line may carry. The SDK hands whole errors and inputs to its logger; nothing else gets through. */
const SHOWN = new Set([
  'workflowId',
  'workflowType',
  'runId',
  'activityId',
  'activityType',
  'attempt',
  'taskQueue',
  'namespace',
  'durationMs',
  'sdkComponent',
  'verdict',
  'permission',
  'excerpt',
  'audit',
  'auditHash',
  'account',
  'requestsPerSecond',
  'retryAfterMs',
]);

/** Workflow ids carry the names that callers choose. */
const masked = (value: unknown): unknown => (typeof value === 'string' ? maskWallets(value) : value);

/** The fields of a log entry that may be shown; of an error its type and its own message, which name no value. */
export function shownFields(meta: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const shown = Object.fromEntries(
    Object.entries(meta).flatMap(([key, value]) => (SHOWN.has(key) ? [[key, masked(value)]] : [])),
  );
  const error = meta.error;
  if (!(error instanceof Error)) return shown;
  const type = 'type' in error ? String(error.type) : error.name;
  return { ...shown, error: { type, message: maskWallets(error.message) } };
}

/** Sends the worker's logs to stderr as JSON lines. Must run before anything else of the SDK. */
export function installLogger(): void {
  const sink = pino({ level: 'info', base: { service: 'payment-orders-worker' } }, pino.destination(2));
  Runtime.install({
    // SIGTERM is ours: the worker ends once its tasks are done.
    shutdownSignals: [],
    logger: new DefaultLogger('INFO', ({ level, message, meta }) =>
      sink[level.toLowerCase() as Lowercase<LogLevel>](shownFields(meta), message),
    ),
  });
}
