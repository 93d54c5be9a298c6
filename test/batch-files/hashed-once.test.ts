import crypto, { hash } from 'node:crypto';
import { utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readBatchSource } from '../../src/batch-files/source.js';
import { storePart } from '../../src/batch-files/upload.js';
import { newFolder } from '../support/batch-files.js';
import { mapFile } from '../support/mapped-file.js';

const rows = (digit: string) => `{"order_id":"r-${digit}"}\n`.repeat(1_000);
const BYTES = Buffer.from(rows('1'));
const UPLOAD = { account: 'default', sha256: hash('sha256', BYTES), format: 'ndjson', parts: 1 } as const;

/** Uploads a file whose hashings are counted from then on. */
async function uploaded() {
  const batchDir = newFolder();
  const send = () => storePart(batchDir, UPLOAD, { part: 1, bytes: BYTES });
  const { file } = await send();
  if (!file) throw new Error('the only part makes no file');
  const hashed = vi.spyOn(crypto, 'hash');
  onTestFinished(() => {
    hashed.mockRestore();
    syncBuiltinESMExports();
  });
  syncBuiltinESMExports();
  const read = (isShown: boolean) => readBatchSource({ batchDir }, { file, isShown });
  return { send, read, hashed, place: join(batchDir, file.path) };
}

test('a file that was hashed when its parts were joined is not hashed again to be shown', async () => {
  const { send, read, hashed } = await uploaded();
  expect(await send()).toHaveProperty('file');
  expect([...(await read(true)).rows()]).toHaveLength(1_000);
  expect(hashed).not.toHaveBeenCalled();
});

test('one that was changed since is noticed, also with its size and time set back', async () => {
  const { send, read, place } = await uploaded();
  writeFileSync(place, rows('2'));
  utimesSync(place, 1, 1);
  await expect(read(true)).rejects.toMatchObject({ failureType: 'BatchFileUnusable', field: 'file.sha256' });
  expect(await send()).toHaveProperty('file');
  expect((await read(true)).sha256).toBe(UPLOAD.sha256);
});

test('to be sent it is always hashed, for a shared mapping changes no time', async () => {
  const { send, read, place } = await uploaded();
  const write = await mapFile(place);
  await send();
  await write(rows('2'));
  await expect(read(false)).rejects.toMatchObject({ failureType: 'BatchFileUnusable', field: 'file.sha256' });
  // It is noticed for everybody then.
  await expect(read(true)).rejects.toMatchObject({ field: 'file.sha256' });
  expect(await send()).toHaveProperty('file');
  expect((await read(false)).sha256).toBe(UPLOAD.sha256);
});
