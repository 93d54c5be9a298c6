import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import type { Log } from './cache.js';
import { type DevServer, endProcess, FOR_TESTS, freePort, HOST, launch, waitUntilUsable } from './dev-server.js';
import { findTemporalCli } from './find-cli.js';
import { findTemporalServer } from './find-server.js';
import { type PostgresCluster, startPostgres } from './postgres-cluster.js';
import { endWithParent } from './watchdog.js';

const DEPLOY = fileURLToPath(new URL('../../deploy/temporal', import.meta.url));
const NAMESPACE = 'default';
const SERVICES = ['frontend', 'history', 'matching', 'worker'] as const;

/** Search attributes are usable as soon as they are made, in new namespaces, too; but each run of a list costs a query more. */
export const NEW_NAMESPACES = { ...FOR_TESTS, 'system.forceSearchAttributesCacheRefreshOnRead': true };

type Ports = Record<(typeof SERVICES)[number], { grpc: number; membership: number }>;

/** Temporal on a PostgreSQL of its own: `start` runs the server, again after a crash, on the same data and port. */
export type PostgresTemporal = { start(): Promise<DevServer>; stop(): Promise<void> };

/** Makes the databases in `folder` as deploy/ does it for an installation. `settings`: of the server once it is set up. */
export async function preparePostgresTemporal(
  folder: string,
  log: Log,
  settings: Record<string, unknown> = FOR_TESTS,
): Promise<PostgresTemporal> {
  const programs = await findTemporalServer(log);
  log('making the databases');
  const postgres = await startPostgres(join(folder, 'postgres'));
  try {
    await setUp('set-up-schema.sh', programs, {
      ...{ SQL_HOST: HOST, SQL_PORT: `${postgres.port}` },
      ...{ SQL_USER: postgres.user, SQL_PASSWORD: postgres.password },
    });
    const ports = await drawPorts();
    await writeConfiguration(folder, postgres, ports);
    const start = () => startServer({ folder, programs, settings, log }, ports.frontend.grpc);
    return { start, stop: postgres.stop };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

interface Installation {
  folder: string;
  programs: string;
  settings: Record<string, unknown>;
  log: Log;
}

async function startServer({ folder, programs, settings, log }: Installation, port: number): Promise<DevServer> {
  const address = `${HOST}:${port}`;
  const logFile = join(folder, 'temporal-server.log');
  const args = ['--root', folder, '--config', 'config', '--env', 'server', '--allow-no-auth', 'start'];
  await writeSettings(folder, NEW_NAMESPACES);
  const server = await launch(join(programs, 'temporal-server'), args, logFile);
  const release = endWithParent(server);
  const end = async (signal: NodeJS.Signals) => {
    await endProcess(server, signal);
    release();
  };
  try {
    const cli = await findTemporalCli(log);
    // A `temporal` that stands in PATH has no folder to add.
    const path = cli.includes('/') ? dirname(cli) : programs;
    const ended = once(server, 'exit').then(([code]) => Promise.reject(new Error(`it ended with ${code}`)));
    ended.catch(() => undefined);
    const env = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: NAMESPACE };
    await Promise.race([setUp('set-up-namespace.sh', path, env), ended]);
    await waitUntilUsable(address, server);
    await writeSettings(folder, settings);
  } catch (error) {
    await end('SIGKILL');
    const tail = (await readFile(logFile, 'utf8').catch(() => '')).slice(-3000);
    throw new Error(`Temporal on PostgreSQL did not start: ${(error as Error).message}\n${tail}`);
  }
  const [stop, kill] = [() => end('SIGTERM'), () => end('SIGKILL')];
  return { address, namespace: NAMESPACE, pid: server.pid ?? 0, stop, kill };
}

async function setUp(script: string, programs: string, env: Record<string, string>): Promise<void> {
  const path = [programs, process.env.PATH].join(delimiter);
  await execa('sh', [join(DEPLOY, script)], { env: { ...env, PATH: path }, all: true });
}

/** The server keeps its ports in PostgreSQL as `smallint`: 32768 and above stop it at start. `freePort` stays below. */
async function drawPorts(): Promise<Ports> {
  const ports: [string, Ports['frontend']][] = [];
  for (const name of SERVICES) {
    ports.push([name, { grpc: await freePort(), membership: await freePort() }]);
  }
  return Object.fromEntries(ports) as Ports;
}

/** JSON is YAML, too. */
async function writeConfiguration(folder: string, postgres: PostgresCluster, ports: Ports): Promise<void> {
  await mkdir(join(folder, 'config'), { recursive: true });
  const file = join(folder, 'config', 'server.yaml');
  const content = configuration(postgres, ports, join(folder, SETTINGS_FILE));
  await writeFile(file, JSON.stringify(content, null, 2), { mode: 0o600 });
}

const SETTINGS_FILE = 'dynamic-config.yaml';

/** Writes what the server reads again every ten seconds: deploy/temporal/dynamic-config.yaml, and what only tests need. */
async function writeSettings(folder: string, settings: Record<string, unknown>): Promise<void> {
  const more = Object.entries(settings).map(([key, value]) => `${key}:\n  - value: ${JSON.stringify(value)}\n`);
  await writeFile(join(folder, SETTINGS_FILE), (await readFile(join(DEPLOY, SETTINGS_FILE), 'utf8')) + more.join(''));
}

function configuration({ port, user, password }: PostgresCluster, ports: Ports, dynamicConfig: string) {
  const database = (databaseName: string, maxConns: number) => ({
    sql: {
      ...{ pluginName: 'postgres12', databaseName, connectAddr: `${HOST}:${port}`, connectProtocol: 'tcp' },
      ...{ user, password, maxConns, maxIdleConns: maxConns },
    },
  });
  const rpcAddress = `${HOST}:${ports.frontend.grpc}`;
  const services = SERVICES.map((name) => {
    const { grpc: grpcPort, membership: membershipPort } = ports[name];
    return [name, { rpc: { grpcPort, membershipPort, bindOnLocalHost: true } }];
  });
  return {
    log: { stdout: true, level: 'error' },
    persistence: {
      ...{ defaultStore: 'main', visibilityStore: 'visibility', numHistoryShards: 4 },
      datastores: { main: database('temporal', 20), visibility: database('temporal_visibility', 10) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: HOST } },
    services: Object.fromEntries(services),
    clusterMetadata: {
      ...{ enableGlobalNamespace: false, failoverVersionIncrement: 10 },
      ...{ masterClusterName: 'active', currentClusterName: 'active' },
      clusterInformation: { active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress } },
    },
    publicClient: { hostPort: rpcAddress },
    dynamicConfigClient: { filepath: dynamicConfig, pollInterval: '10s' },
  };
}
