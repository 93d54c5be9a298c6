import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { ORDER_TYPES, workflowTypeOf } from '../contract/order/types.js';
import type * as workflows from './index.js';

/** Typed so that an order type whose workflow `index.ts` does not export does not compile. */
const ORDER_WORKFLOWS: (keyof typeof workflows)[] = ORDER_TYPES.map(workflowTypeOf);

/** Ends a mistyped start at once; otherwise its task would fail for ever, neither paid nor refused. */
export default async function unknownType(): Promise<never> {
  const known = ORDER_WORKFLOWS.join(', ');
  const message = `workflow type: ${workflowInfo().workflowType} is not one of ${known}. Nothing was sent`;
  const reason = `must be one of ${known}`;
  throw ApplicationFailure.nonRetryable(message, 'InvalidOrder', [{ field: 'workflow type', reason }]);
}
