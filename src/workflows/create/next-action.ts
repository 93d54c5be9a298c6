import type { SendPermission } from '../../contract/order/activities.js';
import type { ApprovedAmount } from '../../contract/order/messages.js';
import {
  type Absence,
  type Doubt,
  type Facts,
  isCallbackNew,
  isPlaceUnknown,
  MAX_ROUNDS,
  wasEverInDoubt,
} from './facts.js';
import type { Conflict, Ours } from './readings.js';

/** What a run does next about its create. */
export type Action =
  | { do: 'take'; ours: Ours }
  /** One attempt of the create activity. 'none': it only looks and checks its input. */
  | { do: 'attempt'; permission: SendPermission }
  /** One look at what has our id, or `orderUuid`. `endsIn`: not waited for for long, since the order ends anyway. */
  | { do: 'look'; why: 'waited' | 'callback' | 'before the end' | 'recovered'; delayMs?: number }
  /** One reading of the proof that no order of ours exists. */
  | { do: 'prove absence'; why: string }
  | { do: 'ask'; about: Question }
  | { do: 'end'; as: End };

/**
 * What a person is asked. `uncertain`: it goes on by itself once the service shows an order that it accepted later. 'a later order':
 * a person is asked at once; 'an accepted order': only after an hour, since creates of other orders fail, too.
 */
export type Question =
  | { kind: 'conflict'; conflict: Conflict }
  | { kind: 'uncertain'; absence: Absence; waitsFor?: 'a later order' | 'an accepted order' }
  | { kind: 'hidden'; doubt: Doubt }
  | { kind: 'missing' }
  /** Nothing was sent, and its time has passed. */
  | { kind: 'late' }
  | { kind: 'notSent'; why: string }
  | { kind: 'overCap'; why: string; toApprove?: ApprovedAmount };

/** How a run ends without an order. `unresolved`: one may exist; `doubt` says why. */
export type End =
  | { type: 'OrderCancelled'; why?: string; refusedBy?: string }
  | { type: 'OrderRejected'; answer: string }
  | { type: 'OrderConflict'; conflict: Conflict }
  | { type: 'closed'; by: string; doubt?: ClosingDoubt; mayHaveSent: boolean };

/** Why a closed order may exist all the same. */
export type ClosingDoubt = 'conflict' | 'place' | 'hidden' | 'callback' | 'noLater';

/** What the type of an order says about its create. */
export interface Terms {
  movesMoneyAtOnce: boolean;
}

/**
 * THE table that decides what becomes of a create, and whether it is sent again. The first row that applies is taken. Pure and
 * total; every attempt still probes before it sends, and the gate in the activity refuses what no facts can know: that the
 * run was reset.
 */
export function nextAction(facts: Facts, terms: Terms): Action {
  const { doubt, found, closing, blocked, notSent, absence } = facts;
  // 1. What is shown to exist, and callbacks, which may say so.
  if (found?.kind === 'ours') return { do: 'take', ours: found };
  if (isCallbackDue(facts)) return doubt ? { do: 'prove absence', why: doubt.said } : { do: 'look', why: 'callback' };
  if (found && !closing && (isFinal(found) || !doubt)) return aboutConflict(facts, found);
  // 2. What may be on its way, or hidden: nothing is sent, and nothing ends as absent.
  if (doubt) return aboutDoubt(facts, doubt);
  // 3. Ends: none of ours exists, or a person says so.
  const end = endOf(facts, terms);
  if (end) return end;
  // 4. Questions: what a person must mend or approve first.
  if (absence && facts.everDoubted.some(({ cause }) => cause === 'recovered'))
    return { do: 'ask', about: { kind: 'missing' } };
  if (blocked) return { do: 'ask', about: aboutBlocked(blocked) };
  if (asksWhetherLate(facts)) return { do: 'ask', about: { kind: 'late' } };
  if (notSent?.asks) return { do: 'ask', about: { kind: 'notSent', why: notSent.why } };
  if (notSent?.waitMs !== undefined) return { do: 'look', why: 'waited', delayMs: notSent.waitMs };
  // 5. Sends.
  if (!absence) return { do: 'attempt', permission: 'first' };
  return maySendAgain(facts, absence, terms);
}

function endOf(facts: Facts, terms: Terms): Action | undefined {
  const { closing, refused, blocked } = facts;
  if (closing) return endClosed(facts, terms);
  if (refused && isRefusalBelieved(facts, terms)) {
    return { do: 'end', as: { type: 'OrderRejected', answer: refused.answer } };
  }
  if (!isUnsent(facts, terms)) return undefined;
  if (facts.cancelled) return endCancelled(facts, { type: 'OrderCancelled' });
  return blocked?.by === 'stale' ? { do: 'end', as: { type: 'OrderCancelled', why: blocked.why } } : undefined;
}

const aboutBlocked = ({ by, why, toApprove }: NonNullable<Facts['blocked']>): Question =>
  by === 'cap' ? { kind: 'overCap', why, ...(toApprove && { toApprove }) } : { kind: 'notSent', why };

/** A callback after a send is looked into before anybody is asked or waited for; before a send only where the order waits. */
const isCallbackDue = (facts: Facts): boolean =>
  isCallbackNew(facts) &&
  (facts.notSent !== undefined ||
    facts.found !== undefined ||
    (facts.doubt ? facts.proof?.hidden === 'over' : wasEverInDoubt(facts)));

const isFinal = ({ askAtOnce, ours }: Conflict): boolean => askAtOnce === true || ours.length > 0;

