import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { buildWorkflowBundle } from '../scripts/workflow-bundle.js';

/** Root of the repository. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * Compiles the product as it stands into a folder, workflow bundle included: what is killed every few seconds must start
 * quickly, and it is what production runs. Throws with the compiler's words when it does not compile.
 */
export async function buildProduct(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await execa('tsc', ['-p', 'tsconfig.build.json', '--outDir', folder], { cwd: ROOT, preferLocal: true });
  const { code } = await buildWorkflowBundle();
  await writeFile(join(folder, 'workflow-bundle.js'), code);
}
