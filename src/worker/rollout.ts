import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { WorkerOptions } from '@temporalio/worker';
import type { WorkflowCode } from '../bundle/bundle.js';
import type { Version } from '../config.js';

/**
 * Which version the workers of all queues are: orders go on in the newest one, and workflows that say otherwise stay where they
 * began. Without one, histories name the code alone.
 */
export const versionOptions = (
  version: Version | undefined,
  { workflowBundle }: WorkflowCode = {},
): Pick<WorkerOptions, 'workerDeploymentOptions' | 'buildId'> =>
  version
    ? { workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' } }
    : { buildId: codeName(workflowBundle) };

const CODE_DIGITS = 8;

/** Names the code in eight events of an order; the SDK's own name for it has 90 characters, a tenth of a history. */
function codeName(bundle: WorkflowCode['workflowBundle']): string {
  if (!bundle) return 'payment-orders';
  const code = 'code' in bundle ? bundle.code : readFileSync(bundle.codePath);
  return `payment-orders+${createHash('sha256').update(code).digest('hex').slice(0, CODE_DIGITS)}`;
}
