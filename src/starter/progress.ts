import type { Writable } from 'node:stream';
import yoctoSpinner from 'yocto-spinner';
import { print, printableLine } from '../print.js';

/** A silence longer than this looks like a hang. */
const LONGEST_SILENCE_MS = 10_000;
/** What is answered sooner needs no word about waiting. */
const PATIENCE_MS = 3_000;

/** Shows what is being waited for. Stop it before anything else is printed. */
interface Progress {
  show(line: string): void;
  stop(): void;
}

type Terminal = Writable & { isTTY?: boolean };

function spinner(stream: Writable): Progress {
  const spinning = yoctoSpinner({ stream }).start();
  return {
    show: (line) => {
      spinning.text = printableLine(line);
    },
    stop: () => void spinning.stop(),
  };
}

function lines(stream: Writable): Progress {
  const startedMs = Date.now();
  let last = '';
  const write = (line: string): void => {
    last = line;
    print(stream, `${Math.round((Date.now() - startedMs) / 1000)} s: ${printableLine(line)}\n`);
    timer.refresh();
  };
  const timer = setInterval(() => write(last), LONGEST_SILENCE_MS);
  return {
    show: (line) => {
      if (line !== last) write(line);
    },
    stop: () => clearInterval(timer),
  };
}

/** A spinner on a terminal; elsewhere a line per change, and at least one every 10 s. */
export const startProgress = (stream: Terminal): Progress => (stream.isTTY ? spinner(stream) : lines(stream));

/** Waits for one answer; says what for once it takes longer than a moment. */
export const whileWaiting = <T>(stream: Terminal, line: string, answer: Promise<T>): Promise<T> =>
  whileShowing(stream, line, () => answer, PATIENCE_MS);

/** Runs a step that may take long, so that a person sees it working; it may `show` how far it is. */
export async function whileShowing<T>(
  stream: Terminal,
  line: string,
  step: (show: (line: string) => void) => Promise<T>,
  patienceMs = 0,
): Promise<T> {
  let progress: Progress | undefined;
  const show = (text: string) => {
    progress ??= startProgress(stream);
    progress.show(text);
  };
  let timer: NodeJS.Timeout | undefined;
  if (patienceMs > 0) timer = setTimeout(show, patienceMs, line);
  else show(line);
  try {
    return await step(show);
  } finally {
    clearTimeout(timer);
    progress?.stop();
  }
}

/** Off a terminal, a line this often at most, unless its key changes. */
const LINE_EVERY_MS = 10_000;

/** Shows lines of progress: all of them on a terminal, elsewhere now and then. */
export function paced({ isTTY }: Terminal, show: (line: string) => void) {
  let shownAtMs = Number.NEGATIVE_INFINITY;
  let shownKey: string | undefined;
  return ({ line, key }: { line: string; key: string }): void => {
    const nowMs = Date.now();
    if (!isTTY && key === shownKey && nowMs - shownAtMs < LINE_EVERY_MS) return;
    [shownAtMs, shownKey] = [nowMs, key];
    show(line);
  };
}
