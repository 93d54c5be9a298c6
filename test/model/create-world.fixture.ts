import { applyOutcome, type Outcome } from '../../src/workflows/create/apply-outcome.js';
import {
  type Absence,
  type Conflict,
  type Doubt,
  type Facts,
  MAX_ROUNDS,
  openFacts,
  type Seen,
} from '../../src/workflows/create/facts.js';
import { type Action, nextAction } from '../../src/workflows/create/next-action.js';
import { decisionsOf } from '../../src/workflows/order/decision.js';
import type { Step as Happened } from './explore.fixture.js';

type Step = Happened<World>;

/*
 * An order, the service and Temporal, as far as they matter for a create. Time is counted in tenths of the settle window. The
 * real `nextAction` and `applyOutcome` decide; what the executor does between them stands in `outcomesOf`.
 */

export const WINDOW = 10;
/** One request from its write to its end, and how long a create of a lost worker may be alive. */
const UNDER_WAY = 2;
/** So much later than its 5xx a create may be executed; a later order must be younger (`LATER_BY`). */
const LATE = 2;

/** One create that was sent. */
interface Sent {
  state: 'on its way' | 'executed' | 'dropped';
  /** Executed at; on its way: until then at the latest. */
  atMs: number;
  /** The service keeps its id in another form: look-ups by ours never show it. */
  otherForm?: true;
  /** It went to another account than the one in use, and nobody knows to which. */
  elsewhere?: true;
}

/** Look-ups by our id, at the account in use, may show it. */
const isShown = ({ state, otherForm, elsewhere }: Sent): boolean => state === 'executed' && !otherForm && !elsewhere;

/** What the service shows stands still. `ours`: it shows our order. */
interface Frozen {
  atMs: number;
  ours: boolean;
  another: boolean;
  /** New deposits are shown, although new payouts are not. */
  deposits?: true;
}

export interface World {
  nowMs: number;
  facts: Facts;
  sends: readonly Sent[];
  frozen?: Frozen;
  /** The key in use sees no order of the key before. */
  otherKey?: true;
  /** An order that the service confirmed before the create was sent, as pinned with it. */
  witness: boolean;
  /** Another payment has our id. */
  another?: true;
  /** When the service accepted the last order that was never sent before and moves money at once. */
  laterMs?: number;
  /** Creates of other orders got no clear answer since the last one that was accepted. */
  othersFail?: true;
  /** Since the last send, a reading showed an order that was accepted well after it. */
  wasLaterShown?: true;
  /** When it accepted the last canary, which is a deposit. */
  canaryMs?: number;
  /** Counts runs: of a reset, of a start again. */
  run: number;
  firstRun: number;
  answeredIn: number;
  /** What the run was before its last attempt, to which it may be reset. */
  before?: { facts: Facts; answeredIn: number };
  restoredAtMs?: number;
  /** When the last attempt began that wrote nothing, as far as Temporal knows. */
  unconfirmedMs?: number;
  cancelled?: true;
  /** The time at which it was to start has passed, or its latest send time. */
  late?: 'delayed' | 'over';
  /** The account is stopped. */
  stopped?: true;
  /** A person holds it, and none has let it be sent since. */
  held?: true;
  callbackDue?: true;
  /** A callback came. */
  isCalled?: true;
  /** The service refused a create, as far as Temporal knows. */
  isRefused?: true;
  /** A payout; otherwise a deposit, which moves none of our money when it is created. */
  isPayout: boolean;
  /** What may still happen. */
  left: Readonly<Record<Disturbance, number>>;
  ended?: string;
}

export type Disturbance =
  | 'send'
  | 'freeze'
  | 'thaw'
  | 'key'
  | 'accept'
  | 'canary'
  | 'split'
  | 'outage'
  | 'callback'
  | 'cancel'
  | 'reset'
  | 'restart'
  | 'restore'
  | 'forget'
  | 'announce'
  | 'decision'
  | 'refuse'
  | 'lose'
  | 'another'
  | 'late'
  | 'form'
  | 'short'
  | 'rule'
  | 'stop'
  | 'hold'
  | 'rounds';

