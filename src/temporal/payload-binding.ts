import type { SerializationContext } from '@temporalio/common';
import { reconcileWorkflowId, scheduledBatchWorkflowId } from '../contract/names.js';

/** What a payload belongs to. */
interface Binding {
  namespace: string;
  workflowId: string;
  /** Of an activity's input, result, failure or heartbeat. */
  activityId?: string;
}

/** Returns what a payload is bound to; undefined where the SDK names no workflow. */
export function boundTo(context: SerializationContext | undefined): string | undefined {
  const binding = context && bindingOf(context);
  return binding && JSON.stringify(binding);
}

function bindingOf(context: SerializationContext): Binding | undefined {
  const { namespace, workflowId } = context;
  if (workflowId === undefined) return undefined;
  if (context.type === 'workflow') return { namespace, workflowId };
  return { namespace, workflowId, ...(context.activityId !== undefined && { activityId: context.activityId }) };
}

/** Returns true when a payload that is bound so may be read in that context; without one there is nothing to compare with. */
export function isFor(bound: string, context: SerializationContext | undefined): boolean {
  const binding = context && bindingOf(context);
  if (!binding) return context === undefined;
  if (bound === JSON.stringify(binding)) return true;
  const workflowId = idOfSchedule(binding.workflowId);
  return (
    workflowId !== undefined && context?.type === 'workflow' && bound === JSON.stringify({ ...binding, workflowId })
  );
}

const SCHEDULED = [scheduledBatchWorkflowId('', '').slice(0, -1), reconcileWorkflowId('')];
const AT_TIME = /-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** The id that a schedule's action was written for: Temporal appends the time to it. */
function idOfSchedule(workflowId: string): string | undefined {
  if (!SCHEDULED.some((prefix) => workflowId.startsWith(prefix)) || !AT_TIME.test(workflowId)) return undefined;
  return workflowId.replace(AT_TIME, '');
}
