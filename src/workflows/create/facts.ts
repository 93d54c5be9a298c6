import type { Control } from '../../contract/order/activities.js';
import type { ApprovedAmount } from '../../contract/order/messages.js';
import { type AbsentReading, type Proof, restart, takeReading } from './absence-proof.js';
import type { Conflict, Ours, Seen } from './readings.js';

/** Why an order of ours may exist although none is shown. */
export type Cause = 'uncertainCreate' | 'reset' | 'earlierRun' | 'restored' | 'recovered';

/** A create under this order id may have been executed. */
export interface Doubt {
  cause: Cause;
  /** It was sent until then at the latest, in ms since the epoch by the server's clock. */
  untilMs: number;
  /** When the window of its proof began, where that is known; otherwise with the first reading. */
  sinceMs?: number;
  /** Where it went: to what is asked now, to what a person said is the same account, or nobody knows. */
  place: 'asked' | 'confirmed' | 'unknown';
  /** What happened, in words. */
  said: string;
}

/** That none of ours exists, proven after the last doubt. */
export interface Absence {
  doubt: Doubt;
  /** The run that read it. Look-ups of a later run, cut from it by a reset, prove nothing about its sends. */
  readIn: string;
  /** By what the last reading was checked. */
  control: Control;
  /** What was known when a re-send was permitted because of it: a person is asked anew about what came since. */
  permitted?: { late: boolean; cancelled: boolean };
}

/** How often the service kept the order waiting, and what may still happen without a person. */
export interface Budget {
  /** Re-sends that need no person. */
  resends: number;
  /** Uncertain creates that each cost one. */
  spent: number;
  /** Times that the service answered "too many requests", by probes and creates. */
  rateLimited: number;
  /** The last create was answered so, which costs no re-send. */
  lastWasLimited: boolean;
  /** Attempts that sent nothing. */
  notSent: number;
}

/**
 * All that a run knows about its create. While there is a `doubt`, something may have been sent, and absence is to be proven;
 * `everDoubted` names all causes so far. Plain data: `applyOutcome` alone changes it, but for `cancelled` and `late`, which come
 * from outside. `nextAction` decides by nothing else.
 */
export interface Facts {
  doubt?: Doubt;
  everDoubted: readonly Doubt[];
  proof?: Proof;
  absence?: Absence;
  found?: Ours | Conflict;
  /** Callbacks with this order's own token: 'fresh' until a look-up follows, and never forgotten after a send. */
  callback: 'none' | 'fresh' | 'seen' | 'fresh again';
  /** The service refused the create with 400. `repeated`: another create went before it. */
  refused?: { answer: string; repeated: boolean };
  /** Why nothing was sent. `waitMs`: before the next look; absent: it was looked. `asks`: a person is asked. */
  notSent?: { why: string; waitMs?: number; asks: boolean };
  /** Nothing is sent before a person approves this amount, or at all. */
  blocked?: { by: 'cap' | 'stale'; why: string; toApprove?: ApprovedAmount };
  /** A person wants it closed: as absent, or because they refused it. */
  closing?: { by: string; refused?: string };
  cancelled: boolean;
  /**
   * 'delayed': the time at which it was to start has passed; 'allowed': a person lets it be sent for the first time all the same;
   * 'over': so has its latest send time, and nothing is sent any more.
   */
  late?: 'delayed' | 'allowed' | 'over';
  /** Looked for since the last attempt, and not found. */
  looked: boolean;
  budget: Budget;
}

