import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import type { TestProject } from 'vitest/node';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder with what was built for this run, gone when it ends. */
    runFolder: string;
  }
}

/** Where the compiled programs are in a run's folder. */
export const compiledFolder = (runFolder: string): string => join(runFolder, 'compiled');

/** File of a bundle that is built when the first test asks for it. */
export const bundleInRun = (runFolder: string, name: string): string =>
  join(runFolder, 'bundles', name, 'workflow-bundle.js');

/**
 * Compiles product and sandbox once for the run, as production runs them: a process that compiles its sources itself takes three
 * times as long to start. Types are not checked, which `npm run check` does.
 */
export async function compileProcesses(project: TestProject, runFolder: string): Promise<void> {
  const compiled = compiledFolder(runFolder);
  await mkdir(compiled, { recursive: true });
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  await writeFile(join(compiled, 'package.json'), JSON.stringify({ type: 'module', version }));
  await symlink(join(ROOT, 'node_modules'), join(compiled, 'node_modules'));
  const options = ['--noCheck', '--rootDir', '.', '--declaration', 'false', '--outDir', compiled];
  await execa('tsc', ['-p', 'test/support/tsconfig.processes.json', ...options], { cwd: ROOT, preferLocal: true });
  project.provide('runFolder', runFolder);
}
