import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { settings } from '../../scripts/demo/stack.js';
import { newFolder } from '../support/batch-files.js';

/** What an order of an earlier session depends on: its account, and where its callbacks go. */
const stable = async (folder: string) => {
  const { receiverUrl, sandboxEnv, receiverEnv, workerEnv } = await settings(folder);
  return {
    account: [sandboxEnv.SANDBOX_PORT, sandboxEnv.SANDBOX_API_SECRET, workerEnv.PAYMENT_API_SECRET],
    callbacks: [receiverUrl, receiverEnv.CALLBACK_TOKEN_KEY, workerEnv.CALLBACK_TOKEN_KEY],
  };
};

test('the next session in a folder has the account and the callback addresses of the one before', async () => {
  const [folder, other] = [newFolder(afterAll), newFolder(afterAll)];
  const first = await stable(folder);
  expect(await stable(folder)).toEqual(first);
  const { account, callbacks } = await stable(other);
  expect([account[1], callbacks[1]]).not.toEqual([first.account[1], first.callbacks[1]]);
  expect((await stat(join(folder, 'session.json'))).mode & 0o777).toBe(0o600);
});

test('a port that is taken changes one session only, and never a secret', async () => {
  const folder = newFolder(afterAll);
  const first = await stable(folder);
  const taken = createServer().listen(Number(first.account[0]), '127.0.0.1');
  onTestFinished(() => void taken.close());
  await once(taken, 'listening');
  const { account, callbacks } = await stable(folder);
  expect(account[0]).not.toBe(first.account[0]);
  expect([account.slice(1), callbacks]).toEqual([first.account.slice(1), first.callbacks]);
  taken.close();
  await once(taken, 'close');
  expect(await stable(folder)).toEqual(first);
});

test('a damaged file of a session is named with what to do, and stays', async () => {
  const folder = newFolder(afterAll);
  const file = join(folder, 'session.json');
  await writeFile(file, '{"tokenKey":');
  await expect(settings(folder)).rejects.toThrow(`${file} cannot be read. Delete the folder to begin from nothing`);
  expect(await readFile(file, 'utf8')).toBe('{"tokenKey":');
});
