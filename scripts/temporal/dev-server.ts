import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';
import type { Log } from './cache.js';
import { findTemporalCli } from './find-cli.js';
import { endWithParent } from './watchdog.js';

/** Where servers of ours listen. */
export const HOST = '127.0.0.1';
const NAMESPACE = 'default';
/** The SDK allows 5 s, which a busy machine exceeds. */
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 10_000;
/** Closed orders guard their ids for as long as they are kept: a month, as on Temporal Cloud. */
const RETENTION = '30 days';

/** What every server of tests and the bench needs, whatever its database: timers below 1 s, and namespaces usable at once. */
export const FOR_TESTS = {
  // Without it every timer and retry below 1 s takes 1 s.
  'history.timerProcessorMaxTimeShift': '10ms',
  // Each timer is then read by itself: with the default of 20 reads a second, busy servers fire timers many seconds late.
  'history.timerProcessorMaxPollRPS': 1000,
  // Schedules of a new namespace run only after the next refresh.
  'system.namespaceCacheRefreshInterval': '500ms',
};

const DYNAMIC_CONFIG = {
  ...FOR_TESTS,
  // As deploy/ has it: a worker of another namespace may give no commands to this one.
  'system.enableCrossNamespaceCommands': false,
  // Priorities need the new matcher, which is off by default in some servers.
  'matching.useNewMatcher': true,
  // Rate limits and priorities are kept per partition: one makes them exact.
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
};

/** Which database and ports a dev server uses; the same ones again = the same server after a crash. */
export type DevServerOptions = {
  log: Log;
  /** SQLite file that keeps everything; omitted = a temporary one, removed at the end. */
  dbFile?: string;
  /** Port of the gRPC API; omitted = a free one. */
  port?: number;
  /** Port of the Web UI, `true` = a free one; omitted = no Web UI. */
  uiPort?: number | true;
  /** More of the server's dynamic settings, such as limits of histories that a test wants to meet soon. */
  dynamicConfig?: Record<string, number | boolean>;
};

/** A running dev server. It also ends when this process ends, however that happens. */
export type DevServer = {
  /** host:port of the gRPC API. */
  address: string;
  /** Base URL of the Web UI, when asked for. */
  uiUrl?: string;
  namespace: string;
  pid: number;
  /** Ends the server in good order. */
  stop(): Promise<void>;
  /** Ends it as a crash would (SIGKILL). */
  kill(): Promise<void>;
};

/** Starts Temporal's dev server and waits until it can be used; throws with the end of its log when it cannot. */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const cli = await findTemporalCli(options.log);
  // A wanted port is tried as well: on a taken one we would take the other server's answers for ours.
  const port = await freePort(options.port);
  const uiPort = options.uiPort && (await freePort(options.uiPort === true ? 0 : options.uiPort));
  const tempFolder =
    options.dbFile === undefined ? await mkdtemp(join(tmpdir(), 'payment-orders-temporal-')) : undefined;
  const dbFile = options.dbFile ?? join(tempFolder ?? '', 'temporal.db');
  const address = `${HOST}:${port}`;
  const server = await launch(cli, commandLine(dbFile, port, uiPort, options.dynamicConfig), `${dbFile}.log`);
  const release = endWithParent(server, tempFolder);

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    await endProcess(server, signal);
    release();
    if (tempFolder !== undefined) await rm(tempFolder, { recursive: true, force: true });
  };
  try {
    await waitUntilUsable(address, server);
  } catch (error) {
    const serverLog = await readFile(`${dbFile}.log`, 'utf8').catch(() => '');
    await end('SIGKILL');
    throw new Error(`The Temporal dev server did not start: ${(error as Error).message}\n${serverLog.slice(-3000)}`);
  }
  return {
    address,
    uiUrl: uiPort === undefined ? undefined : `http://${HOST}:${uiPort}`,
    namespace: NAMESPACE,
    pid: server.pid ?? 0,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

function commandLine(dbFile: string, port: number, uiPort: number | undefined, more: object = {}): string[] {
  // biome-ignore format: flags read best in pairs
  return [
    'server', 'start-dev', '--log-level', 'error',
    '--ip', HOST, '--port', `${port}`,
    ...(uiPort === undefined ? ['--headless'] : ['--ui-ip', HOST, '--ui-port', `${uiPort}`]),
    // As fast as a database in memory, and it survives a kill of the process (not of the machine).
    '--db-filename', dbFile, '--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=off',
    ...Object.entries({ ...DYNAMIC_CONFIG, ...more }).flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${JSON.stringify(value)}`]),
    ...Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => ['--search-attribute', `${name}=${cliTypeOf(type)}`]),
  ];
}

/** KEYWORD → Keyword, as the command line spells it. */
const cliTypeOf = (type: string): string => type[0] + type.slice(1).toLowerCase();

/** Starts a server with its output in `logFile`. */
export async function launch(cli: string, args: string[], logFile: string): Promise<ChildProcess> {
  const log = await open(logFile, 'a');
  try {
    // Detached: Ctrl-C reaches only our process, which then ends its workers before the server they talk to.
    const server = spawn(cli, args, { detached: true, stdio: ['ignore', log.fd, log.fd] });
    await once(server, 'spawn');
    server.unref();
    return server;
  } finally {
    await log.close();
  }
}

/** Resolves once the server answers for its namespace, whose retention it gets. */
export async function waitUntilUsable(address: string, server: ChildProcess): Promise<void> {
  const deadlineMs = Date.now() + START_LIMIT_MS;
  for (;;) {
    if (hasEnded(server)) throw new Error(`it ended with ${server.exitCode ?? server.signalCode}`);
    try {
      return await prepareNamespace(address);
    } catch (error) {
      if (Date.now() > deadlineMs) throw new Error(`not usable after ${START_LIMIT_MS / 1000} s`, { cause: error });
    }
    await sleep(100);
  }
}

async function prepareNamespace(address: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: 2_000 });
  try {
    const workflowExecutionRetentionTtl = msToTs(RETENTION);
    await connection.workflowService.updateNamespace({
      namespace: NAMESPACE,
      config: { workflowExecutionRetentionTtl },
    });
  } finally {
    await connection.close();
  }
}

const hasEnded = (server: ChildProcess): boolean => server.exitCode !== null || server.signalCode !== null;

/** Ends a server by a signal, and by SIGKILL where that takes too long. */
export async function endProcess(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(server)) return;
  const exited = once(server, 'exit');
  server.ref();
  server.kill(signal);
  const tooLate = setTimeout(() => server.kill('SIGKILL'), STOP_LIMIT_MS);
  await exited;
  clearTimeout(tooLate);
}

/** Below the ports that systems give to outgoing connections, one of which would take it before its program listens. */
const [LOWEST_PORT, HIGHEST_PORT] = [16_384, 32_767];

/** A TCP port of the loopback address that nobody listens on; throws when the wanted one is taken. */
export async function freePort(wanted?: number): Promise<number> {
  for (;;) {
    const port = wanted || randomInt(LOWEST_PORT, HIGHEST_PORT + 1);
    const probe = createServer().listen(port, HOST);
    const taken = await once(probe, 'listening').then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (!taken) {
      probe.close();
      await once(probe, 'close');
      return port;
    }
    if (wanted) throw taken.error;
  }
}
