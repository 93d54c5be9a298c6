import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { resolveTemporal } from '../../scripts/temporal/resolve.js';
import { findTimeSkippingServer } from '../../scripts/temporal/time-skipping.js';
import { buildWorkflowBundle } from '../../scripts/workflow-bundle.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the embedded dev server; undefined when TEMPORAL_ADDRESS names another server. */
    embeddedTemporal: string | undefined;
    /** File of the workflow bundle, built once for the run; undefined when the workflows cannot be bundled. */
    workflowBundlePath: string | undefined;
  }
}

/** Starts one Temporal server and bundles the workflows once for all test files; returns the tear-down. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const temporal = await resolveTemporal({ log });
  const folder = await mkdtemp(join(tmpdir(), 'payment-orders-test-'));
  const tearDown = async (): Promise<void> => {
    await temporal.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    // Fetched here and not by the first test that needs it, whose time limit it would exceed.
    await findTimeSkippingServer(log);
    project.provide('embeddedTemporal', temporal.embedded ? temporal.address : undefined);
    project.provide('workflowBundlePath', await writeBundle(folder, log));
    return tearDown;
  } catch (error) {
    await tearDown();
    throw error;
  }
}

/** Without a bundle only the tests that ask for it fail; the others need the server alone. */
async function writeBundle(folder: string, log: (line: string) => void): Promise<string | undefined> {
  const file = join(folder, 'workflow-bundle.js');
  try {
    await writeFile(file, (await buildWorkflowBundle()).code);
    return file;
  } catch (error) {
    log((error as Error).message);
    return undefined;
  }
}
