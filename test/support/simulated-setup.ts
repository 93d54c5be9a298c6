import { expect, vi } from 'vitest';
import { type Clock, installClock } from '../../simulator/clock.js';
import { settings } from './simulated.js';

/* Before a file of stories: its process is on virtual time from its first one on. */

settings.labsOfFile = 0;
if (!settings.isSimulated) {
  const clock = await installClock(Date.UTC(2026, 10, 28));
  settings.isSimulated = true;
  const { fetch: fetchByHttp } = globalThis;
  globalThis.fetch = async (...given) => {
    const { fetchFromLab } = await import('./simulated-lab.js');
    return (await fetchFromLab(given[0] as string, given[1])) ?? fetchByHttp(...given);
  };
  void goOn(clock);
}

/** Time goes on by itself, from one timer to the next, whenever nothing but time is waited for. */
async function goOn(clock: Clock): Promise<void> {
  for (;;) {
    await clock.run(Number.POSITIVE_INFINITY, () => false);
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
}

type Options = number | { timeout?: number; interval?: number } | undefined;

/** Looks again and again until something comes without an error; throws the last one once time is over. */
async function looks<T>(look: () => T | Promise<T>, options: Options): Promise<T> {
  const { timeout = 1_000, interval = 50 } = typeof options === 'number' ? { timeout: options } : (options ?? {});
  const untilMs = Date.now() + timeout;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (Date.now() > untilMs) throw error;
    }
    await new Promise<void>((resolve) => void setTimeout(resolve, interval));
  }
}

vi.waitFor = looks as typeof vi.waitFor;
vi.waitUntil = (async (look: () => unknown, options?: Options) => {
  const seen = async () => {
    const value = await look();
    if (!value) throw new Error('Timed out in waitUntil!');
    return value;
  };
  // What throws, throws at once.
  let failed: unknown;
  const value = await looks(
    async () =>
      seen().catch((error) => {
        if (error.message === 'Timed out in waitUntil!') throw error;
        failed = error;
        return undefined;
      }),
    options,
  );
  if (failed) throw failed;
  return value;
}) as typeof vi.waitUntil;

type Looks = Record<string, (...given: unknown[]) => unknown>;

/** A matcher of what a look returns, by the names that lead to it: `not`, `toBe`. */
const matcher = (look: () => unknown, options: Options, names: readonly string[] = []): unknown =>
  new Proxy(() => undefined, {
    get: (_, name) => (name === 'then' ? undefined : matcher(look, options, [...names, String(name)])),
    apply: (_, __, given) =>
      looks(async () => {
        const last = names.at(-1) ?? '';
        const seen = expect(await look()) as unknown as Record<string, Looks>;
        const target = names.slice(0, -1).reduce<Looks>((one, name) => one[name] as never, seen as never);
        await target[last]?.(...given);
      }, options),
  });

expect.poll = ((look: () => unknown, options: Options = 60_000) => matcher(look, options)) as typeof expect.poll;
