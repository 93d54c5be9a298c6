import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('the SBOM names the package, whatever its folder is called, and nothing of the folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'another-name-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const file of ['package.json', 'package-lock.json']) await copyFile(join(root, file), join(folder, file));
  const { stdout } = await execa('node', ['--import', import.meta.resolve('tsx'), join(root, 'scripts/sbom.ts')], {
    cwd: folder,
  });
  const { metadata, components } = JSON.parse(stdout);
  const { name, version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  expect(metadata.component).toMatchObject({ name, version, purl: `pkg:npm/${name}@${version}` });
  expect(components.length).toBeGreaterThan(30);
  expect(stdout).not.toContain('another-name-');
}, 60_000);
