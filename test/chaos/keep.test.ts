import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { explainFolder, removeFolder } from '../../chaos/keep.js';

async function folderOfRuns(...runs: string[]): Promise<string> {
  const parent = join(await mkdtemp(join(tmpdir(), 'chaos-')), 'runs');
  onTestFinished(() => rm(join(parent, '..'), { recursive: true, force: true }));
  for (const run of runs) await mkdir(join(parent, run, 'dist'), { recursive: true });
  return parent;
}

test('a clean run leaves no folder, the last one not even that of all runs', async () => {
  const parent = await folderOfRuns('1', '2');
  await removeFolder(join(parent, '1'));
  expect(await readdir(parent)).toEqual(['2']);
  await removeFolder(join(parent, '2'));
  expect(await readdir(join(parent, '..'))).toEqual([]);
});

test('a kept folder says what is in it and holds no compiled product', async () => {
  const parent = await folderOfRuns('1');
  await explainFolder(join(parent, '1'));
  expect(await readdir(join(parent, '1'))).toEqual(['README.txt']);
});
