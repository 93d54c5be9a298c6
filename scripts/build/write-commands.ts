import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleForNode } from './packages-of.js';

/** Programs that are no part of `src`, by their names in the package. */
const COMMANDS = {
  sandbox: 'sandbox/main.ts',
  dev: 'scripts/dev.ts',
  'sdk-download-child': 'scripts/temporal/sdk-download-child.ts',
};

/** Compiles the commands for developers into the package, a file each. */
export async function writeCommands(root: string, dist: string): Promise<void> {
  const main = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  await bundleForNode(main, { absWorkingDir: root, entryPoints: COMMANDS, outdir: dist, format: 'esm' });
}
