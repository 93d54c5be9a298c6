import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chown, mkdir, open, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { endProcess, freePort, HOST } from './dev-server.js';
import { outputOf } from './run.js';
import { endWithParent } from './watchdog.js';

const START_LIMIT_MS = 60_000;

/** Debian keeps these programs out of PATH. */
const PATH = [process.env.PATH, ...[18, 17, 16, 15, 14].map((version) => `/usr/lib/postgresql/${version}/bin`)].join(
  delimiter,
);

/** A PostgreSQL of its own for one run; nothing in it outlives its folder. */
export type PostgresCluster = { port: number; user: string; password: string; stop(): Promise<void> };

/** Makes a cluster in `folder` and starts it on the loopback address; throws with what to do where it cannot. */
export async function startPostgres(folder: string): Promise<PostgresCluster> {
  const [user, password] = ['temporal', randomBytes(24).toString('hex')];
  const owner = await ownerOfData();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (owner !== undefined) {
    for (const path of [folder, passwordFile]) await chown(path, owner.uid, owner.gid);
  }
  const data = join(folder, 'data');
  const env = { PATH };
  const initdb = ['-D', data, '-U', user, '-A', 'scram-sha-256', '--pwfile', passwordFile, '-E', 'UTF8', '--no-locale'];
  await execa('initdb', [...initdb, '--no-sync'], { env, ...owner, cwd: folder });
  const port = await freePort();
  const log = await open(join(folder, 'postgres.log'), 'a');
  // biome-ignore format: flags read best in pairs
  const settings = [
    '-D', data, '-p', `${port}`, '-h', HOST, '-k', '',
    '-c', 'max_connections=200',
    // It survives a kill of the processes, not of the machine.
    '-c', 'fsync=off',
  ];
  const server = spawn('postgres', settings, {
    ...{ ...owner, cwd: folder, env: { ...process.env, PATH } },
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  await once(server, 'spawn');
  server.unref();
  await log.close();
  const release = endWithParent(server);
  await untilItAnswers(server, port);
  const stop = async () => {
    // Fast shutdown: SIGTERM would wait for every client to leave.
    await endProcess(server, 'SIGINT');
    release();
  };
  return { port, user, password, stop };
}

/** PostgreSQL refuses to run as root: then it runs as the user that its package made. */
async function ownerOfData(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => outputOf('id', [flag, 'postgres'])));
  if (!uid || !gid)
    throw new Error('PostgreSQL does not run as root, and there is no user postgres: run this as another user');
  return { uid: Number(uid), gid: Number(gid) };
}

async function untilItAnswers(server: ChildProcess, port: number): Promise<void> {
  const deadlineMs = Date.now() + START_LIMIT_MS;
  for (;;) {
    const { exitCode } = await execa('pg_isready', ['-h', HOST, '-p', `${port}`], {
      env: { PATH },
      reject: false,
    });
    if (exitCode === 0) return;
    if (server.exitCode !== null || Date.now() > deadlineMs)
      throw new Error('PostgreSQL did not start: see postgres.log');
    await sleep(100);
  }
}
