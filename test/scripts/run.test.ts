import { cp, mkdir, mkdtemp, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { STAMP, sourcesHash } from '../../scripts/build/sources-hash.mjs';

const here = fileURLToPath(new URL('../..', import.meta.url));

/** A project with one program, `say`, which prints what it was made of and its arguments. */
let root: string;
beforeEach(async () => {
  root = `${await realpath(await mkdtemp(join(tmpdir(), 'run-')))}/`;
  await mkdir(join(root, 'src'));
  await mkdir(join(root, 'dist'));
  await cp(join(here, 'scripts', 'build'), join(root, 'scripts', 'build'), { recursive: true });
  await cp(join(here, 'scripts', 'run.mjs'), join(root, 'scripts', 'run.mjs'));
  await symlink(join(here, 'node_modules'), join(root, 'node_modules'));
  for (const name of ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json']) {
    await writeFile(join(root, name), '{}');
  }
  await writeFile(join(root, 'package.json'), '{ "type": "module" }');
  await writeFile(join(root, 'src', 'other.ts'), '');
  await writeFile(join(root, 'src', 'say.ts'), "console.log('sources', ...(process.argv.slice(2) as string[]));");
  await writeFile(join(root, 'dist', 'say.js'), "console.log('built', ...process.argv.slice(2));");
});
afterEach(() => rm(root, { recursive: true, force: true }));

const build = () => writeFile(join(root, STAMP), sourcesHash(root));
const say = () => execa(process.execPath, ['scripts/run.mjs', 'say', 'a', '--b'], { cwd: root });

test('a build of exactly these sources is what runs, with the arguments, whatever the times of the files say', async () => {
  await build();
  await utimes(join(root, 'src', 'say.ts'), new Date(), new Date(Date.now() + 60_000));
  expect(await say()).toMatchObject({ stdout: 'built a --b', stderr: '' });
});

test('without a build the sources run', async () => {
  expect(await say()).toMatchObject({ stdout: 'sources a --b', stderr: '' });
});

test.for([
  ['changed, though it bears an old date', 'say.ts', "console.log('sources');\n"],
  ['added', 'new.ts', ''],
  ['removed', 'other.ts', undefined],
] as const)('a build is not run once a source was %s, and that is said', async ([, name, text]) => {
  await build();
  const file = join(root, 'src', name);
  if (text === undefined) await rm(file);
  else {
    await writeFile(file, text);
    await utimes(file, new Date(0), new Date(0));
  }
  const { stdout, stderr } = await say();
  expect(stdout).toMatch(/^sources/);
  expect(stderr).toContain('npm run build');
});

test('a build is not run once the packages are others', async () => {
  await build();
  await writeFile(join(root, 'package-lock.json'), '{ "other": true }');
  expect((await say()).stdout).toMatch(/^sources/);
});
