import { DefaultLogger, type LogLevel, type MetricsBuffer, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import type { Monitoring } from '../config.js';
import { placeOf } from '../contract/failures.js';
import { maskWallets } from '../contract/wallets.js';
import { LOG_HOOKS } from '../print.js';

/** Fields that a log line may contain. The SDK logs whole errors and inputs, which are dropped. */
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
  'check',
  'requestsPerSecond',
  'retryAfterMs',
  'notes',
  'events',
  'at',
]);

/** Workflow ids carry the names that callers choose. Lists hold texts only. */
const masked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.filter((one) => typeof one === 'string').map(maskWallets);
  return typeof value === 'string' ? maskWallets(value) : value;
};

/** First message and place of a failure in the native SDK's print, in front of payloads. */
function printed(failure: unknown): { cause: string; place?: string | undefined } | undefined {
  if (typeof failure !== 'string') return undefined;
  const cause = /message: "((?:[^"\\]|\\.)*)"/.exec(failure)?.[1];
  const place = /stack_trace: "(?:(?:[^"\\]|\\.)*?\\n)? +(at (?:[^"\\]|\\(?!n).)+)/.exec(failure)?.[1];
  return cause === undefined ? undefined : { cause: maskWallets(cause), ...(place && { place: maskWallets(place) }) };
}

/** A failure that a step of ours reported, with words of ours. Other errors are bugs. */
const isReported = ({ name }: Error): boolean => name.endsWith('Failure');

/** Returns type and message of an error and its causing failures, and the place of a bug. */
function shownError(error: Error, causes = 3): Record<string, unknown> {
  const { cause, message, name } = error;
  const place = isReported(error) ? undefined : placeOf(error);
  return {
    type: 'type' in error && error.type ? String(error.type) : name,
    message: maskWallets(message),
    ...(place && { place: maskWallets(place) }),
    ...(causes > 0 && cause instanceof Error && isReported(cause) && { cause: shownError(cause, causes - 1) }),
  };
}

/** Returns the fields of a log entry that may be shown; of an error what names no value. */
export function shownFields(meta: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const shown = Object.fromEntries(
    Object.entries(meta).flatMap(([key, value]) => (SHOWN.has(key) ? [[key, masked(value)]] : [])),
  );
  const { error, failure = error } = meta;
  return { ...shown, ...printed(failure), ...(error instanceof Error && { error: shownError(error) }) };
}

/** The SDK warns of this for each queue of an account, at every healthy start: workflows have a queue of their own. */
const NO_WORKFLOWS = 'No workflows registered, not polling for workflow tasks';

/** Sends all logs to stderr, before anything else of the SDK; audit lines pass every level. */
export function installLogger(logLevel: Monitoring['logLevel'] = 'info', buffer?: MetricsBuffer): void {
  const sink = pino(
    { level: logLevel, hooks: LOG_HOOKS, base: { service: 'payment-orders-worker' } },
    pino.destination(2),
  );
  const auditSink = sink.child({}, { level: 'info' });
  Runtime.install({
    // SIGTERM is ours: the worker ends once its tasks are done.
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: { core: logLevel === 'debug' ? 'INFO' : 'WARN', other: 'ERROR' }, forward: {} },
      ...(buffer && { metrics: { buffer } }),
    },
    logger: new DefaultLogger(logLevel === 'debug' ? 'DEBUG' : 'INFO', ({ level, message, meta }) => {
      if (message === NO_WORKFLOWS) return;
      const fields = shownFields(meta);
      const to = 'auditHash' in fields ? auditSink : sink;
      to[level.toLowerCase() as Lowercase<LogLevel>](fields, message);
    }),
  });
}
