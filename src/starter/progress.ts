import type { Writable } from 'node:stream';
import yoctoSpinner from 'yocto-spinner';
import { print, printableLine } from '../print.js';

/** Maximum silence before a command seems to hang. */
const LONGEST_SILENCE_MS = 10_000;

/** Shows a progress line. Without a terminal, a line with an unchanged key waits. */
export type Show = (line: string, key?: string) => void;

/** Shows what a command waits for. Stop it before other output. */
interface Progress {
  show: Show;
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
  let latest = '';
  let shownKey: string | undefined;
  const write = (): void =>
    print(stream, `${Math.round((Date.now() - startedMs) / 1000)} s: ${printableLine(latest)}\n`);
  const timer = setInterval(write, LONGEST_SILENCE_MS);
  return {
    show: (line, key = line) => {
      latest = line;
      if (key === shownKey) return;
      shownKey = key;
      write();
      timer.refresh();
    },
    stop: () => clearInterval(timer),
  };
}

/**
 * Returns a spinner on a terminal; otherwise prints a line per new key, and the latest every 10 s.
 */
export const startProgress = (stream: Terminal): Progress => (stream.isTTY ? spinner(stream) : lines(stream));

/** Runs a long step with visible progress; the step may `show` more. */
export async function whileShowing<T>(stream: Terminal, line: string, step: (show: Show) => Promise<T>): Promise<T> {
  const progress = startProgress(stream);
  progress.show(line);
  try {
    return await step(progress.show);
  } finally {
    progress.stop();
  }
}
