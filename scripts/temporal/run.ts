import { execa } from 'execa';
import { elapsedSince, type Log, PROGRESS_INTERVAL_MS } from './cache.js';

/** Standard output and error of a short command, or undefined when it is not installed or fails. */
export async function outputOf(command: string, args: string[]): Promise<string | undefined> {
  const { all, failed } = await execa(command, args, { all: true, reject: false, timeout: 20_000 });
  return failed ? undefined : all;
}

/** Runs a command that takes minutes; says every few seconds that it is still working. Throws with the end of its output. */
export async function runLong(
  what: string,
  log: Log,
  command: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<void> {
  const startedAtMs = Date.now();
  const timer = setInterval(() => log(`${what}: still working, ${elapsedSince(startedAtMs)}`), PROGRESS_INTERVAL_MS);
  try {
    const { failed, all } = await execa(command, args, { all: true, reject: false, env });
    if (failed) throw new Error(`${what} failed (${command} ${args[0]}):\n${all.split('\n').slice(-20).join('\n')}`);
    log(`${what}: done after ${elapsedSince(startedAtMs)}`);
  } finally {
    clearInterval(timer);
  }
}
