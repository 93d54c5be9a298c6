import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { compileProcesses } from './compile.js';

/** Compiles the programs once for tests that start them and need no server; returns the tear-down. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'payment-orders-test-')));
  await compileProcesses(project, folder);
  return () => rm(folder, { recursive: true, force: true });
}
