import { DefaultLogger } from '@temporalio/worker';
import { bundleWorkflows, type EncryptionMode } from '../src/bundle/bundle.js';

/** The code a worker runs workflows from, the files it was made of, and what the bundler complained about. */
export type WorkflowBundle = { code: string; sources: string[]; warnings: string[] };

/** Bundles the workflows as a worker does; throws when they import a Node built-in that workflows must not use. */
export async function buildWorkflowBundle(mode: EncryptionMode = 'off'): Promise<WorkflowBundle> {
  const messages: string[] = [];
  const logger = new DefaultLogger('INFO', ({ message }) => messages.push(message));
  try {
    const { code } = await bundleWorkflows({ logger, mode });
    return { code, sources: sourcesOf(code), warnings: messages.filter((text) => /\bWARNING in\b/.test(text)) };
  } catch (error) {
    const output = messages.join('\n');
    const errors = output.slice(Math.max(0, output.search(/^ERROR in /m)));
    throw new Error(`The workflows cannot be bundled.\n${errors}\n${(error as Error).message}`);
  }
}

/** Paths of all modules in a bundle, read from its inline source map. */
function sourcesOf(code: string): string[] {
  const encoded = /sourceMappingURL=data:application\/json;[^,]*base64,(\S+)/.exec(code)?.[1];
  if (encoded === undefined) throw new Error('The workflow bundle has no source map: its modules cannot be checked');
  return JSON.parse(Buffer.from(encoded, 'base64').toString()).sources;
}
