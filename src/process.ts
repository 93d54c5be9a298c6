import { ConfigError } from './config.js';
import { TemporalUnreachableError } from './temporal.js';

/** Exit codes of all processes. */
const EXIT_FAILED = 1;
const EXIT_BAD_CONFIGURATION = 2;

/**
 * Runs a process to its end: 0 when `main` returns, 2 with one line per mistake on bad configuration, 1 otherwise.
 * Only names and messages of our own errors are printed: a raw error may carry what must not be shown.
 */
export async function exitOnFailure(main: () => Promise<void>): Promise<void> {
  process.on('unhandledRejection', (reason) => fail(reason));
  process.on('uncaughtException', (error) => fail(error));
  try {
    await main();
    process.exit(0);
  } catch (error) {
    fail(error);
  }
}

function fail(error: unknown): never {
  if (error instanceof ConfigError) {
    for (const problem of error.problems) process.stderr.write(`${problem}\n`);
    process.exit(EXIT_BAD_CONFIGURATION);
  }
  const known = error instanceof TemporalUnreachableError;
  const shown = error instanceof Error ? (known ? error.message : `${error.name}: ${error.message}`) : 'unknown error';
  process.stderr.write(`${shown}\n`);
  process.exit(EXIT_FAILED);
}

/** Resolves when `running` ends by itself or after SIGTERM or SIGINT, once `stop` has brought it to its end. */
export async function untilStopped(running: Promise<void>, stop: () => void): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stop);
  await running;
}
