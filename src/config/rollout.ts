import { isPatch, PATCHES, type Patch } from '../contract/patches.js';
import { type Env, optional, type Problems } from './env.js';

/** How a version comes in beside the one before it. */
export interface Rollout {
  /** Temporal gives this worker what belongs to its version; absent = whatever there is to do. */
  version?: { deploymentName: string; buildId: string };
  /** Patches that orders do not take yet, so that the version before can still go on with them. */
  heldPatches?: readonly Patch[];
}

/** Temporal puts a colon between the two; Kubernetes' worker controller puts a slash into the first. */
const DEPLOYMENT_NAME = /^[A-Za-z0-9][A-Za-z0-9_/-]{0,199}$/;
const BUILD_ID = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,199}$/;

/** Reads which version a worker is; {} where versions are not told apart. */
export function readRollout(env: Env, problems: Problems): Rollout {
  const version = readVersion(env, problems);
  const heldPatches = readHeldPatches(env, problems);
  return { ...(version && { version }), ...(heldPatches && { heldPatches }) };
}

function readVersion(env: Env, problems: Problems): Rollout['version'] {
  const fitting = (format: RegExp) => (text: string) => (format.test(text) ? text : undefined);
  const deploymentName = optional(
    env,
    'TEMPORAL_DEPLOYMENT_NAME',
    problems,
    fitting(DEPLOYMENT_NAME),
    'must match [A-Za-z0-9_/-]{1,200}',
  );
  const buildId = optional(
    env,
    'TEMPORAL_WORKER_BUILD_ID',
    problems,
    fitting(BUILD_ID),
    'must match [A-Za-z0-9._+-]{1,200}',
  );
  if (env.TEMPORAL_DEPLOYMENT_NAME && !env.TEMPORAL_WORKER_BUILD_ID)
    problems.add('TEMPORAL_WORKER_BUILD_ID', 'is required beside TEMPORAL_DEPLOYMENT_NAME');
  if (env.TEMPORAL_WORKER_BUILD_ID && !env.TEMPORAL_DEPLOYMENT_NAME)
    problems.add('TEMPORAL_DEPLOYMENT_NAME', 'is required beside TEMPORAL_WORKER_BUILD_ID');
  return deploymentName && buildId ? { deploymentName, buildId } : undefined;
}

function readHeldPatches(env: Env, problems: Problems): readonly Patch[] | undefined {
  const ids = Object.keys(PATCHES);
  const read = (text: string) => {
    const named = text.split(',').map((id) => id.trim());
    return named.every(isPatch) ? named : undefined;
  };
  const known =
    ids.length > 0 ? `must be a comma list of ${ids.join(', ')}` : 'this version has no patch to hold: unset it';
  return optional(env, 'ORDER_PATCHES_HELD', problems, read, known);
}
