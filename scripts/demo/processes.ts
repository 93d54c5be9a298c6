import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const READY_WITHIN_MS = 90_000;
/** Kept of what a process printed, to be shown when it ends without being asked to. */
const TAIL_LINES = 15;

/** A process of the stack. `ready` is what followed the word on its ready line. */
export interface StackProcess {
  name: string;
  ready: string;
  /** Rejects, with the last lines printed, when the process ends without `stop`. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

/** Starts one of our TypeScript entry points and waits for its `ready` line. Throws with its last lines when it fails. */
export async function startProcess(name: string, entry: string, env: Record<string, string>): Promise<StackProcess> {
  const child = execa(process.execPath, ['--import', 'tsx', entry], {
    cwd: ROOT,
    env,
    extendEnv: false,
    reject: false,
    buffer: false,
    stdin: 'ignore',
    // Ctrl-C reaches the script alone, which then stops its processes in order.
    detached: true,
    cleanup: true,
  });
  const tail: string[] = [];
  const keep = (line: string) => void (tail.push(line) > TAIL_LINES && tail.shift());
  createInterface({ input: child.stderr }).on('line', keep);
  let stopping = false;
  const failed = child.then(({ exitCode, signal }) => {
    if (stopping) return new Promise<never>(() => {});
    throw new Error(`${name} ended by itself (${signal ?? `exit ${exitCode}`})\n${tail.join('\n')}`);
  });
  failed.catch(() => undefined);
  const ready = await Promise.race([readyLine(child.stdout, keep), failed, tooSlow(name)]);
  return {
    name,
    ready,
    failed,
    stop: async () => {
      stopping = true;
      child.kill('SIGTERM');
      await child;
    },
  };
}

function readyLine(stdout: Readable, keep: (line: string) => void): Promise<string> {
  return new Promise((resolve) => {
    createInterface({ input: stdout }).on('line', (line) => {
      keep(line);
      if (line.startsWith('ready ')) resolve(line.slice('ready '.length));
    });
  });
}

async function tooSlow(name: string): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, READY_WITHIN_MS).unref());
  throw new Error(`${name} was not ready within ${READY_WITHIN_MS / 1000} s`);
}