/** Before any send nobody is in doubt about an order of somebody else; afterwards it may be what came of ours. */
function aboutConflict(facts: Facts, conflict: Conflict): Action {
  if (wasEverInDoubt(facts) || isFinal(conflict)) return { do: 'ask', about: { kind: 'conflict', conflict } };
  return { do: 'end', as: { type: 'OrderConflict', conflict } };
}

function aboutDoubt(facts: Facts, doubt: Doubt): Action {
  const { cause, said } = doubt;
  if (facts.proof?.hidden === 'over') {
    return facts.closing ? endDoubtful(facts, 'hidden') : { do: 'ask', about: { kind: 'hidden', doubt } };
  }
  if (facts.notSent?.asks) return { do: 'ask', about: { kind: 'notSent', why: facts.notSent.why } };
  if (facts.notSent?.waitMs !== undefined) return { do: 'look', why: 'waited', delayMs: facts.notSent.waitMs };
  if (!facts.looked && !facts.closing) {
    if (cause === 'recovered') return { do: 'look', why: 'recovered' };
    if (cause === 'earlierRun') return { do: 'attempt', permission: 'none' };
  }
  return { do: 'prove absence', why: said };
}

/** A person closes it. Absence alone is no proof of an end where anything contradicts it. */
function endClosed(facts: Facts, terms: Terms): Action {
  const { absence, closing } = facts;
  if (closing?.refused !== undefined && isUnsent(facts, terms)) {
    return endCancelled(facts, { type: 'OrderCancelled', why: closing.refused, refusedBy: closing.by });
  }
  if (facts.found) return endDoubtful(facts, 'conflict');
  if (!wasEverInDoubt(facts)) return endDoubtful(facts);
  if (isPlaceUnknown(facts)) return endDoubtful(facts, 'place');
  if (facts.callback !== 'none') return endDoubtful(facts, 'callback');
  return endDoubtful(facts, absence && isBelieved(absence, terms) ? undefined : 'noLater');
}

const endDoubtful = (facts: Facts, doubt?: ClosingDoubt): Action => ({
  do: 'end',
  as: { type: 'closed', by: facts.closing?.by ?? '', mayHaveSent: wasEverInDoubt(facts), ...(doubt && { doubt }) },
});

/** Looks once before an end of what was never sent, since another run may have: a backup knows nothing of it. */
const endCancelled = ({ looked }: Facts, as: End): Action =>
  looked ? { do: 'end', as } : { do: 'look', why: 'before the end' };

/** Asked once no doubt is left: nothing was sent by any run, or what may have been is proven absent, and was no create of this one. */
const isUnsent = (facts: Facts, terms: Terms): boolean =>
  facts.everDoubted.every(({ cause, place }) => isOfAnotherRun(cause) && place === 'asked') &&
  !isContradicted(facts) &&
  (facts.absence === undefined || isBelieved(facts.absence, terms));

const isOfAnotherRun = (cause: Doubt['cause']): boolean => cause === 'earlierRun' || cause === 'restored';

/** A callback for this order speaks against every absence. */
const isContradicted = (facts: Facts): boolean => wasEverInDoubt(facts) && facts.callback !== 'none';

/** A first create that was refused needs no later order that is shown; one that was repeated does. */
const isRefusalBelieved = (facts: Facts, terms: Terms): boolean =>
  !isContradicted(facts) &&
  !isPlaceUnknown(facts) &&
  facts.absence !== undefined &&
  (!facts.refused?.repeated || isBelieved(facts.absence, terms));

/**
 * True if absence is proven by an order that was sent later and is shown. Deposits move none of our money: for them that is only
 * waited for while creates of other orders get no clear answer.
 */
const isBelieved = ({ control: { later, othersFail } }: Absence, { movesMoneyAtOnce }: Terms): boolean =>
  later === true || (!movesMoneyAtOnce && !othersFail);

/** The first attempt of a late order checks it, and looks whether it exists. */
const asksWhetherLate = ({ late, notSent, absence }: Facts): boolean =>
  late === 'delayed' && notSent !== undefined && absence === undefined;

/** THE decision whether a create is sent again. */
function maySendAgain(facts: Facts, absence: Absence, terms: Terms): Action {
  const { permitted, control } = absence;
  const again: Action = { do: 'attempt', permission: isUnsent(facts, terms) ? 'first' : 'absent' };
  // It holds unless the order became late or was cancelled since; then a person is asked once more.
  const holds = permitted && isInTime(facts, permitted) && (permitted.cancelled || !facts.cancelled);
  if (holds) return again;
  const about = { kind: 'uncertain', absence } as const;
  if (permitted || needsPerson(facts) || !isCovered(facts)) return { do: 'ask', about };
  if (isBelieved(absence, terms)) return again;
  return { do: 'ask', about: { ...about, waitsFor: control.othersFail ? 'an accepted order' : 'a later order' } };
}

const isInTime = ({ late }: Facts, { late: isLateAllowed }: { late: boolean }): boolean =>
  late === undefined || (late !== 'over' && isLateAllowed);

/** After "too many requests" a re-send costs none, up to a number of rounds. */
const isCovered = ({ budget: { resends, spent, rateLimited, lastWasLimited } }: Facts): boolean =>
  lastWasLimited ? rateLimited % MAX_ROUNDS.rateLimited !== 0 : spent <= resends;

/** No budget re-sends what was refused, called back, cancelled or late, or of whose sends or place this run cannot be sure. */
export const needsPerson = (facts: Facts): boolean =>
  facts.refused !== undefined ||
  isContradicted(facts) ||
  facts.cancelled ||
  facts.late !== undefined ||
  facts.everDoubted.some(({ cause, place }) => cause === 'reset' || cause === 'recovered' || place !== 'asked');
