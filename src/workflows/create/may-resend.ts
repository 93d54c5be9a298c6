import type { Conflict } from './settle.js';

/** What a run knows about the creates under its order id; the steps of the create keep it from one attempt to the next. */
export interface Sends {
  /** Creates that may have reached the service. */
  count: number;
  /** What became of the last of them, in words. */
  unclear: string;
  /** What settling it showed; undefined while that is not known. */
  settled?: ProvenAbsence | Conflict;
  /** An earlier run of this order id may have sent, and its absence is not proven yet. */
  earlierInDoubt: boolean;
  /** When Temporal was restored, if a worker said that it may have forgotten a create of this order id. */
  restoredAtMs?: number;
  /** Of which restore it is proven that no forgotten create came to an order. */
  restoreSettledMs?: number;
  /** How often a person said that what a worker asks now is the order's account; the run's `sentTo` is that then. */
  accountSwitches: number;
  /** An attempt, of this run, of the one it was cut from or of an earlier one, may have sent, and where is not known. */
  accountUnknown: boolean;
  /** A follow-up that was reset: what was decided about its order since is not known. */
  mayBeReplaced: boolean;
  /** A create was answered with 400: it reached the service, whatever that made of it. */
  rejected: boolean;
}

/** That no create sent so far came to an order, read over the whole settle window. */
export interface ProvenAbsence {
  kind: 'absent';
  /** `accountSwitches` when it was proven: what was read at another account does not count here. */
  atSwitch: number;
  /** The run that proved it. Look-ups of a later run, cut from it by a reset, prove nothing about its sends. */
  provenIn: string;
  /** What was known when a re-send was permitted because of it: a person is asked anew about what came since. */
  permitted?: Pick<Evidence, 'isLate' | 'cancelRequested'>;
}

/** All that the decision is made from. */
export interface Evidence extends Sends {
  cancelRequested: boolean;
  /** The time at which a delayed order was to start has passed. */
  isLate: boolean;
  /** That nothing is there, and how the service says so. */
  shown: string;
}

/** What may still happen without a person. */
export interface Budget {
  /** Re-sends that need no person. */
  resends: number;
  /** Uncertain creates that each cost one. */
  spent: number;
  /** Times that the service answered "too many requests", by probes and creates. */
  rateLimited: number;
  /** The last create was answered so, which costs no re-send. */
  lastWasLimited: boolean;
}

/** Times that the service may answer "too many requests" before a person is asked. */
export const MAX_RATE_LIMITED = 20;

/** The budget an order starts with: types that move money at once are sent again once, deposits twice. */
export const openBudget = (resend: 'once' | 'never' | undefined, movesMoneyAtOnce: boolean): Budget => ({
  resends: resend === 'never' ? 0 : movesMoneyAtOnce ? 1 : 2,
  spent: 0,
  rateLimited: 0,
  lastWasLimited: false,
});

/** Counts an uncertain create. `retryAfterMs`: the service answered it with "too many requests". */
export function spend(budget: Budget, { retryAfterMs }: { retryAfterMs?: number }): void {
  budget.lastWasLimited = retryAfterMs !== undefined && budget.resends > 0;
  if (budget.lastWasLimited) budget.rateLimited += 1;
  else budget.spent += 1;
}

/** 'no' names what must be done first; 'a person' has to say whether it is sent again. */
export type ResendAnswer =
  | { answer: 'yes'; permission: 'first' | 'absent' }
  | { answer: 'no'; first: 'look for the earlier run' | 'settle' }
  | { answer: 'no'; first: 'resolve the conflict'; conflict: Conflict }
  | { answer: 'a person'; reason: string };

/**
 * THE decision whether a create may be sent, first or again. Every attempt still probes before it sends, and the gate in the
 * activity refuses what this one cannot know: that the workflow was reset.
 */
export function mayResend(evidence: Evidence, budget: Budget): ResendAnswer {
  const { settled, isLate } = evidence;
  // Never while an order that is not simply ours has our id.
  if (settled?.kind === 'conflict') return { answer: 'no', first: 'resolve the conflict', conflict: settled };
  if (evidence.earlierInDoubt) return { answer: 'no', first: 'look for the earlier run' };
  if (evidence.count === 0 && !evidence.accountUnknown) return { answer: 'yes', permission: 'first' };
  // Never before absence was proven, and proven at the account that a create would go to now.
  if (settled?.atSwitch !== evidence.accountSwitches) return { answer: 'no', first: 'settle' };
  // A re-send was permitted and then had to wait: the permission holds unless the order became late or was cancelled since;
  // then a person is asked once more.
  const { permitted } = settled;
  const holds = permitted && (permitted.isLate || !isLate) && (permitted.cancelRequested || !evidence.cancelRequested);
  const byBudget = !permitted && isCovered(budget) && !needsPerson(evidence);
  if (holds || byBudget) return { answer: 'yes', permission: 'absent' };
  return { answer: 'a person', reason: reasonFor(evidence) };
}

/** After "too many requests" a re-send costs none, up to a number of rounds. */
const isCovered = ({ resends, spent, rateLimited, lastWasLimited }: Budget): boolean =>
  lastWasLimited ? rateLimited % MAX_RATE_LIMITED !== 0 : spent <= resends;

/** No budget re-sends what was cancelled, is late, may have been replaced, or whose account a person alone knows, or nobody. */
const needsPerson = (evidence: Evidence): boolean =>
  evidence.cancelRequested ||
  evidence.isLate ||
  evidence.accountSwitches > 0 ||
  evidence.accountUnknown ||
  evidence.mayBeReplaced;

function reasonFor({ unclear, shown, cancelRequested, isLate, accountUnknown, mayBeReplaced }: Evidence): string {
  const cancelled = cancelRequested ? '; it was cancelled' : '';
  const late = isLate ? '; the time that it was to start at has passed' : '';
  const unknown = accountUnknown ? '; where its create went is not known: make sure that this is the account' : '';
  const replaced = mayBeReplaced ? '; another follow-up may have been sent in its place since' : '';
  return `${unclear}, and ${shown}${cancelled}${late}${unknown}${replaced}`;
}
