import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { copyTree } from './copy-tree.js';
import { applyMutant, type Mutant } from './mutant.js';

/** Does something in a fresh copy of the tree, with the mutant's mistake in it if one is given. */
export async function inCopy<T>(
  root: string,
  mutant: Mutant | undefined,
  act: (root: string) => Promise<T>,
): Promise<T> {
  const copy = await copyTree(root);
  try {
    if (mutant) {
      const file = join(copy.root, mutant.file);
      await writeFile(file, applyMutant(mutant, await readFile(file, 'utf8')));
    }
    return await act(copy.root);
  } finally {
    await copy.remove();
  }
}
