import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { inject } from 'vitest';
import { installOnce } from '../../scripts/temporal/cache.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A change of the sources: in that file of `src`, this text becomes that one. */
export type Change = readonly [file: string, text: string, becomes: string];

/** As `npm run build` does: a worker would bundle for itself. */
const BUNDLE = `
  import { writeFile } from 'node:fs/promises';
  const { bundleFile, bundleWorkflows } = await import(process.cwd() + '/bundle/bundle.js');
  for (const mode of ['off', 'required']) await writeFile(bundleFile(mode), (await bundleWorkflows({ mode })).code);
`;

const silent = (): void => undefined;

/**
 * Another version of the programs, compiled from a copy of `src` with those changes; the path of one of them, such as `worker`. Built once
 * for the run. Throws where a text is not there exactly once.
 */
export async function builtVersion(name: string, changes: readonly Change[]): Promise<(program: string) => string> {
  const folder = join(inject('runFolder'), 'versions', name);
  await installOnce(folder, silent, async (building) => {
    await cp(join(ROOT, 'src'), join(building, 'src'), { recursive: true });
    for (const change of changes) await apply(building, change);
    await writeFile(join(building, 'package.json'), '{ "type": "module" }');
    await symlink(join(ROOT, 'node_modules'), join(building, 'node_modules'));
    const extended = { extends: join(ROOT, 'tsconfig.json'), include: ['src'] };
    const compilerOptions = { noEmit: false, noCheck: true, rootDir: '.', outDir: 'dist', declaration: false };
    await writeFile(join(building, 'tsconfig.json'), JSON.stringify({ ...extended, compilerOptions }));
    await execa('tsc', ['-p', building], { cwd: ROOT, preferLocal: true });
    await execa('node', ['--input-type=module', '-e', BUNDLE], { cwd: join(building, 'dist/src') });
  });
  return (program) => join(folder, 'dist/src', `${program}.js`);
}

async function apply(folder: string, [file, text, becomes]: Change): Promise<void> {
  const path = join(folder, 'src', file);
  const parts = (await readFile(path, 'utf8')).split(text);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${text}`);
  await writeFile(path, parts.join(becomes));
}