/** What is checked; a mutant replaces one of them. */
export interface Code {
  nextAction: typeof nextAction;
  applyOutcome: typeof applyOutcome;
  /** The account's setting says that deposits count for payouts. */
  depositsCount?: boolean;
}

export const CODE: Code = { nextAction, applyOutcome };

const ORDER = { order_uuid: 'ours' } as never;
const OURS: Seen = { kind: 'ours', order: ORDER, how: 'adopted' };
const SEVERAL: Conflict = { kind: 'conflict', reason: 'several', ours: ['one', 'two'], candidates: [] };
const FOREIGN: Conflict = { kind: 'conflict', reason: 'another payment', ours: [], candidates: [] };
const NAMED: Conflict = {
  kind: 'conflict',
  reason: 'another form',
  ours: [],
  candidates: [],
  askAtOnce: true,
  isNamed: true,
};

export const executed = ({ sends }: World): number => sends.filter(({ state }) => state === 'executed').length;
export const isOpen = ({ sends }: World): boolean => sends.some(({ state }) => state === 'on its way');

export function openWorld(left: World['left'], witness: boolean, isPayout: boolean): World {
  const facts = openFacts(undefined, isPayout);
  return { nowMs: 0, facts, sends: [], witness, run: 0, firstRun: 0, answeredIn: 0, left, isPayout };
}

/** What the run does next. */
export const actionOf = (world: World, code: Code): Action =>
  code.nextAction(observed(world, code).facts, { movesMoneyAtOnce: world.isPayout });

const spend = (world: World, what: Disturbance): World => ({
  ...world,
  left: { ...world.left, [what]: world.left[what] - 1 },
});

const note = (world: World, code: Code, ...outcomes: Outcome[]): World => ({
  ...world,
  facts: outcomes.reduce(code.applyOutcome, world.facts),
});

/** What happens next: events of the world outside, and what the run's next action may come to. */
export function stepsOf(world: World, code: Code): Step[] {
  if (world.ended !== undefined) return [];
  return [...disturbances(world, code), ...progress(world, code)];
}

type Happening = readonly [what: Disturbance, event: string, isPossible: boolean, world: (spent: World) => World];

