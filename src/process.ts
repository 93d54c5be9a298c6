import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { ConfigError } from './config.js';
import { print } from './print.js';
import { TemporalUnreachableError } from './temporal.js';

/** Exit codes of all processes. */
const EXIT_FAILED = 1;
const EXIT_BAD_CONFIGURATION = 2;

/** Runs a process: exit 0 when `main` returns, 2 on bad configuration, 1 otherwise. */
export async function exitOnFailure(main: () => Promise<void>): Promise<void> {
  process.on('unhandledRejection', crash);
  process.on('uncaughtException', crash);
  try {
    await main();
    process.exit(0);
  } catch (error) {
    fail(error);
  }
}

function crash(error: unknown): never {
  const [name, place = ''] =
    error instanceof Error ? [error.name, /^ +at .*/m.exec(error.stack ?? '')?.[0]] : ['something that is no error'];
  print(process.stderr, `unexpected: ${name}${place && ` ${place.trim()}`}\n`);
  process.exit(EXIT_FAILED);
}

function fail(error: unknown): never {
  if (error instanceof ConfigError) {
    for (const problem of error.problems) print(process.stderr, `${problem}\n`);
    process.exit(EXIT_BAD_CONFIGURATION);
  }
  const known = error instanceof TemporalUnreachableError;
  const shown = error instanceof Error ? (known ? error.message : `${error.name}: ${error.message}`) : 'unknown error';
  print(process.stderr, `${shown}\n`);
  process.exit(EXIT_FAILED);
}

/** Prints that a process is ready, its ALLOW_… settings, and the findings to correct. */
export function sayReady(what: string, allowed: readonly string[] = [], findings: readonly string[] = []): void {
  const some = (name: string, values: readonly string[]) => (values.length > 0 ? ` ${name}=${values.join(',')}` : '');
  print(process.stdout, `ready ${what}${some('allowed', allowed)}${some('findings', findings)}\n`);
}

/** Resolves when `running`, or `stop` after SIGTERM or SIGINT, has ended. Call it before saying `ready`. */
export function untilStopped(stop: () => Promise<void>, running?: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let isStopping = false;
    const stopOnce = () => {
      if (!isStopping) stop().then(resolve, reject);
      isStopping = true;
    };
    // Stays: a second SIGTERM (npm forwards the group's) must not interrupt a create.
    process.on('SIGTERM', stopOnce);
    process.once('SIGINT', stopOnce);
    running?.then(resolve, reject);
  });
}

function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return version;
}

/** Adds `--version` to a program. Reads package.json only then. */
export const withVersion = (program: Command, write: (text: string) => void): Command =>
  program.option('-V, --version', 'print the version').on('option:version', () => {
    write(`${packageVersion()}\n`);
    throw new CommanderError(0, 'commander.version', '');
  });

/** Answers `--help` and `--version`; refuses other arguments with exit code 2. */
export function refuseArguments(name: string, about: string): void {
  const program = new Command(name)
    .description(`${about} Set up by its environment alone: docs/running.md names the settings.`)
    .exitOverride();
  try {
    withVersion(program, (text) => print(process.stdout, text)).parse();
  } catch (error) {
    process.exit(error instanceof CommanderError && error.exitCode === 0 ? 0 : EXIT_BAD_CONFIGURATION);
  }
}
