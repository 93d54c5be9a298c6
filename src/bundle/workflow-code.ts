import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import type { Logger, WorkerOptions } from '@temporalio/worker';
import type { Encryption } from '../config.js';
import { encryptionCodec, type warnOfPlainPayloads } from '../temporal.js';
import { bundleFile, bundleWorkflows, converterPaths, type EncryptionMode, encryptionMode } from './bundle.js';

/** The bundle that workflows run from; `debugMode`: in the thread of their worker, and as long as they like. */
export type WorkflowCode = Pick<WorkerOptions, 'workflowBundle' | 'debugMode'>;

/** The bundle that `npm run build` made, where there is one; otherwise the sources are bundled now. */
export async function workflowCode(mode: EncryptionMode, logger?: Logger): Promise<WorkflowCode> {
  const codePath = fileURLToPath(new URL(`../${bundleFile(mode)}`, import.meta.url));
  return {
    workflowBundle: existsSync(codePath) ? { codePath } : await bundleWorkflows({ mode, ...(logger && { logger }) }),
  };
}

/**
 * A worker writes failures, too, and their messages must not stay in the clear beside encrypted payloads. It is also the
 * one that reads what every client wrote, so that it can tell when one of them has no keys. What it refuses is marked: each
 * value of a workflow is judged by itself, and a bad one must not stop all others.
 */
export function workerConverter(
  encryption: Encryption,
  onPlain?: ReturnType<typeof warnOfPlainPayloads>,
): DataConverter {
  const { encryptionKeys, encryptionRequired = false } = encryption;
  const codec = encryptionCodec(encryptionKeys, {
    required: encryptionRequired,
    marks: true,
    ...(onPlain && { onPlain }),
  });
  return { payloadCodecs: [codec], ...converterPaths(encryptionMode(encryption)) };
}
