import { timeShown } from './attention.js';
import { STOP_MEMO } from './names.js';

/** Stop of an account: who, why (masked) and when (ISO time). */
export interface AccountStop {
  by: string;
  reason: string;
  at: string;
}

/** Stop of a run that a reset has made forget its own. */
export const lostStop = (at: Date): AccountStop => ({
  ...{ by: 'somebody', reason: 'a reset of its stop lost the reason' },
  at: at.toISOString(),
});

/** Returns the stop in a run of `accountStop`. Only a completed run, after a resume, is none. */
export function stopIn({ status, memo, runId, startTime, raw }: ShownRun): AccountStop | undefined {
  if (status.name === 'COMPLETED') return undefined;
  const { firstRunId } = raw?.workflowExecutionInfo ?? {};
  const isReset = firstRunId ? firstRunId !== runId : false;
  return (memo?.[STOP_MEMO] as AccountStop | undefined) ?? (isReset ? lostStop(startTime) : undefined);
}

interface ShownRun {
  status: { name: string };
  memo?: Record<string, unknown> | undefined;
  runId: string;
  startTime: Date;
  /** Lists do not show it. */
  raw?: { workflowExecutionInfo?: { firstRunId?: string | null } | null };
}

/** Returns a stop as orders show it while they wait. */
export function stopText(account: string, { by = 'somebody', reason = 'no reason', at }: Partial<AccountStop>): string {
  const since = at ? ` since ${timeShown(at)}` : '';
  return `account ${account} is stopped${since} by ${by}: ${reason}. Nothing is sent until \`account resume\``;
}
