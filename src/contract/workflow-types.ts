import {
  BULK_WITHDRAW_WORKFLOW,
  DEPOSIT_ADDRESS_WORKFLOW,
  RECEIVED_DEPOSIT_WORKFLOW,
  RECONCILE_WORKFLOW,
  SCHEDULED_BATCH_WORKFLOW,
  SERVICE_READ_WORKFLOW,
} from './names.js';
import { ORDER_TYPES, workflowTypeOf } from './order/types.js';

/** Every workflow type that this version runs; whoever starts a workflow may name any other. */
export const WORKFLOW_TYPES = [
  ...ORDER_TYPES.map(workflowTypeOf),
  RECEIVED_DEPOSIT_WORKFLOW,
  DEPOSIT_ADDRESS_WORKFLOW,
  BULK_WITHDRAW_WORKFLOW,
  SCHEDULED_BATCH_WORKFLOW,
  RECONCILE_WORKFLOW,
  SERVICE_READ_WORKFLOW,
] as const;
