import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, inject } from 'vitest';
import type { SandboxStats } from '../../sandbox/admin.js';
import { compiledFolder } from '../support/compile.js';
import { type TestNamespace, useNamespace } from '../support/temporal.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const READY_LIMIT_MS = 60_000;

/** Key that workers sign callback URLs with and receivers verify. */
export const TOKEN_KEY = 'token-key-of-the-process-tests';

/** The whole environment of a process: nothing of ours is inherited. */
export type Env = Record<string, string>;

/** One of the project's processes, running on its own. */
export interface Process {
  pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves with the fields of its `ready` line; rejects with its stderr when it ends before. */
  ready: Promise<Record<string, string>>;
  /** Resolves with the exit code; null after a signal that it did not handle. */
  exited: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

const running = new Set<ChildProcess>();

/** The compiled program of a source file such as `src/worker.ts`; `sandbox` and `fixtures` beside this file are compiled, too. */
export const programOf = (entry: string): string =>
  isAbsolute(entry) ? entry : join(compiledFolder(inject('runFolder')), entry.replace(/\.ts$/, '.js'));

/** Starts the compiled program of a source file, or one by its path, with exactly that environment, PATH and TMPDIR apart. */
export function startProcess(
  entry: string,
  env: Env,
  { args = [], stdin = '', nodeOptions = [] }: { args?: string[]; stdin?: string; nodeOptions?: string[] } = {},
): Process {
  const { PATH = '', TMPDIR } = process.env;
  const child = spawn(process.execPath, [...nodeOptions, programOf(entry), ...args], {
    cwd: ROOT,
    env: { PATH, ...(TMPDIR && { TMPDIR }), ...env },
    stdio: 'pipe',
  });
  running.add(child);
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
    });
  }
  child.stdin.end(stdin);
  // 'close' and not 'exit': the output is complete then.
  const exited = once(child, 'close').then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  const ready = untilReady(child, exited, output);
  // Tests of processes that refuse to start do not look at it.
  ready.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    ready,
    exited,
    kill: (signal) => void child.kill(signal),
  };
}

async function untilReady(
  child: ChildProcess,
  exited: Promise<number | null>,
  output: { stdout: string; stderr: string },
): Promise<Record<string, string>> {
  const line = new Promise<string>((resolve) => {
    child.stdout?.on('data', () => {
      const found = /^ready .*\n/m.exec(output.stdout)?.[0];
      if (found) resolve(found.trim());
    });
  });
  const tooLate = AbortSignal.timeout(READY_LIMIT_MS);
  const timeout = once(tooLate, 'abort').then(() => 'timeout' as const);
  const text = await Promise.race([line, exited, timeout]);
  if (typeof text !== 'string' || text === 'timeout') throw new Error(`not ready (${text}): ${output.stderr}`);
  return Object.fromEntries([...text.matchAll(/(\w+)=(\S+)/g)].map(([, key = '', value = '']) => [key, value]));
}

/** Kills what a failed test left behind. Call it in afterAll. */
export async function endProcesses(): Promise<void> {
  const ends = [...running].map((child) => once(child, 'close'));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(ends);
}

/**
 * Sets a namespace up for the processes of a test file, and kills what a failed test left behind.
 * An `afterAll` that needs them ended is defined earlier.
 */
export function useProcesses(): TestNamespace {
  const temporal = useNamespace();
  afterAll(endProcesses);
  return temporal;
}

/** The most memory that a process had so far, in MiB. Throws once it is gone. */
export async function peakMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

/** Where to find a namespace: the whole Temporal part of a process's environment. */
export function temporalEnv({ address, namespace }: Pick<TestNamespace, 'address' | 'namespace'>): Env {
  const configured = Object.entries(process.env).filter(([name]) => /^(ALLOW_PLAIN_TEMPORAL$|TEMPORAL_)/.test(name));
  return { ...(Object.fromEntries(configured) as Env), TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
}

/** A worker's environment for a sandbox; polling is slow, so that what ends soon was ended by a callback. */
export const workerEnv = (temporal: Env, service: string, callbackBaseUrl?: string): Env => ({
  ...temporal,
  PAYMENT_BASE_URL: service,
  PAYMENT_API_KEY: 'sandbox-key',
  PAYMENT_API_SECRET: 'sandbox-secret',
  PAYMENT_SIGNER: 'hmac-sha256',
  ORDER_SETTLE_WINDOW: '1s',
  ALLOW_SHORT_WINDOWS: 'true',
  ...(callbackBaseUrl
    ? {
        CALLBACK_BASE_URL: callbackBaseUrl,
        CALLBACK_TOKEN_KEY: TOKEN_KEY,
        ORDER_POLL_INITIAL: '1h',
        ORDER_POLL_MAX: '1h',
      }
    : { ORDER_POLL_INITIAL: '300ms', ORDER_POLL_MAX: '1s' }),
});

/** The same of a worker with several accounts, which a file names. */
export function accountsEnv(temporal: Env, accountsFile: string): Env {
  const { PAYMENT_BASE_URL, PAYMENT_API_KEY, PAYMENT_API_SECRET, PAYMENT_SIGNER, ...env } = workerEnv(temporal, '');
  return { ...env, PAYMENT_ACCOUNTS_FILE: accountsFile };
}

/** A receiver's environment: the token key, and nothing of the payment service. */
export const receiverEnv = (temporal: Env, port: number): Env => ({
  ...temporal,
  CALLBACK_PORT: `${port}`,
  CALLBACK_TOKEN_KEY: TOKEN_KEY,
});

/** Starts a sandbox on free ports; `stats` asks its admin port. */
export async function startSandboxProcess() {
  const sandbox = startProcess('sandbox/main.ts', {
    SANDBOX_PORT: '0',
    SANDBOX_ADMIN_PORT: '0',
    SANDBOX_TIME_SCALE: '0.2',
  });
  const { service = '', admin = '' } = await sandbox.ready;
  const stats = async (): Promise<SandboxStats> => (await (await fetch(`${admin}/state`)).json()) as SandboxStats;
  return { sandbox, service, stats };
}