function disturbances(world: World, code: Code): Step[] {
  const { nowMs, sends, frozen, left, another } = world;
  const wasSent = sends.length > 0;
  const happenings: Happening[] = [
    ...mayShow(world).map(
      (ours): Happening => [
        'freeze',
        `what the service shows stands still${ours ? ', with our order' : ''}`,
        !frozen,
        (spent) => ({ ...spent, frozen: { atMs: nowMs, ours, another: another === true } }),
      ],
    ),
    ...mayShow(world).map(
      (ours): Happening => [
        'split',
        `what the service shows of payouts stands still${ours ? ', with our order' : ''}, and deposits go on`,
        !frozen,
        (spent) => ({ ...spent, frozen: { atMs: nowMs, ours, another: another === true, deposits: true } }),
      ],
    ),
    ['thaw', 'it goes on', frozen !== undefined, (spent) => without(spent, 'frozen')],
    [
      'key',
      'the key is changed to one that sees nothing',
      wasSent,
      (spent) => ({ ...without(without(spent, 'laterMs'), 'canaryMs'), otherKey: true }),
    ],
    [
      'accept',
      'an unsent order goes first and is accepted',
      wasSent,
      (spent) => ({ ...without(spent, 'othersFail'), laterMs: nowMs }),
    ],
    ['outage', 'creates of other orders fail', !world.othersFail, (spent) => ({ ...spent, othersFail: true })],
    [
      'canary',
      'a canary is accepted',
      waitsForLater(actionOf(world, code)),
      (spent) => ({ ...without(spent, 'othersFail'), canaryMs: nowMs }),
    ],
    [
      'callback',
      'a callback comes',
      executed(world) > 0 && !world.callbackDue,
      (spent) => ({ ...spent, callbackDue: true, isCalled: true }),
    ],
    ...(['delayed', 'over'] as const).map(
      (late): Happening => [
        'late',
        late === 'over' ? 'its latest send time is over' : 'the time that it was to start at has passed',
        wasSent,
        (spent) => ({ ...spent, late }),
      ],
    ),
    ['another', 'another payment takes its id', !another, (spent) => ({ ...spent, another: true })],
    ['stop', 'the account is stopped', !world.stopped, (spent) => ({ ...spent, stopped: true })],
    ['hold', 'a person holds it', mayHold(world), (spent) => hold(spent, code)],
    ['cancel', 'it is cancelled', !world.cancelled, (spent) => ({ ...spent, cancelled: true })],
    [
      'reset',
      'the run is reset to before its last attempt',
      world.before !== undefined,
      (spent) => {
        const back: World = { ...spent, ...world.before, run: world.run + 1 };
        // The server repeats the hold in the new run.
        return world.held ? hold(back, code) : back;
      },
    ],
    ['restart', 'the run is terminated and started again', wasSent, startAgain],
    [
      'restore',
      'Temporal is restored from before the create',
      wasSent,
      (spent) => ({
        // A hold is forgotten with everything else.
        ...without(without(without(without(spent, 'laterMs'), 'canaryMs'), 'held'), 'isRefused'),
        facts: openFacts(undefined, world.isPayout),
        witness: false,
        restoredAtMs: nowMs,
      }),
    ],
    [
      // Without the callback, nothing would tell of the create.
      'forget',
      'nobody says that Temporal was restored from before the create, whose callback comes',
      executed(world) > 0,
      (spent) => ({
        ...without(without(without(spent, 'laterMs'), 'held'), 'isRefused'),
        facts: openFacts(undefined, world.isPayout),
        witness: false,
        callbackDue: true,
        isCalled: true,
      }),
    ],
    [
      'announce',
      'an operator names a restore of half a window ago',
      wasSent && world.restoredAtMs === undefined,
      (spent) => ({ ...spent, restoredAtMs: nowMs - WINDOW / 2 }),
    ],
  ];
  const possible = happenings.filter(([what, , isPossible]) => isPossible && left[what] > 0);
  return [
    ...arrivals(world),
    ...(world.stopped ? [{ event: 'the account is resumed', world: without(world, 'stopped') }] : []),
    ...possible.map(([what, event, , change]): Step => ({ event, world: change(spend(world, what)) })),
  ];
}

/** Creates that are on their way may be executed as long as they are. */
function arrivals(world: World): Step[] {
  const { sends, nowMs } = world;
  return sends.flatMap((sent, n): Step[] => {
    if (sent.state !== 'on its way' || nowMs > sent.atMs) return [];
    const arrived = sends.map((one, m): Sent => (m === n ? { ...one, state: 'executed', atMs: nowMs } : one));
    return [{ event: 'a create that was on its way is executed', world: { ...world, sends: arrived } }];
  });
}

type Passing =
  | 'othersFail'
  | 'wasLaterShown'
  | 'laterMs'
  | 'canaryMs'
  | 'callbackDue'
  | 'cancelled'
  | 'frozen'
  | 'stopped'
  | 'held'
  | 'isRefused';

function without(world: World, key: Passing): World {
  const { [key]: _, ...rest } = world;
  return rest as World;
}

/** A hold also counts for an order that may have been sent: if it was not, nothing sends it again. */
const mayHold = (world: World): boolean => !world.held && !world.facts.found;

const hold = (world: World, code: Code): World => ({
  ...note(world, code, { kind: 'blocked', by: 'hold', why: 'held' }),
  held: true,
});

/** A hold that comes in the same moment as another step; none if nobody can hold it. */
const heldMeanwhile = (world: World, code: Code, steps: (held: World) => Step[]): Step[] =>
  world.left.hold > 0 && mayHold(world)
    ? steps(hold(spend(world, 'hold'), code)).map(({ event, world }) => ({ event: `held as ${event}`, world }))
    : [];

const placeOf = ({ sends }: World): Doubt['place'] => (sends.some(({ elsewhere }) => elsewhere) ? 'unknown' : 'asked');

