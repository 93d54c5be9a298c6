import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { ORDER_TYPES, workflowTypeOf } from '../contract/order/types.js';
import { typingErrors } from '../contract/typing-errors.js';
import { WORKFLOW_TYPES } from '../contract/workflow-types.js';
import type * as workflows from './index.js';

/** Typed so that an order type whose workflow `index.ts` does not export does not compile. */
const ORDER_WORKFLOWS: (keyof typeof workflows)[] = ORDER_TYPES.map(workflowTypeOf);

const KNOWN: readonly (keyof typeof workflows)[] = WORKFLOW_TYPES;

/** As many letters may be wrong for a type to be meant as another one. */
const TYPING_ERRORS = 2;

/**
 * Ends a mistyped start at once: nothing was paid, and its caller hears it. Any other name may be a type of a version that is being
 * rolled out, so it is left for a worker that knows it.
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

/** True for a known type as a person may mistype it. Another number is another version's type. */
export function isMeantBy(typed: string, known: string): boolean {
  const [ours, theirs] = [lettersOf(known), lettersOf(typed)];
  return !/\d/.test(theirs) && typingErrors(ours, theirs) <= TYPING_ERRORS;
}

const lettersOf = (name: string): string => name.toLowerCase().replace(/[-_ .]/g, '');
