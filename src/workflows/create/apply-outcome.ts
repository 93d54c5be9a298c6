import type { Control } from '../../contract/order/activities.js';
import { type AbsentReading, applyReading, restart } from './absence-proof.js';
import {
  type Budget,
  type Conflict,
  type Doubt,
  type Facts,
  isHeld,
  MAX_ROUNDS,
  type Ours,
  type Seen,
  wasEverInDoubt,
} from './facts.js';

/** Event of the create. All times are by the Temporal server's clock. */
export type Outcome =
  | { kind: 'seen'; seen: Seen }
  /** One reading of a proof. */
  | { kind: 'read'; seen: Seen; reading: Omit<AbsentReading, 'control'>; readIn: string; windowMs: number }
  /** An operator chose this order. */
  | { kind: 'adopted'; ours: Ours }
  | { kind: 'doubted'; doubt: Doubt; costs?: { isLimited: boolean } }
  /** `needsLater`: a parent would pay the rest again. */
  | { kind: 'refused'; answer: string; atMs: number; place: Doubt['place']; needsLater?: boolean }
  | { kind: 'notSent'; why: string; waitMs: number; isLimited: boolean }
  | ({ kind: 'blocked' } & NonNullable<Facts['blocked']>)
  | { kind: 'takenBack' }
  /** The account is stopped, and later resumed. */
  | { kind: 'stopped'; why: string }
  | { kind: 'resumed' }
  /** A send is permitted, by the rules or an operator. `readIn`: run that read absence. */
  | { kind: 'permitted'; readIn: string }
  | { kind: 'unblocked' }
  /** A person releases a held order, which may have been sent to `place` until `untilMs`. */
  | { kind: 'released'; untilMs: number; place: Doubt['place'] }
  /** An operator lets an order that is short of funds wait for them. */
  | { kind: 'awaits' }
  | { kind: 'closing'; by: string; refused?: string; atMs: number }
  | { kind: 'callback'; atMs: number }
  | { kind: 'placeConfirmed' }
  /** A later reading does not show ours. `control`: how reliable that is. */
  | { kind: 'later'; control: Control };

export function record(run: { facts: Facts }, outcome: Outcome): void {
  run.facts = applyOutcome(run.facts, outcome);
}

/** Returns the facts after an outcome. Pure. */
export function applyOutcome(facts: Facts, outcome: Outcome): Facts {
  switch (outcome.kind) {
    case 'seen':
      return applySeen(facts, outcome.seen);
    case 'adopted':
      return { ...facts, found: outcome.ours };
    case 'doubted':
      return applyDoubt(facts, outcome);
    case 'refused': {
      const { answer, atMs, place, needsLater = false } = outcome;
      const isRepeated = wasEverInDoubt(facts);
      const said = `the service refused the create${isRepeated ? ' that was repeated' : ''} (${answer})`;
      const doubt: Doubt = { cause: 'uncertainCreate', untilMs: atMs, place, said };
      return { ...inDoubt(facts, doubt), refused: { answer, needsLater: needsLater || isRepeated } };
    }
    case 'notSent': {
      const { why, waitMs, isLimited } = outcome;
      const name = isLimited ? 'excused' : 'notSent';
      const budget = { ...facts.budget, [name]: facts.budget[name] + 1 };
      const asks = budget[name] % MAX_ROUNDS[name] === 0;
      const rounds = budget[name] > 1 ? ` (${budget[name]} rounds)` : '';
      return { ...facts, looked: false, budget, notSent: { why: asks ? `${why}${rounds}` : why, waitMs, asks } };
    }
    case 'blocked':
      return block(facts, outcome);
    case 'stopped':
      return { ...facts, looked: false, notSent: { why: outcome.why, asks: false, isStopped: true } };
    case 'resumed':
      return without(facts, 'notSent');
    case 'takenBack':
      return {
        ...facts,
        looked: false,
        notSent: { why: 'it was taken back', waitMs: 0, asks: false, isTakenBack: true },
      };
    case 'permitted':
      return permit(facts, outcome);
    case 'unblocked':
      // Funds or an approval that came with the hold do not end it.
      return isHeld(facts) ? facts : without(facts, 'blocked', 'notSent', 'refused');
    case 'released':
      return release(facts, outcome);
    case 'awaits':
      return facts.blocked && !isHeld(facts) ? { ...facts, blocked: { ...facts.blocked, waits: true } } : facts;
    case 'closing':
      return close(facts, outcome);
    case 'callback':
      return hear(facts, outcome.atMs);
    case 'placeConfirmed':
      return confirmPlace(facts);
    case 'later':
      // The service shows hidden orders again, so a whole window of readings is needed.
      if (!facts.absence) return without(facts, 'proof');
      return withControl(facts, outcome.control);
    case 'read':
      return applyProofReading(facts, outcome);
  }
}

