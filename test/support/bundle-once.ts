import { writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundlePath } from '@temporalio/worker';
import { inject } from 'vitest';
import { installOnce } from '../../scripts/temporal/cache.js';
import { bundleInRun } from './compile.js';

/** A bundle of workflows, built once for the run by the first test that asks, whichever process it runs in. */
export async function bundleOnce(name: string, bundle: () => Promise<{ code: string }>): Promise<WorkflowBundlePath> {
  const codePath = bundleInRun(inject('runFolder'), name);
  const silent = (): void => undefined;
  await installOnce(dirname(codePath), silent, async (folder) => {
    await writeFile(join(folder, basename(codePath)), (await bundle()).code);
  });
  return { codePath };
}

/** Workflows of a test's own, `file` being a URL. */
export function testWorkflowBundle(file: URL): Promise<WorkflowBundlePath> {
  const workflowsPath = fileURLToPath(file);
  const name = workflowsPath.replaceAll(/\W+/g, '-').slice(-100);
  return bundleOnce(name, () => bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') }));
}
