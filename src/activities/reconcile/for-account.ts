import { heartbeat } from '@temporalio/activity';
import type { ReconcileProgress } from '../../contract/reconcile/reconcile.js';
import type { Account, ActivityDeps } from '../deps.js';
import { noReading, retryLater } from '../failures.js';
import { PacedReads } from '../paced-reads.js';

const HEARTBEAT_EVERY_MS = 2_000;

/** Runs a step of a reconciliation at its account, and shows its progress in heartbeats. */
export async function forAccount<T>(
  deps: ActivityDeps,
  input: { account: string; totals: Pick<ReconcileProgress, 'seen' | 'windows'> },
  act: (tools: { account: Account; reads: PacedReads; progress: ReconcileProgress }) => Promise<T>,
): Promise<T> {
  const account = deps.accounts.get(input.account);
  // The queue is shared by all workers: another one may serve the account.
  if (!account) throw noReading(`this worker does not serve the account ${input.account}; another one has to`);
  const { seen, windows } = input.totals;
  const progress: ReconcileProgress = { step: 'starting', seen, windows };
  const show = () => heartbeat({ ...progress });
  // A quiet day is over before the first interval.
  show();
  const beat = setInterval(show, HEARTBEAT_EVERY_MS);
  try {
    return await act({ account, reads: new PacedReads(account), progress });
  } catch (error) {
    throw retryLater(error);
  } finally {
    clearInterval(beat);
  }
}
