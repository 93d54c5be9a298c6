import type { Writable } from 'node:stream';
import { SingleBar } from 'cli-progress';
import type { BatchState } from '../contract/batch/batch.js';
import { batchLine, endedRows } from './batch-text.js';
import { startProgress } from './progress.js';

/** Without a terminal, a line this often at most, unless the batch enters another phase. */
const LINE_EVERY_MS = 10_000;

/** Shows how far a batch is. Stop it before anything else is printed. */
export interface BatchView {
  show(state: BatchState | undefined): void;
  stop(): void;
}

function bar(stream: Writable): BatchView {
  const shown = new SingleBar({
    stream: stream as NodeJS.WriteStream,
    format: '{bar} {percentage} % · {line}',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 24,
    hideCursor: true,
    // The line is longer than many terminals are wide; cut off it stays one line.
    linewrap: false,
  });
  shown.start(1, 0, { line: 'waiting for the batch' });
  return {
    show: (state) => {
      if (state?.plan) shown.setTotal(state.plan.rows);
      shown.update(state?.plan ? endedRows(state.progress) : 0, { line: batchLine(state, Date.now()) });
    },
    stop: () => shown.stop(),
  };
}

function lines(stream: Writable): BatchView {
  const progress = startProgress(stream);
  let shownAtMs = Number.NEGATIVE_INFINITY;
  let phase: string | undefined = '';
  return {
    show: (state) => {
      const nowMs = Date.now();
      if (state?.phase === phase && nowMs - shownAtMs < LINE_EVERY_MS) return;
      [phase, shownAtMs] = [state?.phase, nowMs];
      progress.show(batchLine(state, nowMs));
    },
    stop: () => progress.stop(),
  };
}

/** A bar on a terminal; elsewhere a line now and then. */
export const startBatchView = (stream: Writable & { isTTY?: boolean }): BatchView =>
  stream.isTTY ? bar(stream) : lines(stream);

/** Runs a step that may take minutes with a large file, so that a person sees it working. */
export async function whileShowing<T>(stream: Writable & { isTTY?: boolean }, line: string, step: () => Promise<T>) {
  const progress = startProgress(stream);
  progress.show(line);
  try {
    return await step();
  } finally {
    progress.stop();
  }
}