/** What happened, as far as it matters for the create. Times by the server's clock. */
export type Outcome =
  | { kind: 'seen'; seen: Seen }
  /** One reading of a proof. `heard`: a callback came before it was asked. */
  | {
      kind: 'read';
      seen: Seen;
      reading: Omit<AbsentReading, 'control'>;
      readIn: string;
      windowMs: number;
      heard: boolean;
    }
  /** A person chose it. */
  | { kind: 'adopted'; ours: Ours }
  | { kind: 'doubted'; doubt: Doubt; costs?: { isLimited: boolean } }
  | { kind: 'refused'; answer: string; atMs: number; place: Doubt['place'] }
  | { kind: 'notSent'; why: string; waitMs: number; isLimited: boolean }
  | ({ kind: 'blocked' } & NonNullable<Facts['blocked']>)
  | { kind: 'takenBack' }
  /** `readIn`: the run that permits it. */
  | { kind: 'permitted'; wasLate: boolean; readIn: string }
  | { kind: 'goesOn' }
  | { kind: 'closing'; by: string; refused?: string; atMs: number }
  | { kind: 'callback' }
  | { kind: 'placeConfirmed' }
  /** The service shows an order that it accepted later, and not ours. */
  | { kind: 'later'; control: Control };

/** Attempts that sent nothing, or were limited, before a person is asked. */
export const MAX_ROUNDS = { notSent: 50, rateLimited: 20 };

/** The facts of a run that begins. */
export function openFacts(resend: 'once' | 'never' | undefined, movesMoneyAtOnce: boolean, doubt?: Doubt): Facts {
  const resends = resend === 'never' ? 0 : movesMoneyAtOnce ? 1 : 2;
  return {
    ...(doubt && { doubt }),
    everDoubted: doubt ? [doubt] : [],
    callback: 'none',
    cancelled: false,
    looked: false,
    budget: { resends, spent: 0, rateLimited: 0, lastWasLimited: false, notSent: 0 },
  };
}

/** True once a create under this order id may have been sent, by this run or another one. */
export const wasEverInDoubt = ({ everDoubted }: Pick<Facts, 'everDoubted'>): boolean => everDoubted.length > 0;

/** True where nobody knows whether the place that is asked is the one that a create went to. */
export const isPlaceUnknown = ({ everDoubted }: Pick<Facts, 'everDoubted'>): boolean =>
  everDoubted.at(-1)?.place === 'unknown';

/** True where a callback came that no look-up has followed yet. */
export const isCallbackNew = ({ callback }: Pick<Facts, 'callback'>): boolean =>
  callback === 'fresh' || callback === 'fresh again';

/** The facts after an outcome. Pure. */
export function applyOutcome(facts: Facts, outcome: Outcome): Facts {
  switch (outcome.kind) {
    case 'seen':
      return takeSeen(facts, outcome.seen);
    case 'read':
      return takeProofReading(facts, outcome);
    case 'adopted':
      return { ...facts, found: outcome.ours };
    case 'doubted':
      return takeDoubt(facts, outcome);
    case 'refused': {
      const { answer, atMs, place } = outcome;
      const repeated = facts.everDoubted.some(({ cause }) => cause === 'uncertainCreate');
      const said = `the service refused the create${repeated ? ' that was repeated' : ''} (${answer})`;
      const doubt: Doubt = { cause: 'uncertainCreate', untilMs: atMs, place, said };
      return { ...inDoubt(facts, doubt), refused: { answer, repeated } };
    }
    case 'notSent': {
      const { why, waitMs, isLimited } = outcome;
      const name = isLimited ? 'rateLimited' : 'notSent';
      const budget = { ...facts.budget, [name]: facts.budget[name] + 1 };
      const asks = budget[name] % MAX_ROUNDS[name] === 0;
      const rounds = budget[name] > 1 ? ` (${budget[name]} rounds)` : '';
      return { ...facts, looked: false, budget, notSent: { why: asks ? `${why}${rounds}` : why, waitMs, asks } };
    }
    case 'blocked': {
      const { kind: _, ...blocked } = outcome;
      return { ...facts, looked: false, blocked };
    }
    case 'takenBack':
      return { ...facts, looked: false, notSent: { why: 'it was taken back', waitMs: 0, asks: false } };
    case 'permitted':
      return permit(facts, outcome);
    case 'goesOn':
      return { ...without(facts, 'blocked', 'notSent', 'refused') };
    case 'closing':
      return close(facts, outcome);
    case 'callback':
      return { ...facts, callback: facts.callback === 'none' || facts.callback === 'fresh' ? 'fresh' : 'fresh again' };
    case 'placeConfirmed':
      return confirmPlace(facts);
    case 'later':
      // What was hidden is shown again: it is read over a whole window.
      if (!facts.absence) return without(facts, 'proof');
      return { ...facts, absence: { ...facts.absence, control: outcome.control } };
  }
}

