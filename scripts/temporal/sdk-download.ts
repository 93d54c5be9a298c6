import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheFolder, elapsedSince, type Log, PROGRESS_INTERVAL_MS } from './cache.js';
import { programOf } from './program-of.js';

/** The two servers the SDK can download by itself. */
export type SdkServer = 'cli' | 'test-server';

const LABEL = { cli: 'the Temporal command line tool', 'test-server': "Temporal's time-skipping test server" };
const FILE_PREFIX = { cli: 'temporal', 'test-server': 'temporal-test-server' };
/** No byte for this long means that the download host cannot be reached from here. */
const STALLED_MS = 20_000;

const sdkVersion: string = createRequire(import.meta.url)('@temporalio/worker/package.json').version;

/**
 * A server that the SDK has downloaded before, here or in its own default place; undefined when there is none. `release`: of
 * the server; without it, the one that belongs to the SDK's version.
 */
export function findSdkDownload(kind: SdkServer, release?: string): string | undefined {
  return [cacheFolder(), tmpdir()].map((folder) => fileIn(folder, kind, release)).find((file) => file !== undefined);
}

/** Has the SDK download a server into the user's cache; undefined, quickly, where the download cannot be had. */
export async function downloadThroughSdk(kind: SdkServer, log: Log, release?: string): Promise<string | undefined> {
  const folder = folderIn(cacheFolder(), kind, release);
  await mkdir(folder, { recursive: true });
  log(`Downloading ${LABEL[kind]} through the Temporal SDK`);
  const version = release ?? 'default';
  const child = [...programOf('scripts/temporal/sdk-download-child.ts'), kind, folder, sdkVersion, version];
  const download = spawn('node', child, { stdio: 'ignore' });
  let running = true;
  const ended = once(download, 'exit').catch(() => undefined);
  void ended.then(() => {
    running = false;
  });
  const target = () => fileIn(cacheFolder(), kind, release);
  await watch(folder, () => running && target() === undefined, log);
  // The SDK's runtime stays on SIGTERM.
  download.kill('SIGKILL');
  await ended;
  const found = target();
  if (found === undefined) {
    log('The download cannot be had from here');
    if (release) await rm(folder, { recursive: true, force: true });
  }
  return found;
}

/** A release has a folder of its own, whatever the SDK calls its file there. */
const folderIn = (folder: string, kind: SdkServer, release: string | undefined): string =>
  release ? join(folder, `${FILE_PREFIX[kind]}-${release}`) : folder;

function fileIn(parent: string, kind: SdkServer, release: string | undefined): string | undefined {
  const folder = folderIn(parent, kind, release);
  const isWhole = (name: string) => name.startsWith(FILE_PREFIX[kind]) && !name.endsWith(PARTIAL);
  const name = namesIn(folder).find((one) =>
    release ? isWhole(one) : one === `${FILE_PREFIX[kind]}-sdk-typescript-${sdkVersion}`,
  );
  return name && join(folder, name);
}

/** Another process that gave up may have removed the folder. */
const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

const PARTIAL = '.downloading';

/** Bytes that have arrived so far. */
const bytesIn = (folder: string): number =>
  namesIn(folder)
    .filter((name) => name.endsWith(PARTIAL))
    .reduce((sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0);

/** Returns once it is over, or nothing has arrived for a while. */
async function watch(folder: string, isOpen: () => boolean, log: Log): Promise<void> {
  const startedAtMs = Date.now();
  let [bytes, progressAtMs, loggedAtMs] = [0, startedAtMs, startedAtMs];
  while (isOpen() && Date.now() - progressAtMs < STALLED_MS) {
    await sleep(200);
    const now = bytesIn(folder);
    if (now > bytes) [bytes, progressAtMs] = [now, Date.now()];
    if (Date.now() - loggedAtMs > PROGRESS_INTERVAL_MS) {
      log(`Downloading: ${Math.round(bytes / 1e6)} MB, ${elapsedSince(startedAtMs)}`);
      loggedAtMs = Date.now();
    }
  }
}
