import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readBatchSource } from '../../src/batch-files/source.js';
import { folderWith, newFolder, PAYOUT_HEADER, payoutLine } from '../support/batch-files.js';
import { mapFile } from '../support/mapped-file.js';
import { readAll } from './files.fixture.js';

const content = (rows: number): string =>
  [PAYOUT_HEADER, ...Array.from({ length: rows }, (_, index) => payoutLine(index)), ''].join('\n');

const LONG = content(5_000);

describe('a path', () => {
  test.for([
    '../rows.csv',
    'a/../../rows.csv',
    'a/../rows.csv',
    './rows.csv',
    'a//rows.csv',
    '/etc/passwd.csv',
    'rows.csv\0.csv',
    '../../etc/passwd.csv',
  ])('%j leads out of the folder or is no plain one, and is refused', async (path) => {
    const batchDir = folderWith('rows.csv', LONG);
    await expect(readAll(batchDir, { path })).rejects.toMatchObject({
      failureType: 'InvalidInput',
      field: 'file.path',
    });
  });

  test('into a folder below is fine', async () => {
    const batchDir = newFolder();
    mkdirSync(join(batchDir, '2026', 'november'), { recursive: true });
    writeFileSync(join(batchDir, '2026/november/rows.csv'), content(3));
    expect(await readAll(batchDir, { path: '2026/november/rows.csv' })).toHaveLength(3);
  });

  test.for(['rows.csv', 'no/folder/rows.csv'])('%s to nothing is unusable', async (path) => {
    await expect(readAll(newFolder(), { path })).rejects.toMatchObject({ failureType: 'BatchFileUnusable' });
  });

  test.for(['uploads/eu/rows.csv', 'Uploads/eu/rows.csv'])('%s is read for its account only', async (path) => {
    const batchDir = newFolder();
    mkdirSync(join(batchDir, dirname(path)), { recursive: true });
    writeFileSync(join(batchDir, path), content(3));
    const read = (account?: string) => readBatchSource({ batchDir }, { account, file: { path } });
    expect([...(await read('eu')).rows()]).toHaveLength(3);
    for (const account of ['us', undefined]) {
      await expect(read(account)).rejects.toMatchObject({
        failureType: 'InvalidInput',
        field: 'file.path',
        problem: expect.stringContaining('another account'),
      });
    }
  });

  test('needs a folder to be in', async () => {
    await expect(readBatchSource({}, { file: { path: 'rows.csv' } })).rejects.toMatchObject({
      failureType: 'BatchFileUnusable',
      problem: expect.stringContaining('BATCH_DIR'),
    });
  });
});

describe('what is no plain file is refused', () => {
  test.for<[what: string, make: (path: string) => void]>([
    ['a link to a file in the folder', (path) => symlinkSync('real.csv', path)],
    ['a link to a file outside', (path) => symlinkSync(join(folderWith('x.csv', LONG), 'x.csv'), path)],
    ['a link to nothing', (path) => symlinkSync('nothing.csv', path)],
    ['a folder', (path) => mkdirSync(path)],
    ['a named pipe', (path) => execFileSync('mkfifo', [path])],
    ['a link to a device', (path) => symlinkSync('/dev/zero', path)],
  ])('%s', async ([, make]) => {
    const batchDir = folderWith('real.csv', LONG);
    make(join(batchDir, 'rows.csv'));
    await expect(readAll(batchDir, { path: 'rows.csv' })).rejects.toMatchObject({
      failureType: 'InvalidInput',
      field: 'file.path',
    });
  });

  test('a file behind a linked folder', async () => {
    const batchDir = newFolder();
    symlinkSync(folderWith('rows.csv', LONG), join(batchDir, 'month'));
    await expect(readAll(batchDir, { path: 'month/rows.csv' })).rejects.toMatchObject({
      failureType: 'InvalidInput',
      problem: expect.stringContaining('symbolic link'),
    });
  });

  test('a file of more than 32 MiB', async () => {
    const batchDir = folderWith('rows.csv', LONG);
    truncateSync(join(batchDir, 'rows.csv'), 32 * 1024 * 1024 + 1);
    await expect(readAll(batchDir, { path: 'rows.csv' })).rejects.toMatchObject({
      failureType: 'InvalidInput',
      problem: expect.stringContaining('larger than 32 MiB'),
    });
  });
});

describe('a file of a batch', () => {
  const sourceOf = (batchDir: string, sha256?: string) =>
    readBatchSource({ batchDir }, { file: { path: 'rows.csv', sha256 } });

  test('is read under its hash, also by another name', async () => {
    const batchDir = folderWith('rows.csv', content(3));
    const { sha256 } = await sourceOf(batchDir);
    renameSync(join(batchDir, 'rows.csv'), join(batchDir, 'other.csv'));
    expect(await readAll(batchDir, { path: 'other.csv', sha256 })).toHaveLength(3);
  });

  test('with one digit changed is refused, even when size and time of the change are set back', async () => {
    const batchDir = folderWith('rows.csv', content(3));
    const file = join(batchDir, 'rows.csv');
    const { sha256 } = await sourceOf(batchDir);
    writeFileSync(file, content(3).replace('10.50', '90.50'));
    utimesSync(file, 1, 1);
    await expect(sourceOf(batchDir, sha256)).rejects.toMatchObject({
      failureType: 'BatchFileUnusable',
      field: 'file.sha256',
      problem: expect.stringMatching(/was changed/),
    });
  });

  test.for<[what: string, change: (file: string) => void | Promise<void>]>([
    ['written to', (file) => appendFileSync(file, 'x')],
    ['overwritten in place', (file) => writeFileSync(file, LONG.replaceAll('10.50', '90.50'))],
    ['replaced by another', (file) => renameSync(join(folderWith('new.csv', LONG), 'new.csv'), file)],
    ['cut off', (file) => truncateSync(file, 100)],
    ['deleted', (file) => unlinkSync(file)],
    [
      'changed through a shared mapping, which changes none of its times',
      async (file) => (await mapFile(file))(LONG.replaceAll('.50,', '.90,')),
    ],
  ])('that is %s while its rows are read has the rows of its hash, and no others', async ([, change]) => {
    const batchDir = folderWith('rows.csv', LONG);
    const source = await sourceOf(batchDir);
    const texts: string[] = [];
    for (const { row, text } of source.rows()) {
      texts.push(text);
      if (row === 1) await change(join(batchDir, 'rows.csv'));
    }
    expect(texts).toEqual(LONG.split('\n').slice(1, -1));
    expect(source.sha256).toBe(hash('sha256', LONG));
  });

  test('that was changed through a shared mapping is not read under its old hash, and has another one', async () => {
    const batchDir = folderWith('rows.csv', LONG);
    const write = await mapFile(join(batchDir, 'rows.csv'));
    const { sha256 } = await sourceOf(batchDir);
    await write(LONG.replaceAll('.50,', '.90,'));
    await expect(sourceOf(batchDir, sha256)).rejects.toMatchObject({ failureType: 'BatchFileUnusable' });
    expect((await sourceOf(batchDir)).sha256).not.toBe(sha256);
    await write(LONG);
    expect(await readAll(batchDir, { path: 'rows.csv', sha256 })).toHaveLength(5_000);
  });
});
