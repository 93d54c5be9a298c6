import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type Logger } from '@temporalio/worker';

/** Sources have the ending of this very file: .ts when run as they are, .js once built. */
const pathOf = (name: string): string =>
  fileURLToPath(new URL(`../workflows/${name}${import.meta.url.slice(-3)}`, import.meta.url));

/** Module that hides messages and stacks of failures; only for encrypted payloads: in plain ones the UI must show them. */
export const failureConverterPath = (): string => pathOf('converters');

/**
 * Bundles the workflow code, with its payload converter; every worker and replay must run exactly this bundle.
 * `encrypted`: for workers that encrypt payloads; a bundle cannot tell by itself, so there are two.
 */
export async function bundleWorkflows({
  logger,
  encrypted = false,
}: {
  logger?: Logger;
  encrypted?: boolean;
} = {}): Promise<{ code: string }> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: pathOf('index'),
    payloadConverterPath: pathOf('converters'),
    ...(encrypted && { failureConverterPath: failureConverterPath() }),
    ...(logger && { logger }),
  });
  return { code };
}

/** Name of the bundle that `npm run build` makes ahead. */
export const bundleFile = (encrypted: boolean): string =>
  encrypted ? 'workflow-bundle-encrypted.js' : 'workflow-bundle.js';
