import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startDevServer } from '../../scripts/temporal/dev-server.js';

/** A Temporal server of a test's own, whose database can be backed up and put back. */
export interface Restorable {
  address: string;
  /** Both stop the server and start it again; nothing may use it meanwhile. */
  backUp(): Promise<void>;
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Starts such a server. */
export async function startRestorable(): Promise<Restorable> {
  const folder = await mkdtemp(join(tmpdir(), 'payment-orders-restored-'));
  const dbFile = join(folder, 'temporal.db');
  const options = { log: () => undefined, dbFile, port: await freePort() };
  let server = await startDevServer(options);
  /** What a stopped server leaves is in two files; the third is made anew from them. */
  const copyWhileStopped = async (from: string, to: string) => {
    await server.stop();
    for (const end of ['', '-wal']) await copyFile(`${from}${end}`, `${to}${end}`);
    await rm(`${to}-shm`, { force: true });
    server = await startDevServer(options);
  };
  return {
    address: server.address,
    backUp: () => copyWhileStopped(dbFile, `${dbFile}.backup`),
    restore: () => copyWhileStopped(`${dbFile}.backup`, dbFile),
    close: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
