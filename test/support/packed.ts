import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { inject, onTestFinished } from 'vitest';
import { installOnce } from '../../scripts/temporal/cache.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LEFT_OUT = /^(\..*|node_modules|dist|dist-client|test|test-results)$/;

/** Both packages as `npm pack` makes them of a clone, which it has to build first. */
export interface Packed {
  /** The clone. */
  folder: string;
  /** Paths of the two tarballs. */
  main: string;
  client: string;
  /** Paths in the main package. */
  files: string[];
}

const silent = (): void => undefined;

/** Builds and packs both packages, once for the run. */
export async function packedPackages(): Promise<Packed> {
  const folder = join(inject('runFolder'), 'packed');
  await installOnce(folder, silent, async (building) => {
    for (const name of await readdir(ROOT)) {
      if (!LEFT_OUT.test(name)) await cp(join(ROOT, name), join(building, name), { recursive: true });
    }
    await symlink(join(ROOT, 'node_modules'), join(building, 'node_modules'));
    const pack = ['pack', '--json', '--foreground-scripts=false'];
    const { stdout } = await execa('npm', pack, { cwd: building });
    await execa('npm', ['pack', './dist-client'], { cwd: building });
    await writeFile(join(building, 'packed.json'), stdout);
  });
  const [packed] = Object.values(JSON.parse(await readFile(join(folder, 'packed.json'), 'utf8')));
  const { filename, version, files } = packed as { filename: string; version: string; files: { path: string }[] };
  return {
    folder,
    main: join(folder, filename),
    client: join(folder, `payment-orders-client-${version}.tgz`),
    files: files.map(({ path }) => path),
  };
}

/** Installs packages into a new folder with these files, as a user of ours does. The folder is gone after the test. */
export async function installed(packages: readonly string[], files: Record<string, string> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'package-user-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'package.json'), '{ "name": "user", "private": true }');
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  await install(folder, packages);
  return folder;
}

/** Adds packages to such a folder. */
export const install = (folder: string, packages: readonly string[]) =>
  execa('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...packages], { cwd: folder });

/** The installed packages by their paths below the folder, with their versions. */
export async function packagesIn(folder: string): Promise<Map<string, string>> {
  const lock = JSON.parse(await readFile(join(folder, 'node_modules', '.package-lock.json'), 'utf8'));
  const packages = Object.entries(lock.packages as Record<string, { version: string }>);
  return new Map(packages.map(([path, { version }]) => [path, version]));
}