function startAgain(world: World): World {
  const run = world.run + 1;
  const doubt: Doubt = {
    cause: 'earlierRun',
    untilMs: world.nowMs + UNDER_WAY,
    place: placeOf(world),
    said: 'an earlier run may have sent it',
  };
  const { before: _, ...rest } = without(without(without(world, 'cancelled'), 'held'), 'isRefused');
  return { ...rest, facts: openFacts(undefined, world.isPayout, doubt), run, firstRun: run, answeredIn: run };
}

/** Whether our order may be shown now: late by a window, never before one that was accepted later and is shown. */
function mayShow({ sends, frozen, otherKey, nowMs, laterMs = Number.NEGATIVE_INFINITY }: World): boolean[] {
  const shown = sends.filter(isShown);
  if (otherKey || shown.length === 0) return [false];
  if (frozen) return [frozen.ours];
  const [first] = shown;
  const isSure = shown.some(({ atMs }) => nowMs - atMs >= WINDOW || atMs < laterMs);
  return first && isSure ? [true] : [true, false];
}

/** The world once the run has heard the callback that came, that it is cancelled, and that it is late. */
export function observed(world: World, code: Code): World {
  const heard = world.callbackDue
    ? without(note(world, code, { kind: 'callback', atMs: world.nowMs }), 'callbackDue')
    : world;
  const { cancelled, late } = world;
  return { ...heard, facts: { ...heard.facts, cancelled: cancelled === true, ...(late && { late }) } };
}

/** What the run does, in every way that it may come out. */
function progress(before: World, code: Code): Step[] {
  const world = observed(before, code);
  const action = actionOf(before, code);
  switch (action.do) {
    case 'take':
      return [{ event: 'it takes the order', world: { ...world, ended: 'taken' } }];
    case 'end':
      return [ending(world, action.as, code)];
    case 'attempt': {
      const steps = (from: World) => attempts(from, action.permission, code);
      return [...steps(world), ...heldMeanwhile(world, code, steps)];
    }
    case 'look':
      return readings(world, code).map(({ seen, event }) => ({
        event: `a look shows ${event}`,
        world: answered(world, code, seen, () => ({ kind: 'seen', seen })),
      }));
    case 'await resume':
      // A run that waits learns only of the resume.
      return world.stopped ? [] : [{ event: 'it hears of the resume', world: note(world, code, { kind: 'resumed' }) }];
    case 'prove absence':
      return proofs(world, code);
    case 'await funds': {
      const steps = (from: World): Step[] => [
        { event: 'it gets its funds', world: note(from, code, { kind: 'unblocked' }) },
      ];
      return [...steps(world), ...heldMeanwhile(world, code, steps)];
    }
    case 'ask':
      return asked(world, action.about, code);
  }
}

function ending(world: World, as: Extract<Action, { do: 'end' }>['as'], code: Code): Step {
  const isUnresolved = as.type === 'closed' && as.mayHaveSent && as.doubt !== undefined;
  const isReset = world.run !== world.firstRun;
  if (isReset && !isUnresolved && world.facts.absence?.readIn !== `${world.run}`) {
    return { event: 'a reset run does not end by what another has read', world: note(world, code, resetDoubt(world)) };
  }
  const ended = isUnresolved ? 'unresolved' : 'none exists';
  return { event: `it ends: ${ended} (${as.type})`, world: { ...world, ended } };
}

const resetDoubt = (world: World): Outcome => ({
  kind: 'doubted',
  doubt: { cause: 'reset', untilMs: world.nowMs + UNDER_WAY, place: 'unknown', said: 'the workflow was reset' },
});

/** Orders that count as later ones for ours, each with whether the service shows it. */
function laterOnes({ frozen, laterMs, canaryMs, isPayout }: World, code: Code): { atMs: number; isShown: boolean }[] {
  const isSeen = (atMs: number) => !frozen || frozen.atMs > atMs;
  const payout = laterMs === undefined ? [] : [{ atMs: laterMs, isShown: isSeen(laterMs) }];
  if (canaryMs === undefined || (isPayout && !code.depositsCount)) return payout;
  return [...payout, { atMs: canaryMs, isShown: frozen?.deposits || isSeen(canaryMs) }];
}

