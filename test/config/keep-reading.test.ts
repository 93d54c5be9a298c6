import { execFileSync } from 'node:child_process';
import { chmodSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Env } from '../../src/config/env.js';
import { keepReading, rereadTokenKeys, rereadWorkerKeys } from '../../src/config.js';
import { TOKEN_KEY, tempFile, WORKER_ENV } from './config.fixture.js';

const NEW_KEY = 'another-token-key-of-enough-characters';
const WITHIN = { timeout: 60_000, interval: 20 };

/** Keeps reading the callback keys of an environment; `seen` and `told` grow with what is taken and told, `looks` counts. */
function keepReadingKeys(env: Env, afterLook: () => void = () => undefined) {
  const state = { seen: [] as string[], told: [] as string[], looks: 0 };
  const stop = keepReading({
    read: async () => {
      try {
        return await rereadTokenKeys(env);
      } finally {
        state.looks += 1;
        afterLook();
      }
    },
    markOf: (keys) => keys.join(),
    take: async (keys) => {
      if (state.seen.at(-1) !== keys.join()) state.seen.push(keys.join());
      return [];
    },
    tell: (problem) => void state.told.push(problem),
    everyMs: 20,
  });
  onTestFinished(stop);
  return state;
}

/** Waits until so many more looks were taken. */
async function looksMore(state: { looks: number }, more = 4): Promise<void> {
  const enough = state.looks + more;
  await vi.waitFor(() => expect(state.looks).toBeGreaterThanOrEqual(enough), WITHIN);
}

const write = (path: string, content: string) => writeFileSync(path, content, { mode: 0o600 });

describe('a key file is read anew', () => {
  test.for<[string, (path: string) => void]>([
    ['written over', (path) => write(path, NEW_KEY)],
    [
      'replaced by renaming',
      (path) => {
        write(`${path}.new`, `${NEW_KEY}\n`);
        renameSync(`${path}.new`, path);
      },
    ],
    [
      'replaced by a link to another file',
      (path) => {
        write(`${path}.target`, NEW_KEY);
        rmSync(path);
        symlinkSync(`${path}.target`, path);
      },
    ],
  ])('%s', async ([, change]) => {
    const path = tempFile(TOKEN_KEY);
    const state = keepReadingKeys({ CALLBACK_TOKEN_KEY_FILE: path });
    await vi.waitFor(() => expect(state.seen).toEqual([TOKEN_KEY]), WITHIN);
    change(path);
    await vi.waitFor(() => expect(state.seen).toEqual([TOKEN_KEY, NEW_KEY]), WITHIN);
    expect(state.told).toEqual([]);
  });

  test.for<[string, (path: string) => void, string]>([
    ['gone', (path) => rmSync(path), 'cannot be read'],
    ['cut off', (path) => write(path, ''), 'must not be empty'],
    ['too short', (path) => write(path, NEW_KEY.slice(0, 15)), 'each key must have at least 16 characters'],
    ['easy to guess', (path) => write(path, 'a'.repeat(40)), 'must not be easy to guess'],
    [
      'the same as another secret',
      (path) => write(path, 'zz-key-for-temporal-itself'),
      'is the same as TEMPORAL_API_KEY',
    ],
    [
      'readable by others',
      (path) => {
        write(path, NEW_KEY);
        chmodSync(path, 0o644);
      },
      'may be read or changed by other users',
    ],
    [
      'a pipe that nobody writes into, which would hold the process up for ever',
      (path) => {
        rmSync(path);
        execFileSync('mkfifo', ['-m', '600', path]);
      },
      'cannot be read',
    ],
  ])('and not taken while it is %s: that is told once, without it, until it is mended', async ([, spoil, why]) => {
    const path = tempFile(TOKEN_KEY);
    const state = keepReadingKeys({ CALLBACK_TOKEN_KEY_FILE: path, TEMPORAL_API_KEY: 'zz-key-for-temporal-itself' });
    await vi.waitFor(() => expect(state.seen).toEqual([TOKEN_KEY]), WITHIN);
    spoil(path);
    await vi.waitFor(() => expect(state.told).toHaveLength(1), WITHIN);
    await looksMore(state);
    expect(state.told).toEqual([expect.stringContaining(`CALLBACK_TOKEN_KEY_FILE: ${why}`)]);
    expect(state.told[0]).not.toContain(NEW_KEY.slice(0, 8));
    expect(state.seen).toEqual([TOKEN_KEY]);
    rmSync(path, { force: true });
    write(path, NEW_KEY);
    await vi.waitFor(() => expect(state.seen).toEqual([TOKEN_KEY, NEW_KEY]), WITHIN);
  });

  test('and not taken while it is being written: two looks in a row must see the same', async () => {
    const path = tempFile(TOKEN_KEY);
    let length = 16;
    let isWriting = false;
    const grow = () => {
      if (isWriting) write(path, `${NEW_KEY}${NEW_KEY}`.slice(0, length++));
    };
    const state = keepReadingKeys({ CALLBACK_TOKEN_KEY_FILE: path }, grow);
    await vi.waitFor(() => expect(state.seen).toEqual([TOKEN_KEY]), WITHIN);
    isWriting = true;
    await looksMore(state, 10);
    isWriting = false;
    expect(state.seen).toEqual([TOKEN_KEY]);
    await vi.waitFor(() => expect(state.seen).toHaveLength(2), WITHIN);
  });
});