function without<K extends keyof Facts>(facts: Facts, ...keys: K[]): Omit<Facts, K> & Partial<Pick<Facts, K>> {
  const rest = { ...facts };
  for (const key of keys) delete rest[key];
  return rest;
}

/** A look-up that is not part of a proof. */
function takeSeen(facts: Facts, seen: Seen): Facts {
  const { notSent, absence } = facts;
  // A callback after a send stays known; one before it was about nothing of ours.
  const callback = facts.callback === 'none' || !wasEverInDoubt(facts) ? 'none' : 'seen';
  const waited = notSent && { why: notSent.why, asks: notSent.asks };
  const looked: Facts = { ...facts, looked: true, callback, ...(waited && { notSent: waited }) };
  if (isForPerson(facts)) return looked;
  if (seen.kind !== 'absent') return takeFound(looked, seen);
  // The first callback after absence was proven: the whole window is read once more.
  const isNews = facts.callback === 'fresh' && absence !== undefined;
  return isNews ? anew(looked, absence.doubt) : looked;
}

/** Which of several orders of ours to follow stays for a person to say, though a lagging list may show fewer now. */
const isForPerson = ({ found }: Facts): boolean => found?.kind === 'conflict' && found.ours.length > 0;

/** What is shown under our id. A conflict may hide ours as long as a create may be on its way. */
function takeFound(facts: Facts, found: Ours | Conflict): Facts {
  if (isForPerson(facts)) return facts;
  if (found.kind === 'ours') return { ...facts, found };
  const { closing, doubt, absence } = facts;
  const kept: Facts = { ...facts, found };
  if (found.ours.length > 0 || found.askAtOnce)
    return found.ours.length > 0 && closing ? without(kept, 'closing') : kept;
  const isNew = facts.found === undefined && !doubt;
  return isNew && absence ? anew(kept, absence.doubt) : kept;
}

function takeProofReading(facts: Facts, outcome: Extract<Outcome, { kind: 'read' }>): Facts {
  const { seen, windowMs, readIn } = outcome;
  const { doubt } = facts;
  const isFirstCallback = outcome.heard && facts.callback !== 'seen' && facts.callback !== 'fresh again';
  const known: Facts = { ...facts, looked: true, callback: outcome.heard ? 'seen' : facts.callback };
  if (!doubt) return known;
  if (seen.kind === 'ours') return takeFound(known, seen);
  const conflict = seen.kind === 'conflict' ? seenInDoubt(facts, seen) : undefined;
  const noted = conflict ? takeFound(known, conflict) : known;
  const control = (seen.kind === 'absent' && seen.control) || { whole: true };
  const reading = { ...outcome.reading, control };
  const { proof, isProven } = takeReading(facts.proof, doubt, reading, windowMs);
  // Nothing that was read before a callback counts.
  if (isFirstCallback) return { ...noted, proof: restart(proof, reading, windowMs) };
  if (!isProven) return { ...noted, proof };
  return { ...without(noted, 'doubt', 'proof'), absence: { doubt, readIn, control } };
}

/** What is shown once after a create was refused may have come of it, so that only a person may end it. */
const seenInDoubt = ({ refused, doubt }: Facts, conflict: Conflict): Conflict =>
  refused && doubt ? { ...conflict, reason: `${conflict.reason}; ${doubt.said}`, askAtOnce: true } : conflict;

