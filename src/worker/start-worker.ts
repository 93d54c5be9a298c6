import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import {
  NativeConnection,
  type NativeConnectionOptions,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import type { ActivityDeps } from '../activities/index.js';
import { AuditRecord } from '../audit/audit-record.js';
import { encryptionMode, type WorkflowCode, workerConverter, workflowCode } from '../bundle/bundle.js';
import type { WorkerConfig } from '../config.js';
import { messageOf } from '../contract/failures.js';
import { createTaskQueue, eventsTaskQueue, lookupTaskQueue, ORDERS_TASK_QUEUE } from '../contract/names.js';
import { findingsOf } from '../preflight/checks.js';
import { type Finding, namesOf, type Target } from '../preflight/findings.js';
import { oldNodeWarning } from '../preflight/node.js';
import { checkStart, keepChecking, START_WITHIN, type Tell } from '../preflight/start.js';
import { versionName } from '../temporal/pollers.js';
import { publishedFor, publishingIdentity } from '../temporal/published.js';
import { connectTemporal, TemporalUnreachableError, temporalTarget, warnOfPlainPayloads } from '../temporal.js';
import { createSlots, createsCapacity, lookupsCapacity, openAccounts, ordersCapacity, pollers } from './accounts.js';
import { activitiesOf, type Live } from './activities.js';
import { deliverySlots } from './delivery-slots.js';
import { Failovers } from './failovers.js';
import { countCreates, refuseForeign } from './interceptors.js';
import { newIdentity, watchWorkers } from './limit-shares.js';
import { createMonitor } from './monitor.js';
import { runAll, SHUTDOWN_GRACE_MS, shutDown } from './run-workers.js';

/** Starts a worker; `run` ends after `stop`. Throws ConfigError and TemporalUnreachableError. */
export async function startWorker(config: WorkerConfig) {
  const monitor = createMonitor(config.monitoring);
  const stopTracing = config.traced ? (await import('./tracing.js')).startWorkerTracing() : undefined;
  // Reports an unloadable signer before the slow steps.
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
  const oldNode = oldNodeWarning();
  if (oldNode) logger.warn(oldNode, { check: 'node' });
  const others = (account: string) => watching.others(account).proven;
  const client = new Client({ connection, namespace });
  const checking = keepChecking(findings, () => findingsOf({ client, config, accounts, others }, 'W'), tell);
  const failovers = new Failovers(connection, namespace, logger);
  await failovers.look();
  const identityFor = (account: string) => publishingIdentity(identity, publishedFor(config, account));
  // Starts before the first task: other workers' settings limit the first send.
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
  const run = runAll(workers).then(() => {
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
      shutDown(workers);
      return run;
    },
  };
}

/** Compressing small or encrypted messages costs more than it saves. */
const UNCOMPRESSED: Pick<NativeConnectionOptions, 'grpcCompression'> = { grpcCompression: { codec: 'none' } };

/** Environment of workers. `live`: other workers and failovers; absent = none. */
interface Workplace {
  connection: NativeConnection;
  namespace: string;
  identity?: string;
  live?: Live;
}

/**
 * Creates one worker per task queue: workflows, and creates and look-ups per account. `nowMs`:
 * their clock.
 */
export async function createWorkers(
  config: WorkerConfig,
  { connection, namespace, identity, live }: Workplace,
  workflows: WorkflowCode,
  opened?: Awaited<ReturnType<typeof openAccounts>>,
  nowMs?: ActivityDeps['nowMs'],
): Promise<Worker[]> {
  const accounts = opened ?? (await openAccounts(config.accounts));
  // The log keeps every line's hash, possibly on another machine, which reveals a rewritten record.
  const audit = config.auditDir && {
    audit: await AuditRecord.open(config.auditDir, ({ text, hash }) =>
      Runtime.instance().logger.info('audit', { audit: text, auditHash: hash }),
    ),
  };
  const traced = config.traced ? [(await import('./tracing.js')).traceActivities] : [];
  const activities = activitiesOf(config, accounts, { ...live, ...audit, ...(nowMs && { nowMs }) });
  const common = {
    connection,
    namespace,
    ...(identity && { identity }),
    shutdownGraceTime: SHUTDOWN_GRACE_MS,
    dataConverter: workerConverter(config, warnOfPlain()),
    interceptors: { activity: [...traced, refuseForeign, countCreates] },
    ...versionOptions(config.version, workflows),
  };
  const perAccount = [...config.accounts.values()].flatMap(({ name, requestsPerSecond }) => {
    return [
      {
        ...common,
        // Workers see each other on this queue. All other events have the short identity.
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
    const { tuner, intercept } = deliverySlots();
    return {
      ...{ ...common, taskQueue: eventsTaskQueue(name), activities, tuner, activityTaskPollerBehavior: pollers(1) },
      interceptors: { activity: [...common.interceptors.activity, intercept] },
    };
  });
  return Promise.all([
    // Batches and reconciliations heartbeat here and must notice a pause quickly.
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

/** Returns the version of all queues; without one, only a name of the code. */
const versionOptions = (
  version: WorkerConfig['version'],
  { workflowBundle }: WorkflowCode = {},
): Pick<WorkerOptions, 'workerDeploymentOptions' | 'buildId'> =>
  version
    ? { workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' } }
    : { buildId: codeName(workflowBundle) };

const CODE_DIGITS = 8;

/** Returns a short name of the code for histories. The SDK's name would be a tenth of a history. */
function codeName(bundle: WorkflowCode['workflowBundle']): string {
  if (!bundle) return 'payment-orders';
  const code = 'code' in bundle ? bundle.code : readFileSync(bundle.codePath);
  return `payment-orders+${createHash('sha256').update(code).digest('hex').slice(0, CODE_DIGITS)}`;
}

const warnOfPlain = () => warnOfPlainPayloads((message, meta) => Runtime.instance().logger.warn(message, meta));

/** Returns the effective settings, one word each, because programs read the line, too. */
const shownText = ({ shown = {} }: WorkerConfig): string =>
  Object.entries(shown)
    .map(([name, value]) => `${name}=${value.replace(/\s/g, (blank) => encodeURIComponent(blank)) || 'none'}`)
    .join(' ');

/** Returns the protections that all workers must share: payloads, signatures, audit record. */
const protectionsOf = (config: WorkerConfig): string =>
  [
    `payloads=${encryptionMode(config)}`,
    `signed=${[...(config.approvers?.keys() ?? [])].join(',') || 'none'}`,
    `audit=${config.auditDir ? 'kept' : 'none'}`,
    ...(config.version ? [`version=${versionName(config.version)}`] : []),
  ].join(' ');

/** Refuses a start that cannot work. Reports other findings. */
async function preflight(config: WorkerConfig, accounts: Target['accounts']): Promise<readonly Finding[]> {
  const { client, close } = await connectTemporal(config, START_WITHIN);
  try {
    // Temporal lists ended workers for minutes, so a start reports no differences.
    return await checkStart({ client, config, accounts, others: () => [] }, 'W', tell);
  } finally {
    // A check that is late repeats its call for a while, which would throw on a closed connection.
    void sleep(15_000, undefined, { ref: false }).then(close);
  }
}

const tell: Tell = (level, text, about) => {
  const { logger } = Runtime.instance();
  if (level === 'error') logger.error(text, about);
  else if (level === 'warning') logger.warn(text, about);
  else logger.info(text, about);
};
