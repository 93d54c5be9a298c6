import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { WORKFLOW_TYPE_OF_ORDER } from '../contract/order/types.js';

/**
 * Runs every workflow type that no other export has: a mistyped start ends at once, instead of failing its task for ever
 * with the payment neither made nor refused.
 */
export default async function unknownType(): Promise<never> {
  const known = Object.values(WORKFLOW_TYPE_OF_ORDER).join(', ');
  throw ApplicationFailure.create({
    type: 'InvalidOrder',
    message: `workflow type: ${workflowInfo().workflowType} is not one of ${known}. Nothing was sent`,
    nonRetryable: true,
    details: [[{ field: 'workflow type', reason: `must be one of ${known}` }]],
  });
}
