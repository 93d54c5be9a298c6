import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Client } from '@temporalio/client';
import {
  NativeConnection,
  type NativeConnectionOptions,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { type ActivityDeps, confirmAttempt, createActivities, isCopied } from '../activities/index.js';
import { AuditRecord } from '../audit/audit-record.js';
import { encryptionMode, type WorkflowCode, workerConverter, workflowCode } from '../bundle/bundle.js';
import type { WorkerConfig } from '../config.js';
import { createTaskQueue, eventsTaskQueue, lookupTaskQueue, ORDERS_TASK_QUEUE } from '../contract/names.js';
import { messageOf } from '../contract/words.js';
import { findingsOf } from '../preflight/checks.js';
import { type Finding, namesOf, type Target } from '../preflight/findings.js';
import { checkStart, keepChecking, START_WITHIN, type Tell } from '../preflight/start.js';
import { versionName } from '../temporal/pollers.js';
import { publishedFor, publishingIdentity } from '../temporal/published.js';
import { connectTemporal, TemporalUnreachableError, temporalTarget, warnOfPlainPayloads } from '../temporal.js';
import { createSlots, openAccounts } from './accounts.js';
import { countCreates, refuseForeign } from './activity-interceptors.js';
import { createsCapacity, deliveriesCapacity, lookupsCapacity, ordersCapacity } from './capacity.js';
import { Failovers } from './failovers.js';
import { newIdentity, watchWorkers } from './limit-shares.js';
import { createMonitor } from './monitor.js';

/** A create must be let finish: its attempt may take 50 s, so a stopping worker waits a little longer. */
const SHUTDOWN_GRACE = '55s' as const;

/** Starts a worker; `run` ends after `stop`. Throws ConfigError and TemporalUnreachableError. */
export async function startWorker(config: WorkerConfig) {
  const monitor = createMonitor(config.monitoring);
  const stopTracing = config.traced ? (await import('./tracing.js')).startTracing() : undefined;
  // A signer that cannot be loaded is a mistake of configuration: it is said before anything that takes long.
  const accounts = await openAccounts(config.accounts);
  const { connectionOptions, address, namespace } = temporalTarget();
  const findings = await preflight(config, accounts);
  const connection = await NativeConnection.connect({ ...connectionOptions, ...UNCOMPRESSED }).catch(
    (error: unknown) => {
      throw new TemporalUnreachableError(address, namespace, messageOf(error));
    },
  );
  const code = await workflowCode(encryptionMode(config), Runtime.instance().logger);
  const identity = newIdentity();
  const { logger } = Runtime.instance();
  const others = (account: string) => watching.others(account).proven;
  const client = new Client({ connection, namespace });
  const checking = keepChecking(findings, () => findingsOf({ client, config, accounts, others }, 'W'), tell);
  const failovers = new Failovers(connection, namespace, logger);
  await failovers.look();
  const identityFor = (account: string) => publishingIdentity(identity, publishedFor(config, account));
  // Before the first task: the settings of other workers hold from the first send.
  const watching = await watchWorkers(
    [...accounts.values()].map(({ name, limiter }) => ({
      name,
      limiter,
      requestsPerSecond: config.accounts.get(name)?.requestsPerSecond,
    })),
    { connection, namespace, version: config.version, identityFor },
    logger,
    checking.soon,
  );
  const live = { failovers, others: (account: string) => watching.others(account).all };
  const workers = await createWorkers(config, { connection, namespace, identity, live }, code, accounts);
  const stopFailovers = failovers.start();
  const monitoring = await monitor.start({ connection, namespace, workers, accounts, findings: checking.findings });
  const run = Promise.all(workers.map((worker) => worker.run())).then(() => {
    watching.stop();
    stopFailovers();
    return Promise.all([monitoring.stop(), stopTracing?.()]).then(() => connection.close());
  });
  return {
    description: `temporal=${address} namespace=${namespace} accounts=${[...config.accounts.keys()].join(',')} ${protectionsOf(config)} identity=${identity}${monitoring.url ? ` metrics=${monitoring.url}` : ''}${config.traced ? ' traces=otlp' : ''} ${shownText(config)}`,
    findings: namesOf(findings),
    noticed: watching.noticed,
    run,
    stop: () => {
      checking.stop();
      for (const worker of workers) worker.shutdown();
      return run;
    },
  };
}

/** Compressing what is a few hundred bytes, or ciphertext, costs the worker and the server more work than it saves. */
const UNCOMPRESSED: Pick<NativeConnectionOptions, 'grpcCompression'> = { grpcCompression: { codec: 'none' } };

/** Where workers work. `live`: other workers and failovers as of now; absent = there are none. */
interface Workplace {
  connection: NativeConnection;
  namespace: string;
  identity?: string;
  live?: { failovers?: Failovers; others?: ActivityDeps['others'] };
}

/** One worker per task queue: workflows on one, and per account creates and look-ups apart. `nowMs`: their clock. */
export async function createWorkers(
  config: WorkerConfig,
  { connection, namespace, identity, live }: Workplace,
  workflows: WorkflowCode,
  opened?: Awaited<ReturnType<typeof openAccounts>>,
  nowMs?: ActivityDeps['nowMs'],
): Promise<Worker[]> {
  const accounts = opened ?? (await openAccounts(config.accounts));
  // Every line goes to the log as well: the hashes there, kept by another machine, show a record that was written again.
  const audit = config.auditDir && {
    audit: await AuditRecord.open(config.auditDir, ({ text, hash }) =>
      Runtime.instance().logger.info('audit', { audit: text, auditHash: hash }),
    ),
  };
  const copies = config.encryptionRequired && { isCopied };
  const clock = nowMs && { nowMs };
  const traced = config.traced ? [(await import('./tracing.js')).traceActivities] : [];
  const { failovers, others } = live ?? {};
  const activities = createActivities({
    ...{ ...config, ...audit, ...copies, ...clock, accounts, others },
    failedOverAtMs: () => failovers?.newestMs,
    confirmAttempt: async (details) => void (await Promise.all([confirmAttempt(details), failovers?.lookBeforeSend()])),
  });
  const common = {
    connection,
    namespace,
    ...(identity && { identity }),
    shutdownGraceTime: SHUTDOWN_GRACE,
    dataConverter: workerConverter(config, warnOfPlain()),
    interceptors: { activity: [...traced, refuseForeign, countCreates] },
    ...versionOptions(config.version, workflows),
  };
  const perAccount = [...config.accounts.values()].flatMap(({ name, requestsPerSecond }) => {
    return [
      {
        ...common,
        // Workers see each other on this queue; all other events have the short identity.
        ...(identity && { identity: publishingIdentity(identity, publishedFor(config, name)) }),
        taskQueue: createTaskQueue(name),
        activities,
        ...createsCapacity(config.accounts.size),
        ...createSlots(requestsPerSecond),
      },
      { ...common, taskQueue: lookupTaskQueue(name), activities, ...lookupsCapacity(config.accounts.size) },
    ];
  });
  const perReceiver = [...(config.receivers?.keys() ?? [])].map((name) => {
    return { ...common, taskQueue: eventsTaskQueue(name), activities, ...deliveriesCapacity() };
  });
  return Promise.all([
    // Batches and reconciliations heartbeat their progress here and must hear quickly that they are paused.
    Worker.create({
      ...common,
      taskQueue: ORDERS_TASK_QUEUE,
      activities,
      maxHeartbeatThrottleInterval: '1s',
      ...ordersCapacity(),
      ...workflows,
    }),
    ...[...perAccount, ...perReceiver].map((options) => Worker.create(options)),
  ]);
}

/** Returns the version of all queues; without one, histories name the code alone. */
const versionOptions = (
  version: WorkerConfig['version'],
  { workflowBundle }: WorkflowCode = {},
): Pick<WorkerOptions, 'workerDeploymentOptions' | 'buildId'> =>
  version
    ? { workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' } }
    : { buildId: codeName(workflowBundle) };

const CODE_DIGITS = 8;

/** Names the code in eight events of an order; the SDK's own name for it has 90 characters, a tenth of a history. */
function codeName(bundle: WorkflowCode['workflowBundle']): string {
  if (!bundle) return 'payment-orders';
  const code = 'code' in bundle ? bundle.code : readFileSync(bundle.codePath);
  return `payment-orders+${createHash('sha256').update(code).digest('hex').slice(0, CODE_DIGITS)}`;
}

const warnOfPlain = () => warnOfPlainPayloads((message, meta) => Runtime.instance().logger.warn(message, meta));

/** What a worker goes by, defaults included: one word each, since machines read the line, too. */
const shownText = ({ shown = {} }: WorkerConfig): string =>
  Object.entries(shown)
    .map(([name, value]) => `${name}=${value.replace(/\s/g, (blank) => encodeURIComponent(blank)) || 'none'}`)
    .join(' ');

/** How payloads are protected, for which accounts decisions must be signed, whether a record is kept: all workers must say the same. */
const protectionsOf = (config: WorkerConfig): string =>
  [
    `payloads=${encryptionMode(config)}`,
    `signed=${[...(config.approvers?.keys() ?? [])].join(',') || 'none'}`,
    `audit=${config.auditDir ? 'kept' : 'none'}`,
    ...(config.version ? [`version=${versionName(config.version)}`] : []),
  ].join(' ');

/** Ends a start that nothing could come of; what else is found is told. */
async function preflight(config: WorkerConfig, accounts: Target['accounts']): Promise<readonly Finding[]> {
  const { client, close } = await connectTemporal(config, START_WITHIN);
  try {
    // Temporal shows workers for minutes after their end, so that a start reports no difference.
    return await checkStart({ client, config, accounts, others: () => [] }, 'W', tell);
  } finally {
    await close();
  }
}

const tell: Tell = (level, text, about) => {
  const { logger } = Runtime.instance();
  if (level === 'error') logger.error(text, about);
  else if (level === 'warning') logger.warn(text, about);
  else logger.info(text, about);
};
