import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Env } from '../../src/config/env.js';
import { ConfigError, loadReceiverConfig, loadWorkerConfig, runCommands } from '../../src/config.js';
import { TOKEN_KEY, tempFile, WORKER_ENV } from './config.fixture.js';

/** A program that only its owner may change and that is gone after the test; returns its path. */
function program(script: string): string {
  const path = tempFile(`#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o700);
  return path;
}

const { PAYMENT_API_KEY: _, ...REST } = WORKER_ENV;

/** A worker's configuration whose key comes from a command. */
async function withCommand(command: string, more: Env = {}) {
  const env = { ...REST, PATH: process.env.PATH, PAYMENT_API_KEY_COMMAND: command, ...more };
  return loadWorkerConfig(env, await runCommands('W', env));
}

const keyOf = async (command: string, more?: Env) =>
  (await withCommand(command, more)).accounts.get('default')?.apiKey.reveal();

async function mistakesOf(command: string, more?: Env): Promise<readonly string[]> {
  const error: unknown = await withCommand(command, more).catch((thrown: unknown) => thrown);
  if (!(error instanceof ConfigError)) throw new Error('no mistake was found');
  return error.problems;
}

describe('a key from a command', () => {
  test('is what it prints, without the last line break', async () => {
    expect(await keyOf(`${program('echo "key-of-$1-$2"')} a --b=c/d@1`)).toBe('key-of-a---b=c/d@1');
    const env = { CALLBACK_TOKEN_KEY_COMMAND: program(`echo ${TOKEN_KEY}`), PATH: process.env.PATH };
    expect([...loadReceiverConfig(env, await runCommands('R', env)).tokenKeys]).toEqual([TOKEN_KEY]);
  });

  test('is made without any setting or secret of the process: PATH and HOME are all that it gets', async () => {
    const script = 'env | sed "s/=.*//" | grep -v -e "^PWD$" -e "^SHLVL$" -e "^_$" -e "^OLDPWD$" | sort | tr "\\n" ,';
    const more = { HOME: '/home/of-worker', TEMPORAL_API_KEY: 'zz', AWS_SECRET: 'zz', NODE_OPTIONS: '' };
    expect(await keyOf(program(script), more)).toBe('HOME,PATH,');
  });

  test.for([
    'vault read -field=key secret/pay',
    './get-key',
    '/bin/echo  two-blanks',
    '/bin/echo "quoted"',
    "/bin/echo 'quoted'",
    '/bin/echo $HOME',
    '/bin/echo a;id',
    '/bin/echo a|id',
    '/bin/echo `id`',
    '/bin/echo a\nid',
    '/bin/echo *',
    '/bin/cat </etc/passwd',
    '/bin/echo a\\ b',
  ])('is refused where a shell would do more than start a program: %j', async (command) => {
    expect(await mistakesOf(command)).toEqual([
      'PAYMENT_API_KEY_COMMAND: must be the absolute path of a program and its arguments, with single blanks between them: put quotes, pipes and variables into a script',
    ]);
  });

  test.for<[string, () => string, string]>([
    ['a program that is not there', () => '/no/such/program zz-argument', 'cannot be run (ENOENT)'],
    ['a file that is no program', () => tempFile('zz'), 'cannot be run (EACCES)'],
    ['another end than 0', () => program('echo zz-key; echo zz-secret >&2; exit 3'), 'ended with exit code 3'],
    ['a signal', () => program('kill -KILL $$'), 'was ended by SIGKILL'],
    ['no output', () => program('true'), 'must not be empty'],
    ['two lines', () => program('echo zz; echo zz'), 'must not contain blanks, line breaks or control characters'],
    ['more than a key can be', () => program('head -c 100000 /dev/zero | tr "\\0" z'), 'printed more than 64 KiB'],
  ])('says what is wrong and shows neither command nor output: %s', async ([, command, problem]) => {
    expect(await mistakesOf(command())).toEqual([`PAYMENT_API_KEY_COMMAND: ${problem}`]);
  });

  test('is given up after 10 s, also where something that it started holds its output open', async () => {
    const mistakes = await mistakesOf(program('sleep 15 & sleep 15'));
    expect(mistakes).toEqual(['PAYMENT_API_KEY_COMMAND: took longer than 10 s']);
  });

  test('is not made by a program that other users may change, unless that is said aloud', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'payment-orders-command-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const ran = join(folder, 'ran');
    const open = program(`touch ${ran}; echo the-key`);
    chmodSync(open, 0o777);
    expect(await mistakesOf(open)).toEqual([
      'PAYMENT_API_KEY_COMMAND: names a program that other users may change: chmod go-w (or say ALLOW_READABLE_FILES=true)',
    ]);
    expect(existsSync(ran)).toBe(false);
    expect(await keyOf(open, { ALLOW_READABLE_FILES: 'true' })).toBe('the-key');
  });

  test.for<[string, Env, string]>([
    [
      'a value beside it',
      { PAYMENT_API_KEY: 'k' },
      'PAYMENT_API_KEY: is given twice: unset PAYMENT_API_KEY or PAYMENT_API_KEY_COMMAND',
    ],
    [
      'a file beside it',
      { PAYMENT_API_KEY_FILE: '/k' },
      'PAYMENT_API_KEY: is given twice: unset PAYMENT_API_KEY_FILE or PAYMENT_API_KEY_COMMAND',
    ],
  ])('is refused with %s', async ([, more, problem]) => {
    expect(await mistakesOf(program('echo k'), more)).toContain(problem);
  });

  test('is refused where it is empty, beside an accounts file, and for what is no key', async () => {
    expect(await mistakesOf('')).toEqual(['PAYMENT_API_KEY_COMMAND: is set but empty: give it a value, or unset it']);
    const accounts = tempFile('{}');
    expect(await mistakesOf(program('echo k'), { PAYMENT_ACCOUNTS_FILE: accounts })).toContain(
      'PAYMENT_API_KEY_COMMAND: cannot be combined with PAYMENT_ACCOUNTS_FILE: use one of them',
    );
    for (const name of ['PAYMENT_BASE_URL_COMMAND', 'PAYLOAD_ENCRYPTION_KEYS_COMMAND', 'CODEC_TOKEN_COMMAND']) {
      const command = program('echo k');
      expect((await mistakesOf(command, { [name]: command })).join()).toContain(`${name}: is not a setting`);
    }
  });

  test('is never the text of the command itself', () => {
    const env = { ...REST, PAYMENT_API_KEY_COMMAND: '/bin/echo' };
    expect(() => loadWorkerConfig(env)).toThrow('PAYMENT_API_KEY_COMMAND: was not run');
  });
});
