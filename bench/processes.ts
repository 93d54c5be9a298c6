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
  stop(): Promise<void>;
}

/** Starts Node with these arguments and nothing of the caller's environment; resolves at its line `ready …`. */
export async function startNode(args: string[], env: Record<string, string>): Promise<BenchProcess> {
  const base = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' };
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...base, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  endWithParent(child);
  const exited = once(child, 'exit');
  const line = await Promise.race([
    new Promise<string>((resolve) => {
      createInterface({ input: child.stdout }).on('line', (text) => text.startsWith('ready ') && resolve(text));
    }),
    exited.then(([code]) => Promise.reject(new Error(`node ${args.join(' ')} ended with ${code}`))),
  ]);
  const words = line.split(' ').map((word) => word.split(/=(.*)/s, 2));
  return {
    pid: child.pid ?? 0,
    ready: Object.fromEntries(words.filter(([, value]) => value !== undefined)),
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
