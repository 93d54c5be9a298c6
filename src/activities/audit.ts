import { activityInfo } from '@temporalio/activity';
import type { AuditEntry, AuditEvent } from '../audit/line.js';
import { maskWallet } from '../contract/masking.js';
import type { CreateOrderInput } from '../contract/order/activities.js';
import { type CreateRequest, REQUEST_FIELDS } from '../contract/order/request.js';
import { maskWallets } from '../contract/wallets.js';
import type { ActivityDeps } from './deps.js';

/** Writes, before a create, what is about to be sent and on what permission. Throws AuditNotWrittenError: then nothing may be sent. */
export async function recordSend(
  { audit }: ActivityDeps,
  attempt: CreateOrderInput,
  request: CreateRequest,
): Promise<void> {
  const { type, account, permission, provenIn, approved, followUp } = attempt;
  await audit?.append({
    ...frameOf('send', account),
    type,
    permission,
    ...(provenIn && { provenIn }),
    ...(approved && { approved }),
    ...(followUp && { followUp }),
    request: shown(request),
  });
}

/** Who asked and why: the same in every attempt of one activity. */
function frameOf(event: AuditEvent, account: string): AuditEntry {
  const { workflowExecution, activityId, attempt } = activityInfo();
  const { workflowId = '', runId = '' } = workflowExecution ?? {};
  return { id: `${runId}/${activityId}`, event, account, workflowId: maskWallets(workflowId), runId, attempt };
}

/** The fields of a request that anybody may see; of a wallet its last characters. */
function shown(request: CreateRequest): Record<string, unknown> {
  const fields = Object.entries(request).flatMap(([name, value]) => {
    const privacy = REQUEST_FIELDS[name as keyof typeof REQUEST_FIELDS]?.privacy;
    if (privacy === 'wallet') return [[name, maskWallet(String(value))]];
    return privacy === 'public' ? [[name, typeof value === 'string' ? maskWallets(value) : value]] : [];
  });
  return Object.fromEntries(fields);
}
