import { ConfigError } from './env.js';

/** Between two looks at the files and commands of keys. */
const LOOK_EVERY_MS = 15_000;

/** A mistake that stays is told again so often. */
const TELL_EVERY_MS = 10 * 60_000;

/** Keys that were not taken. A service may bar whoever asks it with them too often, so each time more looks pass. */
interface Refused {
  why: readonly string[];
  pause: number;
  looksLeft: number;
}

/** Ten minutes of looks. */
const MAX_PAUSE = 40;

/** How keys are read anew. */
export interface KeepReading<T> {
  /** One look. Throws ConfigError. */
  read: () => Promise<T>;
  /** Differs where two looks saw other keys. */
  markOf: (read: T) => string;
  /** Uses what is new in a look; answers why something is not used. */
  take: (read: T) => Promise<readonly string[]>;
  /** Says that keys stay as they are, and why. */
  tell: (problem: string) => void;
  /** Hears after each look what is wrong with it; '' = nothing. */
  hear?: (problem: string) => void;
  everyMs?: number;
}

/**
 * Looks for new keys until the function that it returns is called. What two looks in a row saw the same is taken: a file in the
 * middle of being written is not. Whatever is wrong with one of them, all stay as they are, and that is told.
 */
export function keepReading<T>({
  read,
  markOf,
  take,
  tell,
  hear,
  everyMs = LOOK_EVERY_MS,
}: KeepReading<T>): () => void {
  let seen: string | undefined;
  let refused: Refused = { why: [], pause: 0, looksLeft: 0 };
  let told = { problem: '', atMs: 0 };
  let timer: NodeJS.Timeout;
  let isStopped = false;
  const look = async (): Promise<readonly string[]> => {
    const before = seen;
    seen = undefined;
    const found = await read();
    seen = markOf(found);
    if (seen !== before) refused = { why: [], pause: 0, looksLeft: 0 };
    if (seen !== before || refused.looksLeft > 0) {
      refused.looksLeft -= 1;
      return refused.why;
    }
    const why = await take(found);
    const pause = Math.min(2 * refused.pause + 1, MAX_PAUSE);
    refused = { why, pause, looksLeft: why.length > 0 ? pause : 0 };
    return why;
  };
  const lookAndTell = async (): Promise<void> => {
    // Of a mistake of ours only the name: its words could hold a key.
    const said = (error: unknown) => (error instanceof ConfigError ? error.problems : [`${(error as Error).name}`]);
    const problem = (await look().catch(said)).join('; ');
    hear?.(problem);
    const isOld = problem === told.problem && performance.now() - told.atMs < TELL_EVERY_MS;
    if (problem !== '' && !isOld) tell(problem);
    if (!isOld) told = { problem, atMs: performance.now() };
  };
  const next = (): void => {
    if (!isStopped) timer = setTimeout(() => void lookAndTell().then(next), everyMs).unref();
  };
  next();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
