import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openBatchSource } from '../../src/batch-files/source.js';
import { folderWith, newFolder, PAYOUT_HEADER, payoutLine } from '../support/batch-files.js';
import { mapFile } from '../support/mapped-file.js';
import { readAll, rowsOf } from './files.fixture.js';

const content = (rows: number): string =>
  [PAYOUT_HEADER, ...Array.from({ length: rows }, (_, index) => payoutLine(index)), ''].join('\n');

/** More rows than are read at once. */
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

  test('needs a folder to be in', async () => {
    await expect(openBatchSource({}, { file: { path: 'rows.csv' } })).rejects.toMatchObject({
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

  test('a file of more than 256 MiB', async () => {
    const batchDir = folderWith('rows.csv', LONG);
    truncateSync(join(batchDir, 'rows.csv'), 256 * 1024 * 1024 + 1);
    await expect(readAll(batchDir, { path: 'rows.csv' })).rejects.toMatchObject({
      failureType: 'InvalidInput',
      problem: expect.stringContaining('larger than 256 MiB'),
    });
  });
});

describe('a pinned file', () => {
  const hashOf = async (batchDir: string): Promise<string> => {
    const source = await openBatchSource({ batchDir }, { file: { path: 'rows.csv' } });
    await source.close();
    return source.sha256;
  };

  test('is read under its hash, also by another name', async () => {
    const batchDir = folderWith('rows.csv', content(3));
    const sha256 = await hashOf(batchDir);
    renameSync(join(batchDir, 'rows.csv'), join(batchDir, 'other.csv'));
    expect(await readAll(batchDir, { path: 'other.csv', sha256 })).toHaveLength(3);
  });

  test('with one digit changed is refused, even when size and time of the change are set back', async () => {
    const batchDir = folderWith('rows.csv', content(3));
    const file = join(batchDir, 'rows.csv');
    const sha256 = await hashOf(batchDir);
    writeFileSync(file, content(3).replace('10.50', '90.50'));
    utimesSync(file, 1, 1);
    await expect(readAll(batchDir, { path: 'rows.csv', sha256 })).rejects.toMatchObject({
      failureType: 'BatchFileUnusable',
      field: 'file.sha256',
    });
  });

  test.for<[what: string, change: (file: string) => void]>([
    ['written to', (file) => appendFileSync(file, 'x')],
    ['overwritten in place', (file) => writeFileSync(file, LONG.replaceAll('10.50', '90.50'))],
    ['replaced by another', (file) => renameSync(join(folderWith('new.csv', LONG), 'new.csv'), file)],
    ['cut off', (file) => truncateSync(file, 100)],
    ['deleted', (file) => unlinkSync(file)],
  ])('that is %s while it is read is given up at once', async ([, change]) => {
    const batchDir = folderWith('rows.csv', LONG);
    const source = await openBatchSource({ batchDir }, { file: { path: 'rows.csv' } });
    let rows = 0;
    const reading = async () => {
      for await (const { row } of source.rows()) {
        rows = row;
        if (row === 1) change(join(batchDir, 'rows.csv'));
      }
    };
    await expect(reading()).rejects.toMatchObject({ failureType: 'BatchFileUnusable' });
    await source.close();
    expect(rows).toBeLessThan(5_000);
  });
});

describe('a file that is changed through a shared mapping, which changes none of its times', () => {
  const CHANGED = LONG.replaceAll('.50,', '.90,');

  async function mapped() {
    const batchDir = folderWith('rows.csv', LONG);
    const write = await mapFile(join(batchDir, 'rows.csv'));
    const open = (sha256?: string) => openBatchSource({ batchDir }, { file: { path: 'rows.csv', sha256 } });
    return { batchDir, write, open };
  }

  test('while it is read: no changed row is read, and it is given up', async () => {
    const { write, open } = await mapped();
    const source = await open();
    const texts: string[] = [];
    const reading = async () => {
      for await (const { row, text } of source.rows()) {
        texts.push(text);
        if (row === 1) await write(CHANGED);
      }
    };
    await expect(reading()).rejects.toMatchObject({ failureType: 'BatchFileUnusable' });
    await source.close();
    expect(texts.length).toBeLessThan(5_000);
    expect(LONG.split('\n').slice(1, texts.length + 1)).toEqual(texts);
  });

  test('after it was hashed: it is not read under that hash, and has another one', async () => {
    const { batchDir, write, open } = await mapped();
    const first = await open();
    await first.close();
    await write(CHANGED);
    const { sha256 } = first;
    await expect(readAll(batchDir, { path: 'rows.csv', sha256 })).rejects.toMatchObject({
      failureType: 'BatchFileUnusable',
    });
    const second = await open();
    await second.close();
    expect(second.sha256).not.toBe(sha256);
    await write(LONG);
    expect(await readAll(batchDir, { path: 'rows.csv', sha256 })).toHaveLength(5_000);
  });
});

describe('a file that others can write to', () => {
  const refused = (problem: RegExp) => ({
    failureType: 'BatchFileUnusable',
    field: 'file.path',
    problem: expect.stringMatching(problem),
  });

  test('under another name is refused, and says to copy it', async () => {
    const outside = folderWith('upload.csv', LONG);
    const batchDir = newFolder();
    linkSync(join(outside, 'upload.csv'), join(batchDir, 'rows.csv'));
    await expect(readAll(batchDir, { path: 'rows.csv' })).rejects.toMatchObject(refused(/hard link.*copy it/));
    unlinkSync(join(outside, 'upload.csv'));
    expect(await readAll(batchDir, { path: 'rows.csv' })).toHaveLength(5_000);
  });

  test('that gets another name while it is read is given up', async () => {
    const batchDir = folderWith('rows.csv', LONG);
    const source = await openBatchSource({ batchDir }, { file: { path: 'rows.csv' } });
    linkSync(join(batchDir, 'rows.csv'), join(newFolder(), 'upload.csv'));
    await expect(rowsOf(source)).rejects.toMatchObject({ failureType: 'BatchFileUnusable' });
  });

  test.for([
    ['2026/11/rows.csv', 0o646, /write to it;.*chmod o-w/],
    ['2026/11', 0o757, /write to folder 2026\/11;/],
    ['2026', 0o1777, /write to folder 2026;/],
    ['', 0o777, /write to BATCH_DIR;/],
  ] as const)('because anybody may write to "%s" is refused, and says what to do', async ([what, mode, problem]) => {
    const batchDir = newFolder();
    mkdirSync(join(batchDir, '2026/11'), { recursive: true });
    writeFileSync(join(batchDir, '2026/11/rows.csv'), LONG);
    chmodSync(join(batchDir, what), mode);
    await expect(readAll(batchDir, { path: '2026/11/rows.csv' })).rejects.toMatchObject(refused(problem));
  });

  test('because anybody may replace BATCH_DIR is refused, unless only its owner may', async () => {
    const above = newFolder();
    const batchDir = join(above, 'batches');
    mkdirSync(batchDir);
    writeFileSync(join(batchDir, 'rows.csv'), LONG);
    chmodSync(above, 0o777);
    await expect(readAll(batchDir, { path: 'rows.csv' })).rejects.toMatchObject(
      refused(/to a folder above BATCH_DIR;/),
    );
    chmodSync(above, 0o1777);
    expect(await readAll(batchDir, { path: 'rows.csv' })).toHaveLength(5_000);
  });

  test('because they are of its group is read: who may put payrolls there is the group', async () => {
    const batchDir = folderWith('rows.csv', LONG);
    chmodSync(batchDir, 0o2775);
    chmodSync(join(batchDir, 'rows.csv'), 0o664);
    expect(await readAll(batchDir, { path: 'rows.csv' })).toHaveLength(5_000);
  });
});
