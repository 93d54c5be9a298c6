import { activityInfo } from '@temporalio/activity';
import type { AuditEntry, AuditEvent } from '../audit/line.js';
import type { ReportBatchInput } from '../contract/batch/activities.js';
import { maskName, maskWallet, maskWords } from '../contract/masking.js';
import type { CreateOrderInput } from '../contract/order/activities.js';
import type { Decision } from '../contract/order/messages.js';
import { type CreateRequest, REQUEST_FIELDS } from '../contract/order/request.js';
import type { CheckSignatureInput } from '../contract/signature.js';
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

type Audit = Pick<ActivityDeps, 'audit'>;

/** Writes what a person chose before it counts. `keyId`: of the key that signed it. Throws AuditNotWrittenError. */
export async function recordChoice({ audit }: Audit, input: CheckSignatureInput, keyId?: string): Promise<void> {
  const { account, update, choice, paused } = input;
  await audit?.append({
    ...frameOf(update, account),
    ...maskedChoice(choice),
    ...(keyId && { keyId }),
    ...(paused && { paused: maskedChoice(paused) }),
  });
}

/**
 * Writes who paused or stopped a batch, before its report. Neither pays anybody, so that they never wait for the record: a pause
 * that was resumed stands in the line of that. Throws AuditNotWrittenError.
 */
export async function recordInterruptions({ audit }: Audit, input: ReportBatchInput): Promise<void> {
  for (const event of ['pause', 'stop'] as const) {
    const interruption = event === 'pause' ? input.paused : input.stopped;
    if (!interruption) continue;
    const frame = frameOf(event, input.account);
    await audit?.append({ ...frame, id: `${frame.id}/${event}`, ...maskedChoice(interruption) });
  }
}

/** The fields of what was chosen; what persons wrote and where money goes is masked. Which run it is for is this task's to say. */
function maskedChoice(choice: object): Record<string, unknown> {
  const { by, reason, runId: _, revertTo, wallet_details: cards, ...others } = choice as Partial<Decision>;
  return {
    ...others,
    ...(by !== undefined && { by: maskPerson(by) }),
    ...(reason !== undefined && { reason: maskWords(reason) }),
    ...(revertTo && { revertTo: { network: maskName(revertTo.network), wallet: maskWallet(revertTo.wallet) } }),
    ...(Array.isArray(cards) && {
      wallet_details: cards.map(({ amount, wallet }) => ({ amount, wallet: maskWallet(wallet) })),
    }),
  };
}

/** Who acted must be told, by an e-mail address too; long numbers and tokens are of nobody. */
const maskPerson = (by: string): string => by.split('@').map(maskWords).join('@');

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
