import { AsyncResource } from 'node:async_hooks';
import { open } from 'node:fs/promises';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { fileURLToPath } from 'node:url';
import FakeTimers from '@sinonjs/fake-timers';
import { Random } from './random.js';

const { setImmediate, Date: PlatformDate } = globalThis;

/** A date of the platform's own class, which workflow sandboxes know. */
export const dateOf = (ms: number): Date => new PlatformDate(ms);

const cpu = process.cpuUsage.bind(process);

let working = 0;

/** No virtual time passes until this work is done, though it waits for more than promises. */
export async function atOnce<T>(work: () => Promise<T>): Promise<T> {
  working += 1;
  try {
    return await work();
  } finally {
    working -= 1;
  }
}

/** Files are worked on one after the other, and no virtual time passes meanwhile. */
async function fileByFile(): Promise<void> {
  type Work = (...given: unknown[]) => Promise<unknown>;
  const files: Record<string, unknown> = createRequire(import.meta.url)('node:fs/promises');
  const handle = await open(fileURLToPath(import.meta.url));
  const methods = Object.getPrototypeOf(handle);
  await handle.close();
  let before: Promise<unknown> = Promise.resolve();
  const inTurn = (work: Work): Work =>
    function (this: unknown, ...given) {
      return atOnce(() => {
        const done = before.then(() => work.apply(this, given));
        before = done.catch(() => undefined);
        return done;
      });
    };
  for (const [owner, names] of [
    [methods, ['appendFile', 'datasync', 'read', 'readFile', 'stat', 'sync', 'truncate', 'write', 'writeFile']],
    [files, Object.keys(files).filter((name) => /^(?!watch|opendir|glob|constants|open$)/.test(name))],
  ] as const)
    for (const name of names) owner[name] = inTurn(owner[name] as Work);
  const opens = inTurn(open as Work);
  files.open = async (...given: unknown[]) => {
    const opened = (await opens(...given)) as { close: Work };
    // Each handle has a method of its own.
    opened.close = inTurn(opened.close);
    return opened;
  };
}

/** Lets everything run that waits for nothing but promises or such work. */
async function settle(): Promise<void> {
  do await new Promise<void>((resolve) => void setImmediate(resolve));
  while (working > 0);
}

/** Virtual time of the process: `Date`, timers and `performance` of all code read it, and nothing waits. */
export interface Clock {
  /** Forgets all that waits, and begins again with the draws of a seed. */
  reset(seed: number): void;
  /** Milliseconds since the start. */
  elapsedMs(): number;
  /** Moves on, timer by timer, until `isOver`, a time (ms since the epoch), or nothing is left that waits. */
  run(untilMs: number, isOver: () => boolean): Promise<void>;
  /** CPU seconds of the process so far. */
  cpuSeconds(): number;
}

/** Replaces the clock of this process for good. */
export async function installClock(startMs: number): Promise<Clock> {
  const clock = FakeTimers.install({
    now: startMs,
    toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'hrtime'],
  });
  keepContext();
  await fileByFile();
  syncBuiltinESMExports();
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController();
    setTimeout(
      () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
      ms,
    );
    return controller.signal;
  };
  return {
    reset(seed) {
      clock.reset();
      drawFrom(new Random(seed));
    },
    elapsedMs: () => Date.now() - startMs,
    async run(untilMs, isOver) {
      await settle();
      while (!isOver() && clock.countTimers() > 0 && clock.now < untilMs) {
        clock.next();
        await settle();
      }
    },
    cpuSeconds: () => {
      const { user, system } = cpu();
      return (user + system) / 1e6;
    },
  };
}

/** Timers of the platform keep the context of who set them, such as the activity that runs, and take a millisecond at least. */
function keepContext(): void {
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const set = globalThis[name] as (task: () => void, ms?: number, ...given: []) => NodeJS.Timeout;
    const bound: typeof set = (task, ms, ...given) => {
      // `AsyncResource.bind` takes ten times as long.
      const context = new AsyncResource('timer');
      return set(() => context.runInAsyncScope(task, undefined, ...given), Math.max(1, ms ?? 1));
    };
    globalThis[name] = bound as never;
  }
}

/** What the platform draws at random, such as ids of orders and requests. */
function drawFrom(random: Random): void {
  Math.random = random.next;
  const crypto = createRequire(import.meta.url)('node:crypto');
  const hex = (digits: number) => Array.from({ length: digits }, () => random.between(0, 16).toString(16)).join('');
  crypto.randomUUID = () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
  crypto.randomBytes = (size: number) => Buffer.from(hex(2 * size), 'hex');
  syncBuiltinESMExports();
}
