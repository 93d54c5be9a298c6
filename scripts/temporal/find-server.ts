import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder, installOnce, type Log } from './cache.js';
import { wantedServer } from './find-cli.js';
import { outputOf, runLong } from './run.js';

const SERVER_MODULE = 'go.temporal.io/server';

/** Folder of `temporal-server` and `temporal-sql-tool`, built with Go once per machine (minutes). */
export async function findTemporalServer(log: Log): Promise<string> {
  const version = wantedServer();
  const target = join(cacheFolder(), `temporal-server-v${version}`);
  await installOnce(target, log, async (folder) => {
    if ((await outputOf('go', ['version'])) === undefined)
      throw new Error('Temporal’s server is built with Go: install Go');
    const bin = join(folder, 'bin');
    await mkdir(bin);
    const programs = ['cmd/server', 'cmd/tools/sql'].map((path) => `${SERVER_MODULE}/${path}@v${version}`);
    await runLong('Building the Temporal server', log, 'go', ['install', '-p', '1', ...programs], { GOBIN: bin });
    await rename(join(bin, 'server'), join(folder, 'temporal-server'));
    await rename(join(bin, 'sql'), join(folder, 'temporal-sql-tool'));
    await rm(bin, { recursive: true });
  });
  return target;
}
