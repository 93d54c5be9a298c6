import type { Writable } from 'node:stream';
import yoctoSpinner from 'yocto-spinner';

/** A silence longer than this looks like a hang. */
const LONGEST_SILENCE_MS = 10_000;
/** What is answered sooner needs no word about waiting. */
const PATIENCE_MS = 3_000;

/** Shows what is being waited for. Stop it before anything else is printed. */
export interface Progress {
  show(line: string): void;
  stop(): void;
}

function spinner(stream: Writable): Progress {
  const spinning = yoctoSpinner({ stream }).start();
  return {
    show: (line) => {
      spinning.text = line;
    },
    stop: () => void spinning.stop(),
  };
}

function lines(stream: Writable): Progress {
  const startedMs = Date.now();
  let last = '';
  const write = (line: string): void => {
    last = line;
    stream.write(`${Math.round((Date.now() - startedMs) / 1000)} s: ${line}\n`);
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
export const startProgress = (stream: Writable & { isTTY?: boolean }): Progress =>
  stream.isTTY ? spinner(stream) : lines(stream);

/** Waits for one answer; says what for once it takes longer than a moment. */
export async function whileWaiting<T>(
  stream: Writable & { isTTY?: boolean },
  line: string,
  answer: Promise<T>,
): Promise<T> {
  let progress: Progress | undefined;
  const timer = setTimeout(() => {
    progress = startProgress(stream);
    progress.show(line);
  }, PATIENCE_MS);
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
    progress?.stop();
  }
}
