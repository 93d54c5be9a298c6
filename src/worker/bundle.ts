import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type Logger } from '@temporalio/worker';

/** Sources have the ending of this very file: .ts when run as they are, .js once built. */
const pathOf = (name: string): string =>
  fileURLToPath(new URL(`../workflows/${name}${import.meta.url.slice(-3)}`, import.meta.url));

/** Bundles the workflow code, with its payload converter; every worker and replay must run exactly this bundle. */
export async function bundleWorkflows(logger?: Logger): Promise<{ code: string }> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: pathOf('index'),
    payloadConverterPath: pathOf('payload-converter'),
    ...(logger && { logger }),
  });
  return { code };
}