/** A person's hold stays. After its release, the next attempt finds anything else again. */
const block = (facts: Facts, { kind: _, ...blocked }: Extract<Outcome, { kind: 'blocked' }>): Facts => ({
  ...facts,
  looked: false,
  blocked: isHeld(facts) ? facts.blocked : blocked,
});

/** Before any send, a callback with our token tells of a create that Temporal does not know. */
function hear(facts: Facts, atMs: number): Facts {
  const isFirst = facts.callback === 'none' || facts.callback === 'fresh';
  const heard: Facts = { ...facts, callback: isFirst ? 'fresh' : 'fresh again' };
  if (wasEverInDoubt(facts) || facts.found?.kind === 'ours') return heard;
  const said = 'a callback came before anything was sent, so an earlier run may have sent it';
  return inDoubt(heard, { cause: 'earlierRun', untilMs: atMs, place: 'asked', said });
}

/** Ends a hold. A create that was paused or repeated looks like one that no worker had. */
function release(facts: Facts, { untilMs, place }: Extract<Outcome, { kind: 'released' }>): Facts {
  const released = without(facts, 'blocked', 'notSent');
  const { isTakenBack, waitMs } = facts.notSent ?? {};
  // A look that was due before the next attempt still is.
  if (!isTakenBack) return waitMs === undefined ? released : without(facts, 'blocked');
  const said = 'the hold took the create back, and a worker may have had it before';
  return inDoubt(released, { cause: 'uncertainCreate', untilMs, place, said });
}

function without<T extends object, K extends keyof T>(given: T, ...keys: K[]): Omit<T, K> & Partial<Pick<T, K>> {
  const rest = { ...given };
  for (const key of keys) delete rest[key];
  return rest;
}

const afterLook = (facts: Facts): Facts => ({
  ...facts,
  looked: true,
  callback: facts.callback === 'none' ? 'none' : 'seen',
});

/** Applies a look-up that is not part of a proof. */
function applySeen(facts: Facts, seen: Seen): Facts {
  const { notSent, absence } = facts;
  const looked = { ...afterLook(facts), ...(notSent && { notSent: without(notSent, 'waitMs') }) };
  if (isForPerson(facts)) return looked;
  if (seen.kind !== 'absent') return applyFound(looked, seen);
  // After the first callback, or one after a permission, a whole window is read again.
  const isNews = facts.callback === 'fresh' || (absence?.permitted && facts.callback === 'fresh again');
  return absence && isNews ? restartProof(looked, absence.doubt) : looked;
}

/** Returns true if an operator has to choose between several orders of ours, even if a later list shows fewer. */
const isForPerson = ({ found }: Facts): boolean => found?.kind === 'conflict' && found.ours.length > 0;

/** Applies what is shown under our id. While a create may be in flight, a conflict may hide it. */
function applyFound(facts: Facts, found: Ours | Conflict): Facts {
  if (isForPerson(facts)) return facts;
  if (found.kind === 'ours') return { ...facts, found };
  const { doubt, absence } = facts;
  const kept: Facts = { ...facts, found };
  if (found.ours.length > 0) return without(kept, 'closing');
  if (found.askAtOnce) return kept;
  const isNew = facts.found === undefined && !doubt;
  return isNew && absence ? restartProof(kept, absence.doubt) : kept;
}

function applyProofReading(facts: Facts, outcome: Extract<Outcome, { kind: 'read' }>): Facts {
  const { seen, windowMs, readIn } = outcome;
  const { doubt } = facts;
  const known = afterLook(facts);
  if (!doubt) return known;
  if (seen.kind === 'ours') return applyFound(known, seen);
  const conflict = seen.kind === 'conflict' ? seenInDoubt(facts, seen) : undefined;
  const noted = conflict ? applyFound(known, conflict) : known;
  const control = (seen.kind === 'absent' && seen.control) || { whole: true };
  const reading = { ...outcome.reading, control };
  const { proof, isProven } = applyReading(facts.proof, doubt, reading, windowMs);
  // Readings before a callback do not count.
  if (facts.callback === 'fresh') return { ...noted, proof: restart(proof, reading, windowMs) };
  // Said by the reading that follows the failure, and forgotten by the last one.
  if (!isProven) return withControl({ ...noted, proof }, control);
  return withControl({ ...without(noted, 'doubt', 'proof'), absence: { doubt, readIn, control } }, control);
}

/** In an outage, the last create failed as those of other orders did. */
const withControl = (facts: Facts, control: Control): Facts => ({
  ...facts,
  ...(facts.absence && { absence: { ...facts.absence, control } }),
  ...(control.othersFail && { budget: excused(facts.budget) }),
});

