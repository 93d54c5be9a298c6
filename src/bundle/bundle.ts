import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { bundleWorkflowCode, type Logger, type WorkerOptions } from '@temporalio/worker';
import type { Encryption } from '../config.js';
import { encryptionCodec, type warnOfPlainPayloads } from '../temporal.js';

/** Sources have the ending of this very file: .ts when run as they are, .js once built. */
const besides = (name: string): string =>
  fileURLToPath(new URL(`./${name}${import.meta.url.slice(-3)}`, import.meta.url));

const pathOf = (name: string): string => besides(`../workflows/${name}`);

/** Converters and interceptors by how payloads are protected; `file`: the bundle made ahead. */
const MODES = {
  off: { file: 'workflow-bundle.js', interceptors: ['interceptors'], payloads: 'converters' },
  on: {
    ...{ file: 'workflow-bundle-encrypted.js', interceptors: ['interceptors', 'encrypted'] },
    ...{ payloads: 'encrypted', failures: 'encrypted', activities: 'converters' },
  },
  required: {
    ...{ file: 'workflow-bundle-required.js', interceptors: ['interceptors', 'encrypted', 'required'] },
    ...{ payloads: 'encrypted', failures: 'required', activities: 'converters-required' },
  },
} satisfies Record<string, Mode>;

interface Mode {
  file: string;
  interceptors: string[];
  payloads: string;
  failures?: string;
  /** Module beside this one with the converters of activities and their clients, which the SDK loads by its path. */
  activities?: string;
}

/** How a worker's payloads are protected. */
export type EncryptionMode = keyof typeof MODES;

/** All of them. */
export const ENCRYPTION_MODES = Object.keys(MODES) as EncryptionMode[];

/** Name of the bundle that `npm run build` makes ahead. */
export const bundleFile = (mode: EncryptionMode): string => MODES[mode].file;

/** That of a configuration. */
export function encryptionMode({ encryptionKeys, encryptionRequired }: Encryption): EncryptionMode {
  if (!encryptionKeys) return 'off';
  return encryptionRequired ? 'required' : 'on';
}

/** Bundles the workflow code, with its converters and interceptors; every worker and replay must run exactly this bundle. */
export async function bundleWorkflows({
  logger,
  mode = 'off',
}: {
  logger?: Logger;
  mode?: EncryptionMode;
} = {}): Promise<{ code: string }> {
  const { interceptors, payloads, failures }: Mode = MODES[mode];
  const workflowsPath = pathOf('index');
  const workflowInterceptorModules = interceptors.map(pathOf);
  const payloadConverterPath = pathOf(payloads);
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    payloadConverterPath,
    workflowInterceptorModules,
    preloadModules: [workflowsPath, ...workflowInterceptorModules, payloadConverterPath],
    ...(failures && { failureConverterPath: pathOf(failures) }),
    ...(logger && { logger }),
  });
  return { code };
}

/** The bundle that workflows run from; `debugMode`: in the thread of their worker, and as long as they like. */
export type WorkflowCode = Pick<WorkerOptions, 'workflowBundle' | 'debugMode'>;

/** The bundle that `npm run build` made, where there is one; otherwise the sources are bundled now. */
export async function workflowCode(mode: EncryptionMode, logger?: Logger): Promise<WorkflowCode> {
  const codePath = fileURLToPath(new URL(`../${bundleFile(mode)}`, import.meta.url));
  return {
    workflowBundle: existsSync(codePath) ? { codePath } : await bundleWorkflows({ mode, ...(logger && { logger }) }),
  };
}

/** Returns a worker's converter, which marks what it refuses: each value is judged by itself. */
export function workerConverter(
  encryption: Encryption,
  onPlain?: ReturnType<typeof warnOfPlainPayloads>,
): DataConverter {
  const { encryptionKeys, encryptionRequired: required = false } = encryption;
  const codec = encryptionCodec(encryptionKeys, { required, marks: true, ...(onPlain && { onPlain }) });
  const { activities }: Mode = MODES[encryptionMode(encryption)];
  const path = activities && besides(activities);
  return { payloadCodecs: [codec], ...(path && { payloadConverterPath: path, failureConverterPath: path }) };
}
