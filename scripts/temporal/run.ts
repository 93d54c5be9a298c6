import { type ExecFileException, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { elapsedSince, type Log, PROGRESS_INTERVAL_MS } from './cache.js';

const execute = promisify(execFile);

type Output = { stdout: string; stderr: string };

/** Standard output and error of a short command, or undefined when it is not installed or fails. */
export async function outputOf(command: string, args: string[]): Promise<string | undefined> {
  const output = await execute(command, args, { timeout: 20_000 }).catch(() => undefined);
  return output && output.stdout + output.stderr;
}

/** Standard output of a command. Throws where it fails. */
export const stdoutOf = async (command: string, args: string[]): Promise<string> =>
  (await execute(command, args)).stdout;

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
    await execute(command, args, { env: { ...process.env, ...env }, maxBuffer: Number.POSITIVE_INFINITY });
    log(`${what}: done after ${elapsedSince(startedAtMs)}`);
  } catch (error) {
    const { stdout, stderr } = error as ExecFileException & Output;
    const end = `${stdout}${stderr}`.trimEnd().split('\n').slice(-20).join('\n');
    throw new Error(`${what} failed (${command} ${args[0]}):\n${end}`);
  } finally {
    clearInterval(timer);
  }
}
