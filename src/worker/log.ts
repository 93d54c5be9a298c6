import { DefaultLogger, type LogEntry, type LogLevel, type MetricsBuffer, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import type { Monitoring } from '../config.js';
import { maskWallets } from '../contract/wallets.js';
import { LOG_HOOKS } from '../print.js';

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
  'check',
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

/** Failures by which a workflow ends; whatever else is thrown fails its task, which the server then repeats. */
const ENDS_WORKFLOW = /(?:Failure|^ContinueAsNew)$/;

/**
 * True for what ends a workflow. Errors leave the thread of a workflow with the name `Error`, and say only at the head of their stack
 * what they were; the SDK leaves none to a failure that it read from the history, such as a failed activity's.
 */
const endsWorkflow = ({ name, stack = '' }: Error): boolean =>
  stack === '' || [name, /^\w*/.exec(stack)?.[0] ?? ''].some((word) => ENDS_WORKFLOW.test(word));

/** Of a failure as the SDK's native part prints it only the first message: behind it come payloads. */
const causeOf = (failure: unknown): string => /message: "((?:[^"\\]|\\.)*)"/.exec(String(failure))?.[1] ?? 'not told';

const TASK_FAILED = 'workflow task failed: the workflow makes no progress, and the server repeats the task';

/** The native part's words, whose reason stands in a field that is not shown as it is. */
const POLLS_FAIL = 'Task polling has encountered errors continuously; the worker will continue retrying';
const NO_WORK = 'polls of Temporal fail: the worker gets no work, and goes on asking';

const taskFields = ({ error: _, ...meta }: Readonly<Record<string, unknown>>, cause = 'not told') => ({
  ...shownFields(meta),
  cause: maskWallets(cause),
});

/** Said of each queue of an account, at every healthy start: workflows have a queue of their own. */
const NO_WORKFLOWS = 'No workflows registered, not polling for workflow tasks';

/** An entry as it is shown: a workflow task that fails is one error line, whoever tells it; undefined = told already, or nothing worth it. */
export function shownEntry(
  { level, message, meta = {} }: Pick<LogEntry, 'level' | 'message' | 'meta'>,
  told: Set<unknown> = new Set(),
): { level: LogLevel; message: string; fields: Record<string, unknown> } | undefined {
  if (message === NO_WORKFLOWS) return undefined;
  const { error, runId, failure } = meta as { error?: Error; runId?: unknown; failure?: unknown };
  if (message === POLLS_FAIL) return { level: 'ERROR', message: NO_WORK, fields: taskFields(meta, causeOf(error)) };
  if (message === 'Workflow failed' && !(error && endsWorkflow(error))) {
    told.add(runId);
    return { level: 'ERROR', message: TASK_FAILED, fields: taskFields(meta, error?.message) };
  }
  if (message === 'Failing workflow task') {
    // The workflow itself has said more: its id, its type, and its words before they were encrypted.
    if (told.delete(runId)) return undefined;
    return { level: 'ERROR', message: TASK_FAILED, fields: taskFields(meta, causeOf(failure)) };
  }
  return { level, message, fields: shownFields(meta) };
}

/**
 * Sends the worker's logs, those of the SDK's native part too, to stderr as JSON lines. Must run before anything else of the SDK.
 * Lines of the audit record pass every level: their hashes are what shows a record that was written again.
 */
export function installLogger(logLevel: Monitoring['logLevel'] = 'info', buffer?: MetricsBuffer): void {
  const sink = pino(
    { level: logLevel, hooks: LOG_HOOKS, base: { service: 'payment-orders-worker' } },
    pino.destination(2),
  );
  const auditSink = sink.child({}, { level: 'info' });
  const told = new Set<unknown>();
  Runtime.install({
    // SIGTERM is ours: the worker ends once its tasks are done.
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: { core: logLevel === 'debug' ? 'INFO' : 'WARN', other: 'ERROR' }, forward: {} },
      ...(buffer && { metrics: { buffer } }),
    },
    // `shownEntry` raises some warnings to errors: the sink judges the level that it returns.
    logger: new DefaultLogger(logLevel === 'debug' ? 'DEBUG' : 'INFO', (entry) => {
      const shown = shownEntry(entry, told);
      if (!shown) return;
      const to = 'auditHash' in shown.fields ? auditSink : sink;
      to[shown.level.toLowerCase() as Lowercase<LogLevel>](shown.fields, shown.message);
    }),
  });
}
