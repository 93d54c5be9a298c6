import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder, installOnce, type Log } from './cache.js';
import { outputOf, runLong } from './run.js';
import { downloadThroughSdk, findSdkDownload } from './sdk-download.js';

/** Older servers lack parts of the API that the project uses (queue limits set by the API, priority). */
const MIN_SERVER = { major: 1, minor: 29 };
const CLI_MODULE = 'github.com/temporalio/cli/cmd/temporal';
const CLI_VERSION = 'v1.5.1';

/**
 * Path of a `temporal` command line tool whose dev server is new enough: the one on PATH, one that is cached, the SDK's
 * download, or one built with Go (minutes, once). Throws one error that says what to do when none can be had.
 */
export async function findTemporalCli(log: Log): Promise<string> {
  const onPath = await serverVersion('temporal');
  if (onPath !== undefined && isNewEnough(onPath)) return 'temporal';
  if (onPath !== undefined) {
    log(
      `temporal on PATH brings server ${onPath}, ${MIN_SERVER.major}.${MIN_SERVER.minor} is needed: using another one`,
    );
  }
  const built = join(cacheFolder(), `temporal-cli-${CLI_VERSION}`);
  const builtCli = join(built, 'temporal');
  const cached = findSdkDownload('cli') ?? (existsSync(builtCli) ? builtCli : undefined);
  if (cached !== undefined) return cached;
  const downloaded = await downloadThroughSdk('cli', log);
  if (downloaded !== undefined) return downloaded;
  await buildWithGo(built, log);
  return builtCli;
}

/** 'temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)' → '1.29.1'; undefined for any other text. */
export function parseServerVersion(versionOutput: string): string | undefined {
  return /\(Server (\d+\.\d+\.\d+)/.exec(versionOutput)?.[1];
}

/** Whether a server version has what the project needs. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > MIN_SERVER.major || (major === MIN_SERVER.major && minor >= MIN_SERVER.minor);
}

async function serverVersion(cli: string): Promise<string | undefined> {
  return parseServerVersion((await outputOf(cli, ['--version'])) ?? '');
}

async function buildWithGo(target: string, log: Log): Promise<void> {
  if ((await outputOf('go', ['version'])) === undefined) {
    throw new Error(
      'No Temporal server can be started: there is no `temporal` on PATH (server 1.29 or newer), it cannot be downloaded ' +
        'from here, and there is no Go to build it with. Install the Temporal CLI (https://docs.temporal.io/cli) or Go, ' +
        'or set TEMPORAL_ADDRESS to a running server.',
    );
  }
  await installOnce(target, log, async (folder) => {
    log(`Building the Temporal server with Go, because no ready-made one can be had here: 5 to 10 minutes, once`);
    const bin = join(folder, 'bin');
    await mkdir(bin);
    await runLong('Building the Temporal server', log, 'go', ['install', `${CLI_MODULE}@${CLI_VERSION}`], {
      GOBIN: bin,
    });
    await rename(join(bin, 'temporal'), join(folder, 'temporal'));
    await rm(bin, { recursive: true });
  });
}