/** What a reading may show, with what it can be checked by. */
function readings(world: World, code: Code): { seen: Seen; event: string }[] {
  const { frozen, otherKey, witness, facts, nowMs } = world;
  const untilMs = (facts.doubt ?? facts.absence?.doubt)?.untilMs ?? Number.POSITIVE_INFINITY;
  const later = laterOnes(world, code).filter(({ atMs }) => atMs > untilMs && atMs < nowMs);
  const isLaterKnown = later.length > 0;
  const showsLater = later.every(({ isShown }) => isShown);
  const whole = !(isLaterKnown && !showsLater) && !(otherKey && witness);
  // A later order proves nothing under another key, where none was pinned, nor about an id that is kept in another form.
  const isAlike = !(otherKey && !witness) && !world.sends.some(({ otherForm }) => otherForm);
  const proves = later.some(({ atMs, isShown }) => isShown && atMs > untilMs + LATE);
  // A deposit of a worker that knows no order.
  const isUnchecked = !world.isPayout && !witness && !isLaterKnown;
  const control = {
    whole,
    ...(whole && proves && isAlike && { later: true as const }),
    ...(isUnchecked && { later: false }),
    ...(world.othersFail && { othersFail: true as const }),
  };
  const count = world.sends.filter(isShown).length;
  const showsAnother = !otherKey && (frozen ? frozen.another : world.another === true);
  return mayShow(world).map((isShown) => {
    if (isShown) return { seen: count > 1 || showsAnother ? SEVERAL : OURS, event: 'our order' };
    if (showsAnother) return { seen: FOREIGN, event: 'another payment' };
    return { seen: { kind: 'absent', control }, event: whole ? 'no order of ours' : 'not even what was confirmed' };
  });
}

/** The run hears an answer: one that another run asked for tells that it was reset, and a restored Temporal says so. */
function answered(world: World, code: Code, seen: Seen, outcome: (world: World) => Outcome): World {
  const isLater = seen.kind === 'absent' && seen.control?.later;
  const told = restored({ ...world, answeredIn: world.run, ...(isLater && { wasLaterShown: true }) }, code);
  const isReset = world.answeredIn !== world.run && world.run !== world.firstRun;
  if (!isReset || seen.kind === 'ours') return note(told, code, outcome(told));
  const doubted = note(told, code, resetDoubt(world));
  return seen.kind === 'absent' ? doubted : note(doubted, code, outcome(doubted));
}

function restored(world: World, code: Code): World {
  const { restoredAtMs, nowMs, unconfirmedMs = Number.POSITIVE_INFINITY } = world;
  if (restoredAtMs === undefined) return world;
  if (nowMs >= restoredAtMs + WINDOW && restoredAtMs < unconfirmedMs) return world;
  const doubt: Doubt = {
    cause: 'restored',
    untilMs: restoredAtMs + UNDER_WAY,
    sinceMs: restoredAtMs + UNDER_WAY,
    place: 'asked',
    said: 'Temporal was restored',
  };
  return note(world, code, { kind: 'doubted', doubt });
}

function proofs(world: World, code: Code): Step[] {
  const { proof } = world.facts;
  const nowMs = Math.max(world.nowMs, Math.ceil(proof?.nextAtMs ?? 0), world.nowMs + 1);
  const later = passed({ ...world, nowMs });
  return readings(later, code).map(({ seen, event }) => {
    const reading = { askedAtMs: nowMs, answeredAtMs: nowMs, readAtMs: nowMs };
    return {
      event: `${nowMs - world.nowMs} later a reading shows ${event}`,
      world: answered(later, code, seen, () => ({
        kind: 'read',
        seen,
        reading,
        readIn: `${later.run}`,
        windowMs: WINDOW,
      })),
    };
  });
}

