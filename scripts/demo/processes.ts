import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { endProcess } from '../temporal/dev-server.js';
import { programOf } from '../temporal/program-of.js';
import { endWithParent } from '../temporal/watchdog.js';

const READY_WITHIN_MS = 180_000;
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

/** Starts one of our programs, named by its source, and waits for its `ready` line. Throws with its last lines when it fails. */
export async function startProcess(name: string, source: string, env: Record<string, string>): Promise<StackProcess> {
  const child = spawn(process.execPath, programOf(source), {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C reaches the script alone, which then stops its processes in order.
    detached: true,
  });
  endWithParent(child);
  const tail: string[] = [];
  const keep = (line: string) => void (tail.push(line) > TAIL_LINES && tail.shift());
  createInterface({ input: child.stderr }).on('line', keep);
  let stopping = false;
  const failed = once(child, 'exit').then(([exitCode, signal]) => {
    if (stopping) return new Promise<never>(() => {});
    throw new Error(`${name} ended by itself (${signal ?? `exit ${exitCode}`})\n${tail.join('\n')}`);
  });
  failed.catch(() => undefined);
  const ready = await Promise.race([readyLine(child.stdout, keep), failed, tooSlow(name, tail)]);
  return {
    name,
    ready,
    failed,
    stop: async () => {
      stopping = true;
      await endProcess(child, 'SIGTERM');
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

async function tooSlow(name: string, tail: readonly string[]): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, READY_WITHIN_MS).unref());
  throw new Error(`${name} was not ready within ${READY_WITHIN_MS / 1000} s\n${tail.join('\n')}`);
}