test('a command is run anew, and what it does when it fails changes nothing', async () => {
  const answer = tempFile(TOKEN_KEY);
  const command = tempFile(`#!/bin/sh\ncat ${answer} || exit 7\n`);
  chmodSync(command, 0o700);
  const state = keepReadingKeys({ PATH: process.env.PATH, CALLBACK_TOKEN_KEY_COMMAND: command });
  await vi.waitFor(() => expect(state.seen).toEqual([TOKEN_KEY]), WITHIN);
  rmSync(answer);
  await vi.waitFor(() => expect(state.told).toEqual(['CALLBACK_TOKEN_KEY_COMMAND: ended with exit code 7']), WITHIN);
  write(answer, NEW_KEY);
  await vi.waitFor(() => expect(state.seen).toEqual([TOKEN_KEY, NEW_KEY]), WITHIN);
});

test('a worker’s secrets are read as a whole: a mistake of one keeps all', async () => {
  const [key, tokens] = [tempFile('the-new-key'), tempFile('')];
  const { PAYMENT_API_KEY: _, ...rest } = WORKER_ENV;
  const callbacks = { CALLBACK_BASE_URL: 'https://hooks.example', CALLBACK_TOKEN_KEY_FILE: tokens };
  const env = { ...rest, PAYMENT_API_KEY_FILE: key, ...callbacks };
  await expect(rereadWorkerKeys(env)).rejects.toThrow('CALLBACK_TOKEN_KEY_FILE: must not be empty');
  write(tokens, TOKEN_KEY);
  const { accounts, callback } = await rereadWorkerKeys(env);
  expect(accounts.get('default')?.apiKey.reveal()).toBe('the-new-key');
  expect([...(callback?.tokenKeys ?? [])]).toEqual([TOKEN_KEY]);
});

test('keys that are not taken are tried ever more rarely, until others are seen', async () => {
  let [key, looks] = ['a', 0];
  const tried: [key: string, look: number][] = [];
  const told: string[] = [];
  let heard = '';
  const stop = keepReading({
    read: async () => {
      looks += 1;
      return key;
    },
    markOf: (read) => read,
    take: async (read) => {
      tried.push([read, looks]);
      return read === 'c' ? [] : [`${read} is refused`];
    },
    tell: (problem) => void told.push(problem),
    hear: (problem) => {
      heard = problem;
    },
    everyMs: 5,
  });
  onTestFinished(stop);
  await vi.waitFor(() => expect(tried).toHaveLength(5), WITHIN);
  expect(tried.map(([, look]) => look)).toEqual([2, 4, 8, 16, 32]);
  key = 'b';
  await vi.waitFor(() => expect(tried.filter(([read]) => read === 'b')).toHaveLength(3), WITHIN);
  const [first = 0, second, third] = tried.flatMap(([read, look]) => (read === 'b' ? [look] : []));
  expect([second, third]).toEqual([first + 2, first + 6]);
  expect(told).toEqual(['a is refused', 'b is refused']);
  expect(heard).toBe('b is refused');
  key = 'c';
  await vi.waitFor(() => expect(tried.some(([read]) => read === 'c')).toBe(true), WITHIN);
  await vi.waitFor(() => expect(heard).toBe(''), WITHIN);
});
