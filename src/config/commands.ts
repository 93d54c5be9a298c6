import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Env } from './env.js';
import { isOpen, OPEN_PROGRAM } from './secret-files.js';
import { commandNames, type Reader } from './variables.js';

/** What a command printed, or why that is not to be had; never shows anything of it. */
export type CommandOutput = { value: string } | { problem: string };

/** Outputs by the variable that names the command, such as PAYMENT_API_KEY_COMMAND. */
export type Outputs = ReadonlyMap<string, CommandOutput>;

/** Longest time for a command. */
const TIMEOUT_MS = 10_000;

const MAX_BYTES = 64 * 1024;

/** A program by its whole path and its arguments, of characters that no shell would do anything with: none reads them. */
const COMMAND = /^\/[\w./@%+=:,-]+( [\w./@%+=:,-]+)*$/;

const MISTAKE =
  'must be the absolute path of a program and its arguments, with single blanks between them: put quotes, pipes and variables into a script';

/** Runs all commands that a process is given for its keys, at once. Never fails. */
export async function runCommands(reader: Reader, env: Env = process.env): Promise<Outputs> {
  const given = commandNames(reader).filter((name) => env[name]);
  return new Map(await Promise.all(given.map(async (name) => [name, await run(env[name] ?? '', env)] as const)));
}

async function run(command: string, env: Env): Promise<CommandOutput> {
  if (!COMMAND.test(command)) return { problem: MISTAKE };
  const [program = '', ...args] = command.split(' ');
  try {
    if (isOpen(statSync(program), false) && env.ALLOW_READABLE_FILES !== 'true') return { problem: OPEN_PROGRAM };
    // It gets none of our secrets, and what it says about its own goes nowhere.
    const options = { env: { PATH: env.PATH, HOME: env.HOME }, timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES };
    const running = promisify(execFile)(program, args, { ...options, killSignal: 'SIGKILL' });
    // What waits for an answer must see that none comes.
    running.child.stdin?.end();
    const { stdout } = await running;
    return { value: stdout.replace(/\r?\n$/, '') };
  } catch (error) {
    return { problem: whyNot(error as { code?: unknown; killed?: boolean; signal?: string }) };
  }
}

/** Without the error's own words, which hold the command and what it printed. */
function whyNot({ code, killed, signal }: { code?: unknown; killed?: boolean; signal?: string }): string {
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'printed more than 64 KiB';
  if (killed) return `took longer than ${TIMEOUT_MS / 1000} s`;
  if (typeof code === 'string') return `cannot be run (${code})`;
  return signal ? `was ended by ${signal}` : `ended with exit code ${String(code)}`;
}