/** What was on its way for too long is no more. */
const passed = (world: World): World => ({
  ...world,
  sends: world.sends.map((sent) =>
    sent.state === 'on its way' && world.nowMs > sent.atMs ? { ...sent, state: 'dropped' } : sent,
  ),
});

/** The balance or a rule holds it back: it waits in the line of its account, asks, or is refused. */
function blockedSteps(world: World, permission: string, code: Code): Step[] {
  const blocked = (what: 'short' | 'rule', event: string, blocked: NonNullable<Facts['blocked']>): Step[] =>
    world.left[what] > 0 ? [{ event, world: note(spend(world, what), code, { kind: 'blocked', ...blocked }) }] : [];
  return [
    ...(permission === 'first'
      ? [
          ...blocked('short', 'it has to wait for funds', { by: 'short', why: 'short', waits: true }),
          ...blocked('short', 'the balance is short', { by: 'short', why: 'short', waits: false }),
        ]
      : []),
    ...blocked('rule', 'a rule asks for a person', { by: 'policy', why: 'policy' }),
    ...blocked('rule', 'a rule refuses it', { by: 'stale', why: 'stale' }),
  ];
}

function attempts(world: World, permission: string, code: Code): Step[] {
  const at = world.nowMs;
  const isReset = world.run !== world.firstRun;
  const permittedIn = permission === 'first' ? `${world.firstRun}` : world.facts.absence?.readIn;
  const probes = readings(world, code);
  const found = probes.filter(({ seen }) => seen.kind !== 'absent');
  const steps: Step[] = found.map(({ seen }) => ({
    event: 'the probe finds our order',
    world: answered(world, code, seen, () => ({ kind: 'seen', seen })),
  }));
  if (found.length === probes.length) return steps;
  if (permission === 'none') {
    const seen: Seen = { kind: 'absent' };
    const looked = answered(world, code, seen, () => ({ kind: 'seen', seen }));
    return [...steps, { event: 'an attempt only looks', world: looked }];
  }
  const told = restored({ ...world, answeredIn: world.run }, code);
  if (told.facts !== world.facts) return [...steps, { event: 'it is too soon after a restore', world: told }];
  if (isReset && permittedIn !== `${world.run}`) {
    return [...steps, { event: 'the gate finds that the run was reset', world: note(told, code, resetDoubt(world)) }];
  }
  steps.push(...blockedSteps(told, permission, code));
  // Asked last, right before the send. What is written then is on its way, as of a worker that stands still.
  if (world.stopped) {
    const outcome: Outcome = { kind: 'stopped', why: 'stopped' };
    return [...steps, { event: 'the gate finds that the account is stopped', world: note(told, code, outcome) }];
  }
  if (world.left.rounds > 0) {
    const rounds = spend(told, 'rounds');
    const budget = { ...rounds.facts.budget, notSent: MAX_ROUNDS.notSent - 1 };
    const unsent: Outcome = { kind: 'notSent', why: 'no connection', waitMs: 1, isLimited: false };
    const facts = { ...rounds.facts, budget };
    steps.push({ event: 'nothing is sent, for the 50th time', world: note({ ...rounds, facts }, code, unsent) });
  }
  if (world.left.send === 0) return steps;
  const sending = {
    ...without(spend(told, 'send'), 'wasLaterShown'),
    before: { facts: world.facts, answeredIn: world.answeredIn },
    witness: world.witness,
  };
  const sent = (state: Sent['state'], atMs: number, hidden?: 'otherForm' | 'elsewhere'): readonly Sent[] => [
    ...world.sends,
    { state, atMs, ...(hidden && { [hidden]: true }) },
  ];
  const doubted = (untilMs: number, place: Doubt['place'] = 'asked'): Outcome => ({
    kind: 'doubted',
    doubt: { cause: 'uncertainCreate', untilMs, place, said: 'no clear answer' },
    costs: { isLimited: false },
  });
  const permitted: Outcome[] = permission === 'absent' ? [{ kind: 'permitted', readIn: `${world.run}` }] : [];
  const come = (event: string, sends: readonly Sent[], ...outcomes: Outcome[]): Step => ({
    event,
    world: note({ ...sending, sends }, code, ...permitted, ...outcomes),
  });
  const timedOut = at + UNDER_WAY;
  steps.push(
    come('a create is accepted', sent('executed', at), { kind: 'seen', seen: { ...OURS, how: 'accepted' } as Seen }),
    come('a create is executed and answered with 5xx', sent('executed', at), doubted(at)),
    come('a create is not executed and answered with 5xx', sent('dropped', at), doubted(at)),
    come('the worker dies, the create is on its way', sent('on its way', timedOut), doubted(timedOut)),
  );
  const lost: Outcome = { kind: 'notSent', why: 'the worker was lost', waitMs: 1, isLimited: false };
  const died = come('the worker dies before it sends', world.sends, lost);
  steps.push({ ...died, world: { ...died.world, unconfirmedMs: at } });
  if (world.left.restore > 0) {
    const forgot = come('the worker dies after it sent, which a failover forgets', sent('on its way', timedOut), lost);
    steps.push({ ...forgot, world: { ...spend(forgot.world, 'restore'), unconfirmedMs: at, restoredAtMs: at } });
  }
  // A deposit moves none of our money: its short window allows for no late ones.
  if (world.isPayout) {
    steps.push(come('a create is answered with 5xx and on its way', sent('on its way', at + LATE), doubted(at)));
  }
  if (world.left.refuse > 0) {
    const refused: Outcome = { kind: 'refused', answer: 'HTTP 400', atMs: at, place: 'asked' };
    for (const step of [
      come('a create is refused', sent('dropped', at), refused),
      come('a create is executed and answered with 400', sent('executed', at), refused),
    ])
      steps.push({ ...step, world: { ...step.world, isRefused: true } });
  }
  if (world.left.lose > 0) {
    const lost = come('a create is executed at an account that nobody knows', sent('executed', at, 'elsewhere'));
    steps.push({ ...lost, world: note(spend(lost.world, 'lose'), code, doubted(at, 'unknown')) });
  }
  // Temporal says of a create that an operator paused while it was sent that no worker had it.
  if (world.left.lose > 0 && world.left.hold > 0 && mayHold(world)) {
    const back = come('a hold takes back a create that was sent', sent('executed', at));
    const held = spend(spend(hold(back.world, code), 'lose'), 'hold');
    steps.push({ ...back, world: note(held, code, { kind: 'takenBack' }) });
  }
  if (world.left.form > 0) {
    const otherForm = sent('executed', at, 'otherForm');
    steps.push(come('a create is kept under another form of its id, answered with 5xx', otherForm, doubted(at)));
    steps.push(come('… and answered with it', otherForm, doubted(at), { kind: 'seen', seen: NAMED }));
  }
  return steps;
}

