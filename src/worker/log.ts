import { type LogEntry, Runtime } from '@temporalio/worker';
import { type Level, pino } from 'pino';

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
]);

const LEVELS: Record<LogEntry['level'], Level> = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
};

/** The fields of a log entry that may be shown; of an error its type and its own message, which name no value. */
export function shownFields(meta: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const shown = Object.fromEntries(Object.entries(meta).filter(([key]) => SHOWN.has(key)));
  const error = meta.error;
  if (!(error instanceof Error)) return shown;
  const type = 'type' in error ? String(error.type) : error.name;
  return { ...shown, error: { type, message: error.message } };
}

/** Sends the worker's logs to stderr as JSON lines. Must run before anything else of the SDK. */
export function installLogger(): void {
  const sink = pino({ level: 'info', base: { service: 'payment-orders-worker' } }, pino.destination(2));
  Runtime.install({
    // SIGTERM is ours: the worker ends once its tasks are done.
    shutdownSignals: [],
    logger: {
      log: (level, message, meta) => sink[LEVELS[level]](shownFields(meta), message),
      trace: (message, meta) => sink.trace(shownFields(meta), message),
      debug: (message, meta) => sink.debug(shownFields(meta), message),
      info: (message, meta) => sink.info(shownFields(meta), message),
      warn: (message, meta) => sink.warn(shownFields(meta), message),
      error: (message, meta) => sink.error(shownFields(meta), message),
    },
  });
}
