import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { endWithParent } from '../scripts/temporal/watchdog.js';

/** A process that ends by itself (Temporal was down when it started) is started again after this long. */
const RESTART_AFTER_MS = 500;
/** Longer than any start on a busy machine. */
const READY_WITHIN_MS = 180_000;
/** Characters of the log that an error shows. */
const LOG_TAIL = 2_000;
/** Enough once nothing is in flight; what is in flight after Ctrl-C does not matter. */
const STOP_LIMIT_MS = 5_000;
/** What is in flight at a replacement ends in order, as in a deploy. */
const REPLACE_LIMIT_MS = 75_000;

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
  /** Ends that were asked for: kills and replacements. */
  #asked = 0;
  #child: ChildProcess | undefined;
  #ready = readiness();
  readonly #supervision: Promise<void>;

  constructor(public program: Program) {
    this.#supervision = this.#keepRunning();
    this.#supervision.catch(() => undefined);
  }

  /** Resolves while the process runs and is ready; waits when it is just starting again. Throws with what it printed last. */
  async whenReady(): Promise<void> {
    const late = new AbortController();
    const tooLate = sleep(READY_WITHIN_MS, undefined, { signal: late.signal }).then(() => {
      const printed = readFileSync(this.program.logFile, 'utf8').slice(-LOG_TAIL);
      throw new Error(`${this.program.name} was not ready within ${READY_WITHIN_MS / 1000} s\n${printed}`);
    });
    tooLate.catch(() => undefined);
    await Promise.race([this.#ready.promise, tooLate]).finally(() => late.abort());
  }

  /** Process id; undefined between two lives. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** SIGTERM, then a life with what is changed in the program; resolves when that is ready. */
  async replace(change: Partial<Program> = {}): Promise<void> {
    this.program = { ...this.program, ...change };
    const child = this.#child;
    if (child) {
      this.#asked += 1;
      this.#notReady();
      child.kill('SIGTERM');
      const tooLate = setTimeout(() => child.kill('SIGKILL'), REPLACE_LIMIT_MS);
      child.once('close', () => clearTimeout(tooLate));
    }
    await this.whenReady();
  }

  /** SIGKILL. It is started again at once. */
  kill(): void {
    if (!this.#child) return;
    this.kills += 1;
    this.#asked += 1;
    this.#notReady();
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
      const askedBefore = this.#asked;
      await this.#live();
      this.#child = undefined;
      this.#notReady();
      if (!this.#wanted || this.#asked > askedBefore) continue;
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

  /** Those who wait already go on waiting, for the next life. */
  #notReady(): void {
    if (this.#ready.isReady) this.#ready = readiness();
  }

  async #becomeReady(): Promise<void> {
    const { resolve } = this.#ready;
    const child = this.#child;
    try {
      await this.program.onReady?.();
      // Killed meanwhile, it must not count as ready.
      if (child === this.#child && child?.killed === false) resolve();
    } catch {
      // It was killed meanwhile: the next life says `ready` again.
    }
  }
}

interface Readiness {
  promise: Promise<void>;
  isReady: boolean;
  resolve: () => void;
}

function readiness(): Readiness {
  const made: Readiness = { promise: Promise.resolve(), isReady: false, resolve: () => {} };
  made.promise = new Promise<void>((done) => {
    made.resolve = () => {
      made.isReady = true;
      done();
    };
  });
  return made;
}
