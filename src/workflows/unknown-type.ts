import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { ORDER_TYPES, workflowTypeOf } from '../contract/order/types.js';
import { WORKFLOW_TYPES } from '../contract/workflow-types.js';
import type * as workflows from './index.js';

/** Typed so that an order type whose workflow `index.ts` does not export does not compile. */
const ORDER_WORKFLOWS: (keyof typeof workflows)[] = ORDER_TYPES.map(workflowTypeOf);

const KNOWN: readonly (keyof typeof workflows)[] = WORKFLOW_TYPES;

/**
 * Ends a start at once whose type is one of ours in other capitals or separators: nothing was paid. Any other name may be a
 * type of a version that is being rolled out, so it is left for a worker that knows it.
 */
export default async function unknownType(): Promise<never> {
  const { workflowType } = workflowInfo();
  const meant = KNOWN.find((known) => isMeantBy(workflowType, known));
  // An error that is no ApplicationFailure fails the workflow task alone, which the server repeats, here or at another worker.
  if (!meant) throw new Error(leftFor(workflowType));
  const known = ORDER_WORKFLOWS.join(', ');
  const message = `workflow type: ${workflowType} is not one of ${known}. Did you mean ${meant}? Nothing was sent`;
  const reason = `must be one of ${known}`;
  throw ApplicationFailure.nonRetryable(message, 'InvalidOrder', [{ field: 'workflow type', reason }]);
}

const leftFor = (workflowType: string): string =>
  `workflow type ${workflowType} is not known to this worker, and waits for one that knows it. If no such version is on its way, ` +
  'the name is wrong: terminate this workflow and start it under the right type. Nothing was sent';

/** Returns true for a known type in other capitals or with separators. */
export const isMeantBy = (typed: string, known: string): boolean => lettersOf(known) === lettersOf(typed);

const lettersOf = (name: string): string => name.toLowerCase().replace(/[-_ .]/g, '');
