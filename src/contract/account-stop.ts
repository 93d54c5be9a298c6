import { timeShown } from './attention.js';

/** Stop of an account: who, why (masked) and when (ISO time). */
export interface AccountStop {
  by: string;
  reason: string;
  at: string;
  /** Key that signed it. Its resume is signed, too. */
  keyId?: string;
}

/** Returns a stop as orders show it while they wait. */
export function stopText(account: string, { by = 'somebody', reason = 'no reason', at }: Partial<AccountStop>): string {
  const since = at ? ` since ${timeShown(at)}` : '';
  return `account ${account} is stopped${since} by ${by}: ${reason}. Nothing is sent until \`account resume\``;
}
