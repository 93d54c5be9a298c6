import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ROOT } from '../chaos/product.js';
import { endWithParent } from '../scripts/temporal/watchdog.js';

/** A process of the product, or of what it is compared with. */
export interface BenchProcess {
  pid: number;
  /** The words of its line `ready name=value …`, by name. */
  ready: Record<string, string>;
  /** From its start to that line. */
  readyAfterMs: number;
  /** The next line on stdout that begins so. */
  line(beginning: string): Promise<string>;
  signal(name: NodeJS.Signals): void;
  /** How it ended, in words, once it has. */
  ended: Promise<string>;
  stop(): Promise<void>;
}

/** Longer than a worker needs whose orders wait; what it still does then is of no use to a bench. */
const STOP_WITHIN_MS = 8_000;
const TOLD_CHARACTERS = 2_000;

/** Starts Node with these arguments and nothing of the caller's environment; resolves at its line `ready …`. */
export async function startNode(args: string[], env: Record<string, string>, cwd = ROOT): Promise<BenchProcess> {
  const base = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' };
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, args, { cwd, env: { ...base, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  endWithParent(child);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-TOLD_CHARACTERS);
  });
  const ended = once(child, 'exit').then(([code, signal]) => `ended with ${code ?? signal}`);
  const lines = createInterface({ input: child.stdout });
  const line = (beginning: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (text: string): void => {
        if (!text.startsWith(beginning)) return;
        lines.off('line', look);
        resolve(text);
      };
      lines.on('line', look);
      void ended.then((how) => reject(new Error(`node ${args.join(' ')} ${how}\n${said}`)));
    });
  const ready = await line('ready ');
  const words = ready.split(' ').map((word) => word.split(/=(.*)/s, 2));
  return {
    pid: child.pid ?? 0,
    ready: Object.fromEntries(words.filter(([, value]) => value !== undefined)),
    readyAfterMs: performance.now() - startedAtMs,
    line,
    signal: (name) => void child.kill(name),
    ended,
    stop: async () => {
      child.kill('SIGTERM');
      const tooLate = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
      await ended;
      clearTimeout(tooLate);
    },
  };
}
