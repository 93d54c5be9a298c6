import { realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleFile, type EncryptionMode } from '../../src/bundle/bundle.js';
import { buildWorkflowBundle } from '../workflow-bundle.js';
import { withRelativeSources } from './relative-sources.js';

/** Writes the workflow bundle of each mode into a compiled package; `root`: the project's folder, with a separator at its end. */
export async function writeBundles(folder: string, modes: readonly EncryptionMode[], root: string): Promise<void> {
  const modules = await realpath(join(root, 'node_modules'));
  for (const mode of modes) {
    const { code } = await buildWorkflowBundle(mode);
    await writeFile(join(folder, bundleFile(mode)), withRelativeSources(code, root, modules));
  }
}