function takeDoubt(facts: Facts, { doubt, costs }: Extract<Outcome, { kind: 'doubted' }>): Facts {
  // A worker goes on naming the same restore.
  const isKnown = facts.everDoubted.some(({ cause, untilMs }) => cause === 'restored' && untilMs >= doubt.untilMs);
  if (doubt.cause === 'restored' && isKnown) return facts;
  const doubted = inDoubt(facts, doubt);
  const { budget } = facts;
  const isFree = costs?.isLimited === true && budget.resends > 0;
  const spent: Budget = {
    ...budget,
    lastWasLimited: isFree,
    rateLimited: budget.rateLimited + (isFree ? 1 : 0),
    spent: budget.spent + (isFree ? 0 : 1),
  };
  return {
    ...doubted,
    ...(costs && { budget: spent }),
  };
}

const WORST_PLACE: readonly Doubt['place'][] = ['asked', 'confirmed', 'unknown'];

/** Adds a doubt to what is known: it lasts as long as the longest one, and is about the least known place. */
function inDoubt(facts: Facts, doubt: Doubt): Facts {
  const before = facts.doubt ?? facts.absence?.doubt;
  const places = [doubt.place, before?.place ?? 'asked'].map((place) => WORST_PLACE.indexOf(place));
  const untilMs = Math.max(doubt.untilMs, before?.untilMs ?? 0);
  const { sinceMs, ...rest } = doubt;
  const merged: Doubt = {
    ...rest,
    untilMs,
    // No window begins before the last moment of all sends.
    ...(sinceMs !== undefined && sinceMs >= untilMs && { sinceMs }),
    place: WORST_PLACE[Math.max(...places)] ?? 'unknown',
  };
  return {
    ...anew(without(facts, 'refused', 'notSent', 'blocked'), merged),
    doubt: merged,
    everDoubted: [...facts.everDoubted, merged],
  };
}

/** The same doubt again: absence is to be proven from here on, over a whole window. */
const anew = (facts: Facts, { sinceMs: _, ...doubt }: Doubt): Facts => ({
  ...without(facts, 'proof', 'absence'),
  doubt,
  looked: false,
});

/** A re-send was permitted, and may have to wait: the permission holds for what was known when it was given. */
function permit(facts: Facts, { wasLate, readIn }: Extract<Outcome, { kind: 'permitted' }>): Facts {
  const { doubt, late, cancelled } = facts;
  // What the account hides is said to be absent there by the person who says that it is the account.
  const absence = facts.absence ?? (doubt && { doubt, readIn, control: { whole: false } });
  const isLate = late !== undefined && wasLate;
  if (!absence) return late === 'delayed' && wasLate ? { ...facts, late: 'allowed' } : facts;
  return {
    ...without(facts, 'refused', 'doubt', 'proof'),
    absence: { ...absence, permitted: { late: isLate, cancelled } },
  };
}

function close(facts: Facts, { by, refused, atMs }: Extract<Outcome, { kind: 'closing' }>): Facts {
  const closing = { by, ...(refused !== undefined && { refused }) };
  if (refused !== undefined && !wasEverInDoubt(facts)) return { ...facts, closing, looked: false };
  const said = 'absence is proven once more before closing';
  const doubt = facts.doubt ??
    facts.absence?.doubt ?? { cause: 'uncertainCreate', untilMs: atMs, place: 'asked', said };
  // What is hidden already needs no second window.
  return facts.doubt && facts.proof?.hidden === 'over' ? { ...facts, closing } : { ...anew(facts, doubt), closing };
}

/** A person said that what is asked now is the order's account: what was read elsewhere does not count there. */
function confirmPlace(facts: Facts): Facts {
  const doubt = facts.doubt ?? facts.absence?.doubt;
  if (!doubt) return facts;
  const confirmed: Doubt = { ...doubt, place: 'confirmed' };
  return { ...anew(facts, confirmed), everDoubted: [...facts.everDoubted, confirmed] };
}
