import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { resolveTemporal } from '../../scripts/temporal/resolve.js';
import { buildWorkflowBundle } from '../../scripts/workflow-bundle.js';
import { bundleFile } from '../../src/bundle/bundle.js';
import { bundleInRun, compiledFolder, compileProcesses } from './compile.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the embedded dev server; undefined when TEMPORAL_ADDRESS names another server. */
    embeddedTemporal: string | undefined;
    /** File of the workflow bundle, built once for the run; undefined when the workflows cannot be bundled. */
    workflowBundlePath: string | undefined;
  }
}

/** Starts one Temporal server, compiles the programs and bundles the workflows once for all test files; returns the tear-down. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const temporal = await resolveTemporal({ log });
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'payment-orders-test-')));
  const tearDown = async (): Promise<void> => {
    await temporal.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    project.provide('embeddedTemporal', temporal.embedded ? temporal.address : undefined);
    const [bundle] = await Promise.all([writeBundle(folder, log), compileProcesses(project, folder)]);
    project.provide('workflowBundlePath', bundle);
    return tearDown;
  } catch (error) {
    await tearDown();
    throw error;
  }
}

/** Without a bundle only the tests that ask for it fail; the others need the server alone. */
async function writeBundle(folder: string, log: (line: string) => void): Promise<string | undefined> {
  const built = join(compiledFolder(folder), 'src');
  await mkdir(built, { recursive: true });
  // Worker processes find it once a test has asked for it; until then they would bundle for themselves.
  await symlink(bundleInRun(folder, 'encrypted'), join(built, bundleFile('on')));
  await symlink(bundleInRun(folder, 'required'), join(built, bundleFile('required')));
  const file = join(built, bundleFile('off'));
  try {
    await writeFile(file, (await buildWorkflowBundle()).code);
    return file;
  } catch (error) {
    log((error as Error).message);
    return undefined;
  }
}