type Asked = Extract<Action, { do: 'ask' }>['about'];

/** True if the order is sent again by itself once a later one is shown. */
export const waitsForLater = (action: Action): boolean =>
  action.do === 'ask' && action.about.kind === 'uncertain' && action.about.waitsFor !== undefined;

/** What an operator may decide, who tells the truth about what the service said, and what comes by itself. */
function asked(world: World, about: Asked, code: Code): Step[] {
  const waiting = passed({ ...world, nowMs: world.nowMs + 1 });
  const waits = about.kind === 'hidden' || waitsForLater({ do: 'ask', about });
  return [
    ...(waits ? shownLater(waiting, about, code) : []),
    ...(world.left.decision > 0 ? decisions(asking(waiting), about, code) : []),
  ];
}

/** A run may be reset to before a decision, too. */
const asking = (world: World): World => {
  const { facts, answeredIn } = world;
  return world.left.reset > 0 ? { ...world, before: { facts, answeredIn } } : world;
};

function shownLater(world: World, { kind }: Asked, code: Code): Step[] {
  return readings(world, code).flatMap(({ seen }): Step[] => {
    if (seen.kind === 'absent' && !seen.control?.[kind === 'hidden' ? 'whole' : 'later']) return [];
    const control = (seen.kind === 'absent' && seen.control) || { whole: true };
    const outcome: Outcome = seen.kind === 'absent' ? { kind: 'later', control } : { kind: 'seen', seen };
    return [{ event: 'the service shows what is awaited', world: answered(world, code, seen, () => outcome) }];
  });
}

