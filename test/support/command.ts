import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

const READY_WITHIN_MS = 180_000;

/** A command as a terminal runs it: a process group, which gets a Ctrl-C together. */
export interface Command {
  /** Fields of its `ready` line. */
  ready: Record<string, string>;
  /** Sends Ctrl-C; resolves with the processes that it left. */
  interrupt(): Promise<string[]>;
}

/** Runs a command of an installed package, and waits for its `ready` line. */
export const run = (folder: string, name: string, args: string[] = [], more: Record<string, string> = {}) =>
  runProgram(folder, ['npx', name, ...args], more);

/** The same for any program. */
export async function runProgram(folder: string, [file = '', ...args]: string[], more: Record<string, string>) {
  const mark = randomUUID();
  const { TEMPORAL_ADDRESS, ...env } = process.env;
  const child = spawn(file, args, {
    cwd: folder,
    env: { ...env, ...more, RUN_MARK: mark },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const closed = once(child, 'close');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  onTestFinished(() => void (hasEnded() || process.kill(-(child.pid ?? 0), 'SIGKILL')));
  const interrupt = async () => {
    process.kill(-(child.pid ?? 0), 'SIGINT');
    await closed;
    return left(mark);
  };
  return { ready: await readyOf(child), interrupt } satisfies Command;
}

async function readyOf(child: ChildProcess): Promise<Record<string, string>> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data) => {
      output += data;
    });
  }
  const deadlineMs = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const line = /^ready (.*)\n/m.exec(output)?.[1];
    if (line) return Object.fromEntries([...line.matchAll(/([\w-]+)=(\S+)/g)].map(([, name, value]) => [name, value]));
    if (child.exitCode !== null || Date.now() > deadlineMs) throw new Error(`not ready: ${output}`);
    await sleep(100);
  }
}

/** Command lines of the processes that have this mark in their environment. Their guards may need a moment to end. */
async function left(mark: string): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const read = (id: string, file: string) => readFile(`/proc/${id}/${file}`, 'utf8').catch(() => '');
    const marked = await Promise.all(ids.map(async (id) => ((await read(id, 'environ')).includes(mark) ? id : '')));
    const lines = await Promise.all(marked.filter(Boolean).map((id) => read(id, 'cmdline')));
    if (lines.length === 0 || attempt === 20) return lines.map((line) => line.replaceAll('\0', ' '));
    await sleep(100);
  }
}
