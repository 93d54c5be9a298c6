import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { endWithParent } from '../scripts/temporal/watchdog.js';

/** A process that ends by itself (Temporal was down when it started) is started again after this long. */
const RESTART_AFTER_MS = 500;
/** Enough once nothing is in flight; what is in flight after Ctrl-C does not matter. */
const STOP_LIMIT_MS = 5_000;

/** What is run: a script for Node, with an environment of its own. */
export interface Program {
  name: string;
  /** Arguments of Node. */
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** Everything it prints is appended here, over all its lives. */
  logFile: string;
  /** Runs at every start, when it has said that it is ready. */
  onReady?: () => Promise<void>;
}

/** A process that is kept running, as a supervisor does, however often it is killed. */
export class Supervised {
  /** How often `kill` ended it, and how often it ended without being asked to. */
  kills = 0;
  crashes = 0;
  #wanted = true;
  #child: ChildProcess | undefined;
  #ready = deferred();
  readonly #supervision: Promise<void>;

  constructor(readonly program: Program) {
    this.#supervision = this.#keepRunning();
    this.#supervision.catch(() => undefined);
  }

  /** Resolves while the process runs and is ready; waits when it is just starting again. */
  whenReady(): Promise<void> {
    return this.#ready.promise;
  }

  /** SIGKILL. It is started again at once. */
  kill(): void {
    if (!this.#child) return;
    this.kills += 1;
    this.#child.kill('SIGKILL');
  }

  /** SIGTERM, for good. */
  async stop(): Promise<void> {
    this.#wanted = false;
    const child = this.#child;
    child?.kill('SIGTERM');
    const tooLate = setTimeout(() => child?.kill('SIGKILL'), STOP_LIMIT_MS);
    await this.#supervision;
    clearTimeout(tooLate);
  }

  async #keepRunning(): Promise<void> {
    while (this.#wanted) {
      const killsBefore = this.kills;
      await this.#live();
      this.#child = undefined;
      this.#ready = deferred();
      if (!this.#wanted || this.kills > killsBefore) continue;
      this.crashes += 1;
      await sleep(RESTART_AFTER_MS);
    }
  }

  /** One life of the process, from spawn to exit. */
  async #live(): Promise<void> {
    const { args, env, cwd, logFile } = this.program;
    const log = openSync(logFile, 'a');
    // Detached: Ctrl-C reaches the run alone, which then ends its processes in order.
    const child = spawn(process.execPath, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', log] });
    this.#child = child;
    endWithParent(child);
    // 'close' comes after the last line, 'exit' may come before it.
    const closed = once(child, 'close');
    if (child.stdout) {
      createInterface({ input: child.stdout }).on('line', (line) => {
        writeSync(log, `${line}\n`);
        if (line.startsWith('ready ')) void this.#becomeReady();
      });
    }
    await closed;
    closeSync(log);
  }

  async #becomeReady(): Promise<void> {
    const { resolve } = this.#ready;
    try {
      await this.program.onReady?.();
      resolve();
    } catch {
      // It was killed meanwhile: the next life says `ready` again.
    }
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