/** True if the page offers a send now, by the product's own rules. */
const offersSend = ({ facts, late }: World): boolean =>
  decisionsOf(
    {
      ...{ facts, revision: 1, parked: { offers: [], candidates: [] } },
      attention: { code: 'uncertain-create', reason: '', since: '', allowed: ['resend', 'close-absent'] },
      input: late === 'over' ? { latestSend: '2026-01-31T12:00:00Z' } : {},
    },
    '',
  ).some(({ decision }) => decision.action === 'resend');

export const SENT_AGAIN = 'an operator has it sent again';

function decisions(world: World, about: Asked, code: Code): Step[] {
  const decided = spend(world, 'decision');
  const adopted: Step = { event: 'an operator adopts the order', world: { ...decided, ended: 'taken' } };
  const steps = executed(world) > 0 ? [adopted] : [];
  if (about.kind === 'conflict' && about.conflict.ours.length > 0) return steps;
  const closing: Outcome = { kind: 'closing', by: 'ann', atMs: world.nowMs };
  const closed: Step = { event: 'an operator closes it as absent', world: note(decided, code, closing) };
  if (about.kind === 'short' || about.kind === 'policy' || about.kind === 'held') {
    const refused: Outcome = { ...closing, refused: about.kind };
    const sent = (from: World): Step[] => [
      { event: 'an operator lets it be sent', world: note(from, code, { kind: 'unblocked' }) },
    ];
    const released = note(without(decided, 'held'), code, {
      kind: 'released',
      untilMs: world.nowMs + UNDER_WAY,
      place: placeOf(world),
    });
    return [
      { event: 'an operator refuses it', world: note(decided, code, refused) },
      ...(about.kind === 'held' ? [{ event: 'an operator releases it', world: released }] : sent(decided)),
      ...(about.kind === 'held' ? [] : heldMeanwhile(decided, code, sent)),
      ...(about.kind === 'short'
        ? [{ event: 'an operator lets it wait for funds', world: note(decided, code, { kind: 'awaits' }) }]
        : []),
    ];
  }
  const isAsked = (about.kind === 'uncertain' || about.kind === 'notSent') && offersSend(world);
  const mayResend = isAsked && executed(world) === 0 && !isOpen(world);
  if (!mayResend) return [...steps, closed, ...refusedHere(decided, about, code)];
  const outcome: Outcome =
    about.kind === 'uncertain' ? { kind: 'permitted', readIn: `${world.run}` } : { kind: 'unblocked' };
  return [...steps, closed, { event: SENT_AGAIN, world: note(decided, code, outcome) }];
}

/** An operator, who looked at the account in use alone, has it sent again, and the service refuses it there. */
function refusedHere(world: World, about: Asked, code: Code): Step[] {
  if (about.kind !== 'uncertain' || world.left.refuse === 0 || placeOf(world) === 'asked') return [];
  const permitted: Outcome = { kind: 'permitted', readIn: `${world.run}` };
  const refused: Outcome = { kind: 'refused', answer: 'HTTP 400', atMs: world.nowMs, place: 'asked' };
  const event = 'an operator has it sent again at this account, which refuses it';
  return [{ event, world: note(spend(world, 'refuse'), code, permitted, refused) }];
}

/** The same for states that differ in the time of day alone. */
export function keyOf(world: World): string {
  const { nowMs, left, before } = world;
  const told = { ...world, nowMs: 0, before: left.reset > 0 ? before : undefined };
  return JSON.stringify(told, (key, value: unknown) => {
    if (typeof value === 'number' && key.endsWith('Ms')) return Math.max(value - nowMs, -WINDOW - 1);
    // Words decide nothing.
    return key === 'said' || key === 'reason' ? undefined : value;
  });
}

export type { Absence };
