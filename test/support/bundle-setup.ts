import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildWorkflowBundle } from '../../scripts/workflow-bundle.js';

/** Bundles the workflows for labs on virtual time, which need no server; returns the tear-down. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'payment-orders-test-')));
  const file = join(folder, 'workflows.js');
  await writeFile(file, (await buildWorkflowBundle()).code);
  project.provide('workflowBundlePath', file);
  return () => rm(folder, { recursive: true, force: true });
}
