import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DefaultLogger } from '@temporalio/worker';
import type { TestProject } from 'vitest/node';
import { buildWorkflowBundle } from '../../scripts/workflow-bundle.js';
import { bundleWorkflows } from '../../src/bundle/bundle.js';
import { bundleInRun } from './compile.js';

/** Bundles the workflows for labs on virtual time, which need no server; returns the tear-down. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'payment-orders-test-')));
  const file = join(folder, 'workflows.js');
  const encrypted = (['on', 'required'] as const).map(async (mode) => {
    const path = bundleInRun(folder, mode === 'on' ? 'encrypted' : mode);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, (await bundleWorkflows({ mode, logger: new DefaultLogger('ERROR') })).code);
  });
  // Their own processes have another time, in which nobody waits for another to bundle.
  await Promise.all([...encrypted, buildWorkflowBundle().then(({ code }) => writeFile(file, code))]);
  project.provide('workflowBundlePath', file);
  project.provide('runFolder', folder);
  return () => rm(folder, { recursive: true, force: true });
}
