import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { type BundleOptions, bundleWorkflowCode, type Logger, type WorkerOptions } from '@temporalio/worker';
import type { Encryption } from '../config.js';
import { encryptionCodec, type warnOfPlainPayloads } from '../temporal.js';

/** Source files end in .ts, built files in .js. */
const besides = (name: string): string =>
  fileURLToPath(new URL(`./${name}${import.meta.url.slice(-3)}`, import.meta.url));

const pathOf = (name: string): string => besides(`../workflows/${name}`);

/** Converters and interceptors by protection. `file`: bundle made by the build. */
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
  /** Module with the activities' converters, which the SDK loads by its path. */
  activities?: string;
}

/** How a worker's payloads are protected. */
export type EncryptionMode = keyof typeof MODES;

/** All modes. */
export const ENCRYPTION_MODES = Object.keys(MODES) as EncryptionMode[];

/** Name of the bundle that `npm run build` makes ahead. */
export const bundleFile = (mode: EncryptionMode): string => MODES[mode].file;

/** Returns the mode of a configuration. */
export function encryptionMode({ encryptionKeys, encryptionRequired }: Encryption): EncryptionMode {
  if (!encryptionKeys) return 'off';
  return encryptionRequired ? 'required' : 'on';
}

/**
 * Bundles the workflow code with converters and interceptors. Workers and replays must run exactly
 * this bundle.
 */
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
    webpackConfigHook: keepSyntax,
    ...(failures && { failureConverterPath: pathOf(failures) }),
    ...(logger && { logger }),
  });
  return { code };
}

/** Keeps the syntax of Node. For the SDK's ES2017, a helper copies each spread object by fields. */
const keepSyntax: BundleOptions['webpackConfigHook'] = (config) => {
  const swc = config.module?.rules?.find((rule) => String(Object(rule).test) === String(/\.ts$/));
  Object(swc).use.options.jsc.target = 'es2022';
  return config;
};

/** Bundle of the workflows. `debugMode`: in the worker's thread, without a time limit. */
export type WorkflowCode = Pick<WorkerOptions, 'workflowBundle' | 'debugMode'>;

/** Returns the bundle of `npm run build`, or bundles the sources. */
export async function workflowCode(mode: EncryptionMode, logger?: Logger): Promise<WorkflowCode> {
  const codePath = fileURLToPath(new URL(`../${bundleFile(mode)}`, import.meta.url));
  return {
    workflowBundle: existsSync(codePath) ? { codePath } : await bundleWorkflows({ mode, ...(logger && { logger }) }),
  };
}

/** Returns a worker's converter, which marks refused values one by one. */
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
