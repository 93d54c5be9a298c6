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

const FILE_PREFIX = 'temporal';
/** No byte for this long means that the download host cannot be reached from here. */
const STALLED_MS = 20_000;

const sdkVersion: string = createRequire(import.meta.url)('@temporalio/worker/package.json').version;

/** A release of the command line tool that the SDK has downloaded before, here or in its own default place. */
export function findSdkDownload(release: string): string | undefined {
  return [cacheFolder(), tmpdir()].map((folder) => fileIn(folder, release)).find((file) => file !== undefined);
}

/** Has the SDK download it into the user's cache; undefined, quickly, where the download cannot be had. */
export async function downloadThroughSdk(release: string, log: Log): Promise<string | undefined> {
  const folder = folderIn(cacheFolder(), release);
  await mkdir(folder, { recursive: true });
  log('Downloading the Temporal command line tool through the Temporal SDK');
  const child = [...programOf('scripts/temporal/sdk-download-child.ts'), folder, sdkVersion, release];
  const download = spawn('node', child, { stdio: 'ignore' });
  let running = true;
  const ended = once(download, 'exit').catch(() => undefined);
  void ended.then(() => {
    running = false;
  });
  const target = () => fileIn(cacheFolder(), release);
  await watch(folder, () => running && target() === undefined, log);
  // The SDK's runtime stays on SIGTERM.
  download.kill('SIGKILL');
  await ended;
  const found = target();
  if (found === undefined) {
    log('The download cannot be had from here');
    await rm(folder, { recursive: true, force: true });
  }
  return found;
}

/** A release has a folder of its own, whatever the SDK calls its file there. */
const folderIn = (folder: string, release: string): string => join(folder, `${FILE_PREFIX}-${release}`);

function fileIn(parent: string, release: string): string | undefined {
  const folder = folderIn(parent, release);
  const name = namesIn(folder).find((one) => one.startsWith(FILE_PREFIX) && !one.endsWith(PARTIAL));
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
