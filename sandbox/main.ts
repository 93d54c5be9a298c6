import { readEnvironment } from './env.js';
import { startSandbox } from './index.js';

/** The sandbox as a process: options from the environment, one line `ready …` on stdout, ends on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const options = readEnvironment(process.env);
  if ('mistakes' in options) {
    for (const mistake of options.mistakes) process.stderr.write(`${mistake}\n`);
    process.exitCode = 2;
    return;
  }
  const sandbox = await startSandbox(options);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void sandbox.close());
  process.stdout.write(`ready service=${sandbox.url} admin=${sandbox.adminUrl}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : 'the sandbox failed'}\n`);
  process.exitCode = 1;
});
