import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
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

/** A server that the SDK has downloaded before, here or in its own default place; undefined when there is none. */
export function findSdkDownload(kind: SdkServer): string | undefined {
  return [cacheFolder(), tmpdir()].map((folder) => pathIn(folder, kind)).find(existsSync);
}

/** Has the SDK download a server into the user's cache; undefined, quickly, where the download cannot be had. */
export async function downloadThroughSdk(kind: SdkServer, log: Log): Promise<string | undefined> {
  await mkdir(cacheFolder(), { recursive: true });
  const target = pathIn(cacheFolder(), kind);
  log(`Downloading ${LABEL[kind]} through the Temporal SDK`);
  const child = [...programOf('scripts/temporal/sdk-download-child.ts'), kind, cacheFolder(), sdkVersion];
  const download = spawn('node', child, { stdio: 'ignore' });
  let running = true;
  const ended = once(download, 'exit').catch(() => undefined);
  void ended.then(() => {
    running = false;
  });
  await watch(target, () => running, log);
  // The SDK's runtime stays on SIGTERM.
  download.kill('SIGKILL');
  await ended;
  if (!existsSync(target)) log('The download cannot be had from here');
  return existsSync(target) ? target : undefined;
}

const pathIn = (folder: string, kind: SdkServer): string =>
  join(folder, `${FILE_PREFIX[kind]}-sdk-typescript-${sdkVersion}`);

/** Returns once the child has ended, or the file is complete, or nothing has arrived for a while. */
async function watch(target: string, isRunning: () => boolean, log: Log): Promise<void> {
  const startedAtMs = Date.now();
  let [bytes, progressAtMs, loggedAtMs] = [0, startedAtMs, startedAtMs];
  while (isRunning() && !existsSync(target) && Date.now() - progressAtMs < STALLED_MS) {
    await sleep(200);
    const now = statSync(`${target}.downloading`, { throwIfNoEntry: false })?.size ?? 0;
    if (now > bytes) [bytes, progressAtMs] = [now, Date.now()];
    if (Date.now() - loggedAtMs > PROGRESS_INTERVAL_MS) {
      log(`Downloading: ${Math.round(bytes / 1e6)} MB, ${elapsedSince(startedAtMs)}`);
      loggedAtMs = Date.now();
    }
  }
}
