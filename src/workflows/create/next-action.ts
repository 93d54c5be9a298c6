import type { BreachedRule, SendPermission } from '../../contract/order/activities.js';
import type { ApprovedAmount } from '../../contract/order/messages.js';
import {
  type Absence,
  type Conflict,
  type Doubt,
  type Facts,
  isCallbackNew,
  isPlaceUnknown,
  MAX_ROUNDS,
  type Ours,
  wasEverInDoubt,
} from './facts.js';

export type Action =
  | { do: 'take'; ours: Ours }
  /** Runs one create attempt. With 'none' it only looks and checks its input. */
  | { do: 'attempt'; permission: SendPermission }
  /** Looks the order up once. A look-up 'before the end' waits a short time only. */
  | { do: 'look'; why: 'waited' | 'callback' | 'before the end' | 'recovered'; delayMs?: number }
  /** Waits until the account is resumed. */
  | { do: 'await resume' }
  /** Reads absence once. */
  | { do: 'prove absence'; why: string }
  /** Waits in the line of the account until its funds are there. */
  | { do: 'await funds'; needed: ApprovedAmount }
  | { do: 'ask'; about: Question }
  | { do: 'end'; as: End };

/**
 * Question to an operator. With `waitsFor`, the order is also sent again once the service shows an
 * order that it accepted later, and the operator is asked only if none is shown for a while; with
 * 'an accepted order' not as long as creates of other orders fail.
 */
export type Question =
  | { kind: 'conflict'; conflict: Conflict }
  | { kind: 'uncertain'; absence: Absence; waitsFor?: 'a later order' | 'an accepted order' }
  | { kind: 'hidden'; doubt: Doubt }
  | { kind: 'missing' }
  | { kind: 'late' }
  | { kind: 'notSent'; why: string }
  | { kind: 'overCap' | 'short'; why: string; toApprove?: ApprovedAmount }
  | { kind: 'held'; why: string }
  | { kind: 'policy'; why: string; rules: BreachedRule[] };

/** How a run ends without an order. With `doubt`, an order may exist. */
export type End =
  | { type: 'OrderCancelled'; why?: string; refusedBy?: string }
  | { type: 'OrderRejected'; answer: string }
  | { type: 'OrderConflict'; conflict: Conflict }
  | { type: 'closed'; by: string; doubt?: ClosingDoubt | undefined; mayHaveSent: boolean };

export type ClosingDoubt = 'conflict' | 'place' | 'hidden' | 'callback' | 'noLater';

/** Properties of the order type that matter for the create. */
interface Terms {
  movesMoneyAtOnce: boolean;
}

/**
 * Decides the next step of a create, and whether it is sent again. Pure and total; the first row
 * that applies holds.
 */
