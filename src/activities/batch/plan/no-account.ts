import { activityInfo, getClient } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { isAccountServed } from '../../../client/service-reads.js';
import { invalidInput } from '../../failures.js';

/** Looks before it is refused, because the workers of an installation that starts do not all come up at once. */
const LOOKS = 3;
/** Soon: which of the workers gets the next attempt is chance. */
const LOOKS_APART_MS = 1_000;
/** Accounts named in a failure; the variable has them all. */
const MAX_SHOWN_ACCOUNTS = 20;

/**
 * The failure of a batch for an account that this worker, which serves `accounts`, does not have. The queue of batches is
 * shared by all workers: one that serves the account takes it at a later attempt. Where there is none it would wait for
 * ever, so it is refused for good as InvalidInput.
 */
export async function noAccount(accounts: readonly string[], name: string): Promise<ApplicationFailure> {
  if (activityInfo().attempt < LOOKS || (await isAccountServed(getClient(), name))) {
    const message = `this worker has no account ${name}`;
    return ApplicationFailure.create({ type: 'NoAccount', message, nextRetryDelay: LOOKS_APART_MS });
  }
  const known = accounts.slice(0, MAX_SHOWN_ACCOUNTS).join(', ');
  return invalidInput([
    {
      field: 'account',
      reason: `no worker serves ${name}; accounts here: ${known}. Correct the name, or start a worker that has it in PAYMENT_ACCOUNTS_FILE`,
    },
  ]);
}
