import { activityInfo } from '@temporalio/activity';
import type { AuditEntry, AuditEvent } from '../audit/audit-record.js';
import type { ReportBatchInput } from '../contract/batch/activities.js';
import { maskName, maskWallet, maskWords } from '../contract/masking.js';
import type { CreateOrderInput } from '../contract/order/activities.js';
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
    type: shownCode(type),
    permission: shownCode(permission),
    ...(provenIn && { provenIn: shownCode(provenIn) }),
    ...(approved && { approved: shownFields(amountFields)(approved) }),
    ...(followUp && { followUp: true }),
    request: shown(request),
  });
}

type Audit = Pick<ActivityDeps, 'audit'>;

/** Writes what a person chose before it counts. `keyId`: of the key that signed it. Throws AuditNotWrittenError. */
export async function recordChoice({ audit }: Audit, input: CheckSignatureInput, keyId?: string): Promise<void> {
  const { account, update, choice, paused } = input;
  await audit?.append({
    ...frameOf(update, account),
    choice: shownChoice(choice),
    ...(keyId && { keyId }),
    ...(paused && { paused: shownChoice(paused) }),
  });
}

/** Writes who paused or stopped a batch, before its report. Throws AuditNotWrittenError. */
export async function recordInterruptions({ audit }: Audit, input: ReportBatchInput): Promise<void> {
  for (const event of ['pause', 'stop'] as const) {
    const interruption = event === 'pause' ? input.paused : input.stopped;
    if (!interruption) continue;
    const frame = frameOf(event, input.account);
    await audit?.append({ ...frame, id: `${frame.id}/${event}`, choice: shownChoice(interruption) });
  }
}

/** Who acted must be told, by an e-mail address too; long numbers and tokens are of nobody. */
const maskPerson = (by: string): string => by.split('@').map(maskWords).join('@');

const textBy =
  (mask: (text: string) => string) =>
  (value: unknown): string =>
    typeof value === 'string' ? mask(value) : '****';

/** A name, a code, a time or a hash. */
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

/** All that a line tells of a choice, an approval or an interruption: whatever else may be in one stays out. Its run is the task's to say. */
const shownChoice = shownFields({
  action: shownCode,
  by: textBy(maskPerson),
  reason: textBy(maskWords),
  // A larger number is none that anybody saw.
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

/** Who asked and why: the same in every attempt of one activity. */
function frameOf(event: AuditEvent, account: string): AuditEntry {
  const { workflowExecution, activityId, attempt } = activityInfo();
  const { workflowId = '', runId = '' } = workflowExecution ?? {};
  return {
    id: `${runId}/${activityId}`,
    event,
    account: shownCode(account),
    workflowId: maskWallets(workflowId),
    runId,
    attempt,
  };
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
