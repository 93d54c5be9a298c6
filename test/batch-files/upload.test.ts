import { hash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { storePart } from '../../src/batch-files/upload.js';
import type { BatchUpload } from '../../src/contract/batch/files.js';
import { newFolder } from '../support/batch-files.js';

const PARTS = ['{"order_id":"a"}\n', '{"order_id":"b"}\n', '{"order_id":"c"}\n'].map((text) => Buffer.from(text));
const WHOLE = Buffer.concat(PARTS);

const about = (change: Partial<BatchUpload> = {}): BatchUpload => ({
  account: 'default',
  sha256: hash('sha256', WHOLE),
  format: 'ndjson',
  parts: PARTS.length,
  ...change,
});
const pathOf = ({ account, sha256, format }: BatchUpload) => `uploads/${account}/${sha256}.${format}`;
const send = (folder: string, part: number, upload = about(), bytes = PARTS[part - 1] ?? Buffer.of()) =>
  storePart(folder, upload, { part, bytes });

test('parts in any order, some twice, become one file that only the owner may read', async () => {
  const folder = newFolder();
  expect(await storePart(folder, about())).toEqual({ missing: [1, 2, 3] });
  expect(await send(folder, 3)).toEqual({ missing: [1, 2] });
  expect(await send(folder, 3)).toEqual({ missing: [1, 2] });
  expect(await send(folder, 1)).toEqual({ missing: [2] });
  const file = { path: pathOf(about()), sha256: about().sha256 };
  expect(await send(folder, 2)).toEqual({ missing: [], file });
  expect(readFileSync(join(folder, file.path))).toEqual(WHOLE);
  expect(statSync(join(folder, file.path)).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'uploads')).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(folder, 'uploads', 'default'))).toEqual([`${file.sha256}.ndjson`]);
  // A late part of another client leaves nothing.
  expect(await send(folder, 2)).toEqual({ missing: [], file });
  expect(readdirSync(join(folder, 'uploads', 'default'))).toHaveLength(1);
});

test('unfinished uploads of an account take 128 MiB at most, other accounts go on, and after a day they are removed', async () => {
  const folder = newFolder();
  const other = join(folder, 'uploads', 'default', 'f'.repeat(64));
  mkdirSync(other, { recursive: true });
  const large = join(other, '1-of-9.part');
  writeFileSync(large, '');
  truncateSync(large, 128 * 1024 * 1024);
  await expect(send(folder, 1)).rejects.toThrow(/EDQUOT/);
  expect(await send(folder, 1, about({ account: 'eu' }))).toEqual({ missing: [2, 3] });
  const dayAgo = Date.now() / 1_000 - 86_401;
  utimesSync(other, dayAgo, dayAgo);
  expect(await send(folder, 1)).toEqual({ missing: [2, 3] });
  expect(existsSync(other)).toBe(false);
});

test('many clients upload the same rows at once', async () => {
  const folder = newFolder();
  const upload = about();
  const client = async () => {
    let state = await storePart(folder, upload);
    while (!state.file) {
      // A part may meet another client's join: its activity is repeated.
      for (const part of state.missing) state = await send(folder, part).catch(() => state);
      state = await storePart(folder, upload).catch(() => state);
    }
    return state.file;
  };
  const files = await Promise.all(Array.from({ length: 8 }, client));
  expect(new Set(files.map(({ path }) => path))).toEqual(new Set([pathOf(upload)]));
  expect(readFileSync(join(folder, pathOf(upload)))).toEqual(WHOLE);
});

test('a part that another client joins meanwhile is never a failure of the folder', async () => {
  const failed = new Set<string>();
  for (let round = 0; round < 60; round += 1) {
    const folder = newFolder();
    const parts = Array.from({ length: 8 }, () => [1, 2, 3]).flat();
    const sent = await Promise.allSettled(parts.map((part) => send(folder, part)));
    for (const one of sent) if (one.status === 'rejected') failed.add(String(one.reason));
    expect(await storePart(folder, about())).toHaveProperty('file');
  }
  expect([...failed].filter((reason) => !/joined or removed/.test(reason))).toEqual([]);
});

test('a part with other bytes is refused with all others, and a later upload succeeds', async () => {
  const folder = newFolder();
  await send(folder, 1);
  await send(folder, 2, about(), Buffer.from('{"order_id":"evil"}\n'));
  await expect(send(folder, 3)).rejects.toMatchObject({ failureType: 'InvalidInput', field: 'sha256' });
  expect(existsSync(join(folder, pathOf(about())))).toBe(false);
  expect(await storePart(folder, about())).toEqual({ missing: [1, 2, 3] });
  for (const part of [1, 2, 3]) await send(folder, part);
  expect(readFileSync(join(folder, pathOf(about())))).toEqual(WHOLE);
});

test('parts of another size or account are not mixed, and what a killed worker left is ignored', async () => {
  const folder = newFolder();
  await send(folder, 1);
  expect(await storePart(folder, about({ parts: 2 }))).toEqual({ missing: [1, 2] });
  expect(await storePart(folder, about({ account: 'eu' }))).toEqual({ missing: [1, 2, 3] });
  writeFileSync(join(folder, 'uploads', 'default', about().sha256, '.cut.tmp'), 'half');
  expect(await send(folder, 2)).toEqual({ missing: [3] });
  expect(await send(folder, 3)).toHaveProperty('file');
  expect(readdirSync(join(folder, 'uploads', 'default'))).toEqual([`${about().sha256}.ndjson`]);
});

test('a file that was damaged since is uploaded again', async () => {
  const folder = newFolder();
  for (const part of [1, 2, 3]) await send(folder, part);
  writeFileSync(join(folder, pathOf(about())), 'damaged');
  expect(await storePart(folder, about())).toEqual({ missing: [1, 2, 3] });
  for (const part of [1, 2, 3]) await send(folder, part);
  expect(readFileSync(join(folder, pathOf(about())))).toEqual(WHOLE);
});

test.each(['uploads', 'uploads/default'])('nothing is written through a link in place of %s', async (place) => {
  const [folder, outside] = [newFolder(), newFolder()];
  if (place !== 'uploads') mkdirSync(join(folder, 'uploads'));
  symlinkSync(outside, join(folder, place));
  await expect(send(folder, 1)).rejects.toMatchObject({ field: 'file.path' });
  expect(readdirSync(outside)).toEqual([]);
});

test('a folder that cannot be written is named with its variable', async () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'uploads'), 'a file');
  await expect(send(folder, 1)).rejects.toThrow(/BATCH_DIR/);
});
