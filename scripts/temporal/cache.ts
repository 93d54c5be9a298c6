import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Receives one line of progress for a person. */
export type Log = (line: string) => void;

/** How often a long step says that it is still working. */
export const PROGRESS_INTERVAL_MS = 8_000;

/** The user's cache folder of this project; survives a fresh clone. */
export function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'payment-orders');
}

/** '45 s', '3 min 5 s' since a `Date.now()` reading. */
export function elapsedSince(startedAtMs: number): string {
  const seconds = Math.round((Date.now() - startedAtMs) / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/**
 * Makes sure that the folder `target` exists: `fill` gets an empty folder, which takes its name only when complete, so
 * an interrupted run leaves nothing half. Two processes never fill the same target: the second waits for the first.
 */
export async function installOnce(target: string, log: Log, fill: (folder: string) => Promise<void>): Promise<void> {
  if (existsSync(target)) return;
  await mkdir(dirname(target), { recursive: true });
  const unlock = await lock(`${target}.lock`, log);
  try {
    if (existsSync(target)) return;
    await removePartials(target);
    const partial = `${target}.partial-${process.pid}`;
    await mkdir(partial);
    try {
      await fill(partial);
      await rename(partial, target);
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  } finally {
    await unlock();
  }
}

/** What an earlier, interrupted run left; nobody works on it while we hold the lock. */
async function removePartials(target: string): Promise<void> {
  const prefix = `${basename(target)}.partial-`;
  const names = (await readdir(dirname(target))).filter((name) => name.startsWith(prefix));
  await Promise.all(names.map((name) => rm(join(dirname(target), name), { recursive: true, force: true })));
}

async function lock(file: string, log: Log): Promise<() => Promise<void>> {
  const startedAtMs = Date.now();
  let lastLogMs = 0;
  for (;;) {
    try {
      await writeFile(file, String(process.pid), { flag: 'wx' });
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (await ownerIsGone(file)) {
      await rm(file, { force: true });
      continue;
    }
    if (Date.now() - lastLogMs > PROGRESS_INTERVAL_MS) {
      log(
        `Another process is already preparing ${basename(file, '.lock')}; waiting for it (${elapsedSince(startedAtMs)})`,
      );
      lastLogMs = Date.now();
    }
    await sleep(500);
  }
}

async function ownerIsGone(file: string): Promise<boolean> {
  const age = await stat(file).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  );
  const pid = Number(await readFile(file, 'utf8').catch(() => ''));
  // No id yet: its owner writes it in a moment, unless it died right there.
  return pid === 0 ? age > 10_000 : isGone(pid);
}

/** True when no process has this id any more. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
