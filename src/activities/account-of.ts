import type { Account, ActivityDeps } from './deps.js';
import { invalidOrder } from './failures.js';

/** The account an activity works for. Tasks of an account only reach workers that serve it, so a miss is a bad input. */
export function accountOf(deps: ActivityDeps, name: string): Account {
  const account = deps.accounts.get(name);
  if (!account) throw invalidOrder([{ field: 'account', reason: `this worker has no account ${name}` }]);
  return account;
}
