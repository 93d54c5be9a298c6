import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { bundleWorkflowCode, type Logger } from '@temporalio/worker';
import type { Encryption } from '../config.js';

/** Sources have the ending of this very file: .ts when run as they are, .js once built. */
const besides = (name: string): string =>
  fileURLToPath(new URL(`./${name}${import.meta.url.slice(-3)}`, import.meta.url));

const pathOf = (name: string): string => besides(`../workflows/${name}`);

/** How a worker's payloads are protected; a bundle cannot tell by itself, so there is one for each. */
export type EncryptionMode = 'off' | 'on' | 'required';

/** All of them. */
export const ENCRYPTION_MODES: readonly EncryptionMode[] = ['off', 'on', 'required'];

/** That of a configuration. */
export function encryptionMode({ encryptionKeys, encryptionRequired }: Encryption): EncryptionMode {
  if (!encryptionKeys) return 'off';
  return encryptionRequired ? 'required' : 'on';
}

/** Modules of converters. Those of failures hide messages and stacks, where payloads are encrypted: in plain ones the UI must show them. */
const CONVERTERS: Record<EncryptionMode, { payloads: string; failures?: string }> = {
  off: { payloads: 'converters' },
  on: { payloads: 'converters-encrypted', failures: 'converters-encrypted' },
  required: { payloads: 'converters-encrypted', failures: 'converters-required' },
};

/** Modules of interceptors. */
const INTERCEPTORS: Record<EncryptionMode, string[]> = {
  off: ['interceptors'],
  on: ['interceptors', 'encrypted'],
  required: ['interceptors', 'encrypted', 'required'],
};

/** Bundles the workflow code, with its converters and interceptors; every worker and replay must run exactly this bundle. */
export async function bundleWorkflows({
  logger,
  mode = 'off',
}: {
  logger?: Logger;
  mode?: EncryptionMode;
} = {}): Promise<{ code: string }> {
  const { payloads, failures } = CONVERTERS[mode];
  const workflowsPath = pathOf('index');
  const payloadConverterPath = pathOf(payloads);
  const failureConverterPath = failures && pathOf(failures);
  const workflowInterceptorModules = INTERCEPTORS[mode].map(pathOf);
  const converters = [payloadConverterPath, ...(failureConverterPath ? [failureConverterPath] : [])];
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    payloadConverterPath,
    workflowInterceptorModules,
    preloadModules: [workflowsPath, ...workflowInterceptorModules, ...converters],
    ...(failureConverterPath && { failureConverterPath }),
    ...(logger && { logger }),
  });
  return { code };
}

const FILES: Record<EncryptionMode, string> = {
  off: 'workflow-bundle.js',
  on: 'workflow-bundle-encrypted.js',
  required: 'workflow-bundle-required.js',
};

/** Name of the bundle that `npm run build` makes ahead. */
export const bundleFile = (mode: EncryptionMode): string => FILES[mode];

/** Modules with the converters of activities and their clients, which the SDK loads by their paths. */
export function converterPaths(
  mode: EncryptionMode,
): Pick<DataConverter, 'payloadConverterPath' | 'failureConverterPath'> {
  if (mode === 'off') return {};
  const path = besides(mode === 'on' ? 'converters' : 'converters-required');
  return { payloadConverterPath: path, failureConverterPath: path };
}
