import type { WorkerOptions } from '@temporalio/worker';
import type { Rollout } from '../config.js';

/** Which version the workers of all queues are: orders go on in the newest one, and workflows that say otherwise stay where they began. */
export const versionOptions = ({ version }: Rollout = {}): Pick<WorkerOptions, 'workerDeploymentOptions'> =>
  version
    ? { workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' } }
    : {};

/** Patches that orders do not take yet. */
export const patchOptions = ({ heldPatches = [] }: Rollout = {}): Pick<WorkerOptions, 'patchActivationCallback'> => {
  const held: readonly string[] = heldPatches;
  return held.length > 0 ? { patchActivationCallback: ({ patchId }) => !held.includes(patchId) } : {};
};
