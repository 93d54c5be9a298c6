import { Readable, Writable } from 'node:stream';
import { execaSync } from 'execa';
import { TemporalUnreachableError } from '../../src/client/errors.js';
import type { PaymentOrders } from '../../src/client.js';
import { runStarter } from '../../src/starter/program.js';

/** How a command line ended, and what it wrote. */
export interface StarterRun {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command line in this process: a process of its own takes seconds to load. */
export async function runStarterWith(
  connect: () => Promise<PaymentOrders>,
  argv: readonly string[],
  stdin = '',
): Promise<StarterRun> {
  const texts = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof texts) =>
    new Writable({
      write: (chunk, _encoding, done) => {
        texts[name] += String(chunk);
        done();
      },
    });
  const code = await runStarter(argv, {
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    connect,
    self: 'payment-orders',
  });
  return { code, ...texts };
}

/** Runs a command line where Temporal cannot be reached: whatever gets past the checks ends with 3. */
export const runStarterAlone = (argv: readonly string[], stdin?: string): Promise<StarterRun> =>
  runStarterWith(() => Promise.reject(new TemporalUnreachableError('nowhere:1', 'default', 'refused')), argv, stdin);

/** The arguments that a shell makes of a command line. */
export const wordsOf = (line: string): string[] =>
  execaSync('sh', ['-c', line.replace('payment-orders', String.raw`printf '%s\n'`)]).stdout.split('\n');