/** A conflict seen after a refused create may result from it, so only an operator may end the order. */
const seenInDoubt = ({ refused, doubt }: Facts, conflict: Conflict): Conflict =>
  refused && doubt ? { ...conflict, reason: `${conflict.reason}; ${doubt.said}`, askAtOnce: true } : conflict;

function applyDoubt(facts: Facts, { doubt, costs }: Extract<Outcome, { kind: 'doubted' }>): Facts {
  // Workers report the same restore with every answer.
  const isKnown = facts.everDoubted.some(({ cause, untilMs }) => cause === 'restored' && untilMs >= doubt.untilMs);
  if (doubt.cause === 'restored' && isKnown) return facts;
  const { budget } = facts;
  const spent: Budget = { ...budget, spent: budget.spent + 1, lastIsExcused: false };
  const counted = costs?.isLimited ? excused(spent) : spent;
  return { ...inDoubt(facts, doubt), ...(costs && { budget: counted }) };
}

/** Takes the last create out of the re-sends that are spent. */
const excused = (budget: Budget): Budget =>
  budget.lastIsExcused || budget.resends === 0 || budget.spent === 0
    ? budget
    : { ...budget, spent: budget.spent - 1, excused: budget.excused + 1, lastIsExcused: true };

const LEAST_KNOWN_FIRST = ['unknown', 'confirmed', 'asked'] as const satisfies readonly Doubt['place'][];

/** Merges a doubt with the one before: the later end and the less known place hold. */
function inDoubt(facts: Facts, doubt: Doubt): Facts {
  const before = facts.doubt ?? facts.absence?.doubt;
  const untilMs = Math.max(doubt.untilMs, before?.untilMs ?? 0);
  const { sinceMs, ...rest } = doubt;
  const merged: Doubt = {
    ...rest,
    untilMs,
    // A window begins after all sends.
    ...(sinceMs !== undefined && sinceMs >= untilMs && { sinceMs }),
    place: LEAST_KNOWN_FIRST.find((place) => place === doubt.place || place === before?.place) ?? 'unknown',
  };
  return {
    ...restartProof(without(facts, 'notSent', ...(isHeld(facts) ? [] : ['blocked' as const])), merged),
    // Callers may have heard of it.
    ...(facts.refused && { refused: { ...facts.refused, needsLater: true } }),
    doubt: merged,
    everDoubted: [...facts.everDoubted, merged],
  };
}

/** Opens the same doubt again: absence has to be proven over a whole new window. */
const restartProof = (facts: Facts, { sinceMs: _, ...doubt }: Doubt): Facts => ({
  ...without(facts, 'proof', 'absence'),
  doubt,
  looked: false,
});

/** Records that a re-send is permitted, with what was known when the operator was asked. */
function permit(facts: Facts, { readIn }: Extract<Outcome, { kind: 'permitted' }>): Facts {
  const { doubt, late, cancelled } = facts;
  // Orders stay hidden on this account: the operator who confirmed the account vouches for absence.
  const absence = facts.absence ?? (doubt && { doubt, readIn, control: { whole: false } });
  if (!absence) return late === 'delayed' ? { ...facts, late: 'allowed' } : facts;
  return {
    ...without(facts, 'refused', 'doubt', 'proof'),
    absence: { ...absence, permitted: { late: late !== undefined, cancelled } },
  };
}

function close(facts: Facts, { by, refused, atMs }: Extract<Outcome, { kind: 'closing' }>): Facts {
  const closing = { by, ...(refused !== undefined && { refused }) };
  const isSurelyUnsent = !wasEverInDoubt(facts) && !facts.notSent?.isTakenBack;
  if (refused !== undefined && isSurelyUnsent) return { ...facts, closing, looked: false };
  const said = 'absence is proven once more before closing';
  const doubt = facts.doubt ??
    facts.absence?.doubt ?? { cause: 'uncertainCreate', untilMs: atMs, place: 'asked', said };
  // A window that ended with hidden orders is not repeated.
  return facts.doubt && facts.proof?.hidden === 'over'
    ? { ...facts, closing }
    : { ...restartProof(without(facts, 'notSent'), doubt), closing };
}

/** Applies an operator's word that the account is the order's: earlier readings do not count for it. */
function confirmPlace(facts: Facts): Facts {
  const doubt = facts.doubt ?? facts.absence?.doubt;
  if (!doubt) return facts;
  const confirmed: Doubt = { ...doubt, place: doubt.place === 'unknown' ? 'unknown' : 'confirmed' };
  return { ...restartProof(facts, confirmed), everDoubted: [...facts.everDoubted, confirmed] };
}
