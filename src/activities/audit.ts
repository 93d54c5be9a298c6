import { activityInfo } from '@temporalio/activity';
import type { AuditEntry, AuditEvent } from '../audit/audit-record.js';
import type { ReportBatchInput } from '../contract/batch/activities.js';
import { maskName, maskWallet, maskWords } from '../contract/masking.js';
import type { CreateOrderInput } from '../contract/order/activities.js';
import { type CreateRequest, REQUEST_FIELDS } from '../contract/order/request.js';
import type { CheckSignatureInput } from '../contract/signature.js';
import { maskWallets } from '../contract/wallets.js';
import type { ActivityDeps } from './deps.js';

/**
 * Records the create that follows, and its permission. Throws AuditNotWrittenError; then nothing
 * may be sent.
 */
export async function recordSend(
  { audit }: ActivityDeps,
  attempt: CreateOrderInput,
  request: CreateRequest,
): Promise<void> {
  const { type, account, permission, provenIn, approved, followUp } = attempt;
  await audit?.append({
    ...frameOf('send', account),
    type: shownCode(type),
    permission: shownCode(permission),
    ...(provenIn && { provenIn: shownCode(provenIn) }),
    ...(approved && { approved: shownFields(amountFields)(approved) }),
    ...(followUp && { followUp: true }),
    request: shown(request),
  });
}

type Audit = Pick<ActivityDeps, 'audit'>;

/** Records a choice before it counts. `keyId`: of the signing key. Throws AuditNotWrittenError. */
export async function recordChoice({ audit }: Audit, input: CheckSignatureInput, keyId?: string): Promise<void> {
  const { account, update, choice, paused } = input;
  await audit?.append({
    ...frameOf(update, account),
    choice: shownChoice(choice),
    ...(keyId && { keyId }),
    ...(paused && { paused: shownChoice(paused) }),
  });
}

/** Records who paused or stopped a batch. Throws AuditNotWrittenError. */
export async function recordInterruptions({ audit }: Audit, input: ReportBatchInput): Promise<void> {
  for (const event of ['pause', 'stop'] as const) {
    const interruption = event === 'pause' ? input.paused : input.stopped;
    if (!interruption) continue;
    const frame = frameOf(event, input.account);
    await audit?.append({ ...frame, id: `${frame.id}/${event}`, choice: shownChoice(interruption) });
  }
}

/**
 * Keeps e-mail addresses, because the record must name the person. Masks long numbers and tokens.
 */
const maskPerson = (by: string): string => by.split('@').map(maskWords).join('@');

const textBy =
  (mask: (text: string) => string) =>
  (value: unknown): string =>
    typeof value === 'string' ? mask(value) : '****';

/** Shows a name, a code, a time or a hash. */
const shownCode = textBy((code) => (code.length > MAX_CODE ? '****' : maskWallets(code)));

const MAX_CODE = 120;

const shownWallet = textBy(maskWallet);

const shownList = (show: (item: unknown) => unknown) => (value: unknown) =>
  Array.isArray(value) ? value.map(show) : '****';

const shownFields = (fields: Record<string, (value: unknown) => unknown>) => (value: unknown) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, show]) => {
      const field: unknown = Object(value)[name];
      return field === undefined ? [] : [[name, show(field)]];
    }),
  );

const amountFields = { amount: shownCode, currency: shownCode };

/**
 * Fields of a choice, approval or interruption that a line shows. The run id comes from the task.
 */
const shownChoice = shownFields({
  action: shownCode,
  by: textBy(maskPerson),
  reason: textBy(maskWords),
  // A larger number cannot be a revision that anybody saw.
  revision: (value) => (Math.abs(Number(value)) < 1e9 ? Number(value) : '****'),
  digest: shownCode,
  ...amountFields,
  at: shownCode,
  pausedAt: shownCode,
  order_uuid: shownCode,
  differences: shownList(shownCode),
  kind: shownCode,
  as: shownCode,
  revertTo: shownFields({ network: textBy(maskName), wallet: shownWallet }),
  wallet_details: shownList(shownFields({ amount: shownCode, wallet: shownWallet })),
});

/**
 * Returns who asked and why, equal in all attempts of one activity. A restored Temporal schedules
 * the same activity again, which is another act.
 */
function frameOf(event: AuditEvent, account: string): AuditEntry {
  const { workflowExecution, activityId, attempt, scheduledTimestampMs } = activityInfo();
  const { workflowId = '', runId = '' } = workflowExecution ?? {};
  return {
    id: `${runId}/${activityId}@${scheduledTimestampMs}`,
    event,
    account: shownCode(account),
    workflowId: maskWallets(workflowId),
    runId,
    attempt,
  };
}

/** Returns the public fields of a request, and the last characters of its wallet. */
function shown(request: CreateRequest): Record<string, unknown> {
  const fields = Object.entries(request).flatMap(([name, value]) => {
    const privacy = REQUEST_FIELDS[name as keyof typeof REQUEST_FIELDS]?.privacy;
    if (privacy === 'wallet') return [[name, maskWallet(String(value))]];
    return privacy === 'public' ? [[name, typeof value === 'string' ? maskWallets(value) : value]] : [];
  });
  return Object.fromEntries(fields);
}