export function nextAction(facts: Facts, terms: Terms): Action {
  const { doubt, found, closing, blocked, notSent, absence } = facts;
  // 1. An order that is shown, and callbacks, which may announce one.
  if (found?.kind === 'ours') return { do: 'take', ours: found };
  if (isCallbackDue(facts)) return doubt ? { do: 'prove absence', why: doubt.said } : { do: 'look', why: 'callback' };
  if (found && !closing && (isForPersonAtOnce(found) || !doubt)) return aboutConflict(facts, found);
  // 2. While a create may be in flight or hidden, nothing is sent and nothing ends as absent.
  if (doubt) return aboutDoubt(facts, doubt);
  // 3. Ends: no order of ours exists, or an operator closes it.
  const end = endOf(facts, terms);
  if (end) return end;
  // 4. Questions to an operator, and waits.
  if (absence && isRecovered(facts)) return { do: 'ask', about: { kind: 'missing' } };
  if (blocked?.waits) return { do: 'await funds', needed: blocked.toApprove ?? { currency: '' } };
  if (blocked) return { do: 'ask', about: aboutBlocked(blocked) };
  if (notSent?.isStopped && !asksBeforeResume(facts)) return { do: 'await resume' };
  if (asksWhetherLate(facts)) return { do: 'ask', about: { kind: 'late' } };
  if (notSent?.asks) return { do: 'ask', about: { kind: 'notSent', why: notSent.why } };
  if (notSent?.waitMs !== undefined) return { do: 'look', why: 'waited', delayMs: notSent.waitMs };
  // 5. Sends.
  if (!absence) return { do: 'attempt', permission: 'first' };
  return sendAgainOrAsk(facts, absence, terms);
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

function aboutBlocked({ by, why, toApprove, rules = [] }: NonNullable<Facts['blocked']>): Question {
  if (by === 'hold') return { kind: 'held', why };
  if (by === 'policy') return { kind: 'policy', why, rules };
  if (by === 'stale') return { kind: 'notSent', why };
  return { kind: by === 'cap' ? 'overCap' : 'short', why, ...(toApprove && { toApprove }) };
}

/** Returns true if a callback needs a look-up now. The readings of a proof see it without one. */
const isCallbackDue = (facts: Facts): boolean =>
  isCallbackNew(facts) &&
  (!facts.doubt || facts.notSent !== undefined || facts.found !== undefined || facts.proof?.hidden === 'over');

const isForPersonAtOnce = ({ askAtOnce, ours }: Conflict): boolean => askAtOnce === true || ours.length > 0;

/** Before any send, another order is not ours; after a send, it may be. */
function aboutConflict(facts: Facts, conflict: Conflict): Action {
  if (wasEverInDoubt(facts) || isForPersonAtOnce(conflict)) return { do: 'ask', about: { kind: 'conflict', conflict } };
  return { do: 'end', as: { type: 'OrderConflict', conflict } };
}

function aboutDoubt(facts: Facts, doubt: Doubt): Action {
  const { cause, said } = doubt;
  if (facts.proof?.hidden === 'over') {
    return facts.closing ? endAsClosed(facts, 'hidden') : { do: 'ask', about: { kind: 'hidden', doubt } };
  }
  if (facts.notSent?.asks) return { do: 'ask', about: { kind: 'notSent', why: facts.notSent.why } };
  if (facts.notSent?.waitMs !== undefined) return { do: 'look', why: 'waited', delayMs: facts.notSent.waitMs };
  if (!facts.looked && !facts.closing) {
    if (cause === 'recovered') return { do: 'look', why: 'recovered' };
    if (cause === 'earlierRun') return { do: 'attempt', permission: 'none' };
  }
  return { do: 'prove absence', why: said };
}

/** Ends an order that an operator closes. A contradiction makes the end doubtful. */
function endClosed(facts: Facts, terms: Terms): Action {
  const { absence, closing } = facts;
  if (closing?.refused !== undefined && isUnsent(facts, terms)) {
    return endCancelled(facts, { type: 'OrderCancelled', why: closing.refused, refusedBy: closing.by });
  }
  if (facts.found) return endAsClosed(facts, 'conflict');
  if (!wasEverInDoubt(facts)) return endAsClosed(facts);
  if (isPlaceUnknown(facts)) return endAsClosed(facts, 'place');
  if (facts.callback !== 'none') return endAsClosed(facts, 'callback');
  if (isRecovered(facts)) return endAsClosed(facts, 'hidden');
  return endAsClosed(facts, absence && isBelieved(absence, terms) ? undefined : 'noLater');
}

const endAsClosed = (facts: Facts, doubt?: ClosingDoubt): Action => ({
  do: 'end',
  as: { type: 'closed', by: facts.closing?.by ?? '', mayHaveSent: wasEverInDoubt(facts), ...(doubt && { doubt }) },
});

/** Looks once before the end: another run may have sent, for example before a restore. */
const endCancelled = ({ looked }: Facts, as: End): Action =>
  looked ? { do: 'end', as } : { do: 'look', why: 'before the end' };

/** Returns true if this run sent nothing, and what other runs may have sent is proven absent. */
const isUnsent = (facts: Facts, terms: Terms): boolean =>
  facts.everDoubted.every(({ cause, place }) => isOfAnotherRun(cause) && place === 'asked') &&
  !isContradicted(facts) &&
  (facts.absence === undefined || isBelieved(facts.absence, terms));

const isOfAnotherRun = (cause: Doubt['cause']): boolean => cause === 'earlierRun' || cause === 'restored';

/** The order list showed the order, so it cannot be absent. */
const isRecovered = ({ everDoubted }: Facts): boolean => everDoubted.some(({ cause }) => cause === 'recovered');

/** A callback contradicts every absence. */
const isContradicted = ({ callback }: Facts): boolean => callback !== 'none';

/** Returns true if a refusal holds: its absence is proven and, if it needs that, believed. */
const isRefusalBelieved = (facts: Facts, terms: Terms): boolean =>
  !isContradicted(facts) &&
  !isPlaceUnknown(facts) &&
  facts.absence !== undefined &&
  (!facts.refused?.needsLater || isBelieved(facts.absence, terms));

/**
 * Returns true if a later order that is shown confirms absence. Deposits, which move none of our money,
 * need one only while creates of other orders fail, or if no known order is shown.
 */
const isBelieved = ({ control: { later, othersFail } }: Absence, { movesMoneyAtOnce }: Terms): boolean =>
  later ?? (!movesMoneyAtOnce && !othersFail);

/** A stop blocks sends only: a person is asked meanwhile. */
const asksBeforeResume = (facts: Facts): boolean =>
  facts.absence !== undefined && !isPermitted(facts, facts.absence) && needsPerson(facts);

/** The first attempt of a late order only checks it, and looks whether it exists. */
const asksWhetherLate = ({ late, notSent, absence }: Facts): boolean =>
  late === 'delayed' && notSent !== undefined && absence === undefined;

function sendAgainOrAsk(facts: Facts, absence: Absence, terms: Terms): Action {
  const { permitted, control } = absence;
  const again: Action = { do: 'attempt', permission: isUnsent(facts, terms) ? 'first' : 'absent' };
  if (isPermitted(facts, absence)) return again;
  const about = { kind: 'uncertain', absence } as const;
  if (permitted || needsPerson(facts) || !isCovered(facts)) return { do: 'ask', about };
  if (isBelieved(absence, terms)) return again;
  return { do: 'ask', about: { ...about, waitsFor: control.othersFail ? 'an accepted order' : 'a later order' } };
}

/** A permission ends if the order became late or was cancelled since. */
const isPermitted = (facts: Facts, { permitted }: Absence): boolean =>
  permitted !== undefined && isInTime(facts, permitted) && (permitted.cancelled || !facts.cancelled);

const isInTime = ({ late }: Facts, { late: isLateAllowed }: { late: boolean }): boolean =>
  late === undefined || (late !== 'over' && isLateAllowed);

/** After an excused create a re-send is free, up to a number of rounds. */
const isCovered = ({ budget: { resends, spent, excused, lastIsExcused } }: Facts): boolean =>
  lastIsExcused ? excused % MAX_ROUNDS.excused !== 0 : spent <= resends;

/**
 * Returns true if only an operator may permit a re-send: refused, called back, cancelled, late,
 * reset, recovered, or sent to an account that is unknown or only confirmed.
 */
export const needsPerson = (facts: Facts): boolean =>
  facts.refused !== undefined ||
  isContradicted(facts) ||
  facts.cancelled ||
  facts.late !== undefined ||
  facts.everDoubted.some(({ cause, place }) => cause === 'reset' || cause === 'recovered' || place !== 'asked');
