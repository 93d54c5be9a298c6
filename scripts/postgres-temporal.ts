/** `npm run temporal:postgres`: Temporal on a throw-away PostgreSQL until Ctrl-C; its first line says how to use it. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NEW_NAMESPACES, preparePostgresTemporal } from './temporal/postgres-server.js';

const log = (line: string): void => void process.stderr.write(`${line}\n`);
const stopped = new Promise<void>((resolve) => {
  // Neither the servers nor a wait for signals keeps the process.
  const keep = setInterval(() => {}, 60_000);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      clearInterval(keep);
      resolve();
    });
  }
});
const folder = await mkdtemp(join(tmpdir(), 'payment-orders-postgres-'));
// PostgreSQL's own user has to come through; what is secret in it has modes of its own.
await chmod(folder, 0o711);
const temporal = await preparePostgresTemporal(folder, log, NEW_NAMESPACES);
try {
  const server = await temporal.start();
  process.stdout.write(`export TEMPORAL_ADDRESS=${server.address} TEMPORAL_NAMESPACE=${server.namespace}\n`);
  // The file is the shortest way to learn why it answers as it does.
  log(`its log: ${join(folder, 'temporal-server.log')}; Ctrl-C ends it and removes everything`);
  await stopped;
  await server.stop();
} finally {
  await temporal.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);
