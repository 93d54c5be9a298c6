import { STOP_MEMO } from './names.js';

/** Stop of an account: who, why (masked) and when (ISO time). */
export interface AccountStop {
  by: string;
  reason: string;
  at: string;
}

/** Returns the stop in a run of `accountStop`. Only a completed run, after a resume, is none. */
export const stopIn = ({ status, memo }: ShownRun): AccountStop | undefined =>
  status.name === 'COMPLETED' ? undefined : (memo?.[STOP_MEMO] as AccountStop | undefined);

interface ShownRun {
  status: { name: string };
  memo?: Record<string, unknown> | undefined;
}

/** Returns a stop as orders show it while they wait. */
export function stopText(account: string, { by = 'somebody', reason = 'no reason', at }: Partial<AccountStop>): string {
  const since = at ? ` since ${at.slice(0, 19).replace('T', ' ')} UTC` : '';
  return `account ${account} is stopped${since} by ${by}: ${reason}. Nothing is sent until \`account resume\``;
}
