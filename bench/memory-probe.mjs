/**
 * Loaded before a worker, and so in each of its threads, with --expose-gc: on SIGUSR2 every thread collects its garbage and the process
 * prints `memory rss=<bytes> heap=<bytes of all threads>`.
 */
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

const channel = new BroadcastChannel('memory-probe');
const ANSWERS_WITHIN_MS = 1_500;

const heapUsed = () => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};

if (isMainThread) {
  let heap = 0;
  channel.onmessage = ({ data }) => {
    if (data.heap !== undefined) heap += data.heap;
  };
  process.on('SIGUSR2', () => {
    heap = heapUsed();
    channel.postMessage({ ask: true });
    setTimeout(() => process.stdout.write(`memory rss=${process.memoryUsage.rss()} heap=${heap}\n`), ANSWERS_WITHIN_MS);
  });
} else {
  channel.onmessage = ({ data }) => {
    if (data.ask) channel.postMessage({ heap: heapUsed() });
  };
}
channel.unref();
