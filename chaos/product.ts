import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { writeBundles } from '../scripts/build/write-bundles.js';
import type { EncryptionMode } from '../src/bundle/bundle.js';

/** Root of the repository. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * Compiles the product as it stands into a folder, with the workflow bundles of these modes: what is killed every few seconds
 * must start quickly, and it is what production runs. Throws with the compiler's words when it does not compile.
 */
export async function buildProduct(folder: string, modes: readonly EncryptionMode[] = ['off']): Promise<void> {
  await mkdir(folder, { recursive: true });
  await execa('tsc', ['-p', 'tsconfig.build.json', '--outDir', folder], { cwd: ROOT, preferLocal: true });
  await writeBundles(folder, modes, ROOT);
}
