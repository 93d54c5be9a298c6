import { existsSync } from 'node:fs';
import { chmod, cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FLOOR, isBelow } from '../../src/preflight/advisories.js';
import { cacheFolder, installOnce, type Log } from './cache.js';
import { outputOf, runLong, stdoutOf } from './run.js';
import { downloadThroughSdk, findSdkDownload } from './sdk-download.js';

/** The server that everything here is developed and tested with, and the release of the tool that brings it. */
const NEWEST = '1.32.0';
const CLI_RELEASE = 'v1.9.1';

/** Version of the server that is started. TEMPORAL_SERVER=floor: the oldest that is accepted. */
export const wantedServer = (): string => (process.env.TEMPORAL_SERVER === 'floor' ? FLOOR : NEWEST);

/**
 * A tool that Go can build: newer releases lack a part of their sources. It is built with the server above, for which
 * these texts of its sources change.
 */
const CLI_MODULE = 'github.com/temporalio/cli';
const CLI_VERSION = 'v1.5.1';
const CHANGES: { file: string; find: RegExp; replacement: string; onFloor?: true }[] = [
  {
    file: 'temporalcli/devserver/server.go',
    find: /\t"go\.temporal\.io\/server\/components\/callbacks"\n/,
    replacement: '',
  },
  {
    file: 'temporalcli/devserver/server.go',
    find: /\tdynConf\[callbacks\.AllowedAddresses\.Key\(\)\] = [\s\S]*?\n\t\}\n/,
    replacement: '',
  },
  {
    file: 'temporalcli/devserver/server.go',
    find: /dynamicconfig\.Key\(k\)/,
    replacement: 'dynamicconfig.MakeKey(k)',
    onFloor: true,
  },
  {
    file: 'temporalcli/commands.worker.go',
    find: /info\.GetProcessKey\(\)/,
    replacement: 'info.GetProcessId()',
    onFloor: true,
  },
];

/**
 * Path of a `temporal` command line tool whose dev server is new enough: the one on PATH, one that is cached, the SDK's
 * download, or one built with Go (minutes, once). Throws one error that says what to do when none can be had.
 */
export async function findTemporalCli(log: Log): Promise<string> {
  const wanted = wantedServer();
  const onPath = await serverVersion('temporal');
  const fits = (version: string) => (wanted === FLOOR ? version === FLOOR : !isBelow(version, FLOOR));
  if (onPath !== undefined && fits(onPath)) return 'temporal';
  if (onPath !== undefined) {
    log(`temporal on PATH brings server ${onPath}, ${FLOOR} is needed: using another one`);
  }
  const built = join(cacheFolder(), `temporal-cli-${CLI_VERSION}-server-${wanted}`);
  const builtCli = join(built, 'temporal');
  // No release of the tool is known that brings the floor.
  const release = wanted === NEWEST ? CLI_RELEASE : undefined;
  const cached = (release && findSdkDownload(release)) ?? (existsSync(builtCli) ? builtCli : undefined);
  if (cached !== undefined) return cached;
  const downloaded = release && (await downloadThroughSdk(release, log));
  if (downloaded !== undefined) return downloaded;
  await buildWithGo(built, wanted, log);
  return builtCli;
}

/** 'temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)' → '1.29.1'; undefined for any other text. */
export function parseServerVersion(versionOutput: string): string | undefined {
  return /\(Server (\d+\.\d+\.\d+)/.exec(versionOutput)?.[1];
}

async function serverVersion(cli: string): Promise<string | undefined> {
  return parseServerVersion((await outputOf(cli, ['--version'])) ?? '');
}

async function buildWithGo(target: string, version: string, log: Log): Promise<void> {
  if ((await outputOf('go', ['version'])) === undefined) {
    throw new Error(
      `No Temporal server can be started: there is no \`temporal\` on PATH (server ${FLOOR} or newer), it cannot be downloaded ` +
        'from here, and there is no Go to build it with. Install the Temporal CLI (https://docs.temporal.io/cli) or Go, ' +
        'or set TEMPORAL_ADDRESS to a running server.',
    );
  }
  await installOnce(target, log, async (folder) => {
    log(
      `Building the Temporal server ${version} with Go, because no ready-made one can be had here: 5 to 10 minutes, once`,
    );
    const source = join(folder, 'source');
    await copySource(source);
    for (const { file, find, replacement, onFloor } of CHANGES) {
      if (version === FLOOR && !onFloor) continue;
      const text = await readFile(join(source, file), 'utf8');
      if (!find.test(text)) throw new Error(`${CLI_MODULE}@${CLI_VERSION} has no ${find} in ${file}`);
      await writeFile(join(source, file), text.replace(find, replacement));
    }
    await stdoutOf('go', ['mod', 'edit', `-require=go.temporal.io/server@v${version}`, join(source, 'go.mod')]);
    const build = ['build', '-C', source, '-mod=mod', '-o', join(folder, 'temporal'), './cmd/temporal'];
    await runLong('Building the Temporal server', log, 'go', build);
    await rm(source, { recursive: true });
  });
}

/** Copies the sources of the tool out of Go's cache, which is read-only. */
async function copySource(target: string): Promise<void> {
  const found = await stdoutOf('go', ['mod', 'download', '-json', `${CLI_MODULE}@${CLI_VERSION}`]);
  const { Dir: downloaded } = JSON.parse(found) as { Dir: string };
  await cp(downloaded, target, { recursive: true });
  const entries = await readdir(target, { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => join(entry.parentPath, entry.name));
  for (const path of [target, ...paths]) await chmod(path, 0o755);
}
