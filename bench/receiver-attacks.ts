/**
 * Attacks the callback receiver on loopback, directly and through nginx, while genuine callbacks come at a steady pace:
 * `node --import tsx bench/receiver-attacks.ts [seconds] [attack …]`. Linux only. RECEIVER_DIST: another build of the receiver.
 */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { execa } from 'execa';
import { buildProduct, ROOT } from '../chaos/product.js';
import { freePort, startDevServer } from '../scripts/temporal/dev-server.js';
import { ATTACKS, type AttackName } from './receiver-attacks/attacks.js';
import { findNginx, startNginx } from './receiver-attacks/nginx.js';
import { besiege, type Outcome, TOKEN_KEY } from './receiver-attacks/siege.js';

const PER_SECOND = 20;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const [seconds = '15', ...named] = process.argv.slice(2);
const names = (named.length > 0 ? named : Object.keys(ATTACKS)) as AttackName[];

/** Starts a receiver of its own for each attack, so that memory and allowances are those of that attack alone. */
async function startReceiver(dist: string, address: string) {
  const port = await freePort();
  const env = {
    ...{ PATH: process.env.PATH ?? '', TEMPORAL_ADDRESS: address, CALLBACK_TOKEN_KEY: TOKEN_KEY },
    CALLBACK_PORT: `${port}`,
  };
  const child = execa(process.execPath, [join(dist, 'receiver.js')], {
    ...{ cwd: ROOT, env, extendEnv: false, reject: false, buffer: false, stderr: 'ignore', forceKillAfterDelay: 5_000 },
  });
  await new Promise<void>((resolve) => child.stdout?.once('data', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await child;
  };
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop };
}

const row = (name: string, route: string, { sent, answered, p50Ms, p99Ms, peakRssMiB, opened }: Outcome): string =>
  `| ${name} | ${route} | ${((answered / sent) * 100).toFixed(1)} % | ${p50Ms.toFixed(0)} ms | ${p99Ms.toFixed(0)} ms | ${peakRssMiB.toFixed(0)} MiB | ${opened} |`;

const folder = await realpath(await mkdtemp(join(tmpdir(), 'receiver-attacks-')));
const server = await startDevServer({ log: say });
const connection = await Connection.connect({ address: server.address });
const client = new Client({ connection, namespace: server.namespace });
try {
  const dist = process.env.RECEIVER_DIST ?? join(ROOT, 'node_modules', '.cache', 'receiver-attacks');
  if (process.env.RECEIVER_DIST === undefined) await buildProduct(dist);
  if (findNginx() === undefined) say('nginx is not installed: the attacks through it are left out');
  say(
    '| attack | route | answered | p50 | p99 | receiver, most memory | sockets opened |\n|---|---|---|---|---|---|---|',
  );
  for (const name of names) {
    for (const route of findNginx() === undefined ? ['direct'] : ['direct', 'nginx']) {
      const receiver = await startReceiver(dist, server.address);
      const proxy = route === 'nginx' ? await startNginx(join(folder, name), receiver.url) : undefined;
      const siege = {
        name,
        url: proxy?.url ?? receiver.url,
        receiverPid: receiver.pid,
        seconds: Number(seconds),
        perSecond: PER_SECOND,
      };
      say(row(name, route, await besiege(client, siege)));
      await proxy?.stop();
      await receiver.stop();
    }
  }
} finally {
  await connection.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
