import type Big from 'big.js';
import { afterWorked, type Pools, poolsLeft } from '../../chaos/oracle/pools.js';
import type { Plan } from '../../sandbox/plan.js';
import { findTerms } from '../../sandbox/rates.js';
import { decimal, toAmount } from '../../src/contract/money.js';
import type { FollowUpCheck, OutcomeReading, Payers } from '../../src/contract/order/activities.js';
import { type Basis, basisOf } from '../../src/contract/order/basis.js';
import type { CompensationPolicy } from '../../src/contract/order/input-and-result.js';
import { type OrderType, orderSides } from '../../src/contract/order/types.js';
import type { Order } from '../../src/contract/service-objects.js';
import { type Assessment, assessed, type Sent } from '../../src/workflows/compensation/assess.js';
import type { Case } from '../../src/workflows/compensation/figures.js';
import type { FollowUp } from '../../src/workflows/compensation/moves.js';
import {
  type Ending,
  type MoveFacts,
  type NextMove,
  nextMove,
  remainderDoubts,
} from '../../src/workflows/compensation/next-move.js';
import { describeOffer, type Offer } from '../../src/workflows/compensation/offers.js';
import type { FollowUpEnd } from '../../src/workflows/compensation/send-follow-up.js';
import { openFacts } from '../../src/workflows/create/facts.js';
import { workedCase } from '../workflows/compensation/cases.fixture.js';
import type { Step as Happened } from './explore.fixture.js';

/*
 * A final order that left something, its follow-ups, the service and Temporal. The sandbox's rules and the ledger of the chaos
 * runs say what money truly moved; the real `assessed` and `nextMove` decide. What the executor does between them stands here.
 */

type Step = Happened<World>;

/** A final order and what a policy may do about it, as the table of remainders says it. */
export interface Left {
  type: OrderType;
  pair: { currencyFrom: string; networkFrom?: string; currencyTo: string; networkTo?: string };
  asked: { amount: string } | { amountTo: string };
  plan: Partial<Plan>;
  /** The follow-up that the policy sends by itself. */
  finish?: OrderType;
  revert?: OrderType;
  byDefault: 'report' | 'ask';
}

export type Disturbance =
  | 'decision'
  | 'lie'
  | 'late'
  | 'hide'
  | 'old'
  | 'short'
  | 'payer'
  | 'reset'
  | 'restart'
  | 'forget'
  | 'cancel'
  | 'hold'
  | 'callback'
  | 'lose';

/** What is checked; a mistake is planted in the place of it. */
export interface Code {
  nextMove: typeof nextMove;
}

export const CODE: Code = { nextMove };

const WHOLE: Plan = {
  outcome: 'completed',
  stage: 'clean',
  unexchanged: '0',
  unpaid: '0',
  paid: '1',
  rateFactor: '1',
};
const REVERT_TO = { network: 'tron', wallet: 'refund' };

/** One order, as it stays the same in all its worlds. */
export interface Story {
  left: Left;
  policy?: CompensationPolicy;
  code: Code;
  /** As it ended, and as it is once something more of it was paid. */
  ended: Worked;
  later: Worked;
}

type Worked = ReturnType<typeof workedCase>;

function work(type: OrderType, pair: Left['pair'], asked: Left['asked'], plan: Partial<Plan>, id: string): Worked {
  const terms = findTerms(type, { networkFrom: null, networkTo: null, ...pair } as Parameters<typeof findTerms>[1]);
  if (!terms) throw new Error(`no pair for ${type}`);
  const { c, truth } = workedCase(terms, asked, { ...WHOLE, ...plan });
  return { c: { ...c, order: { ...c.order, order_uuid: `uuid of ${id}`, user_order_id: id } }, truth };
}

export function storyOf(left: Left, policy: CompensationPolicy | undefined, code: Code): Story {
  const { type, pair, asked, plan } = left;
  const less = (share = '0') => toAmount(decimal(share).times('0.5'));
  const later = { ...plan, unexchanged: less(plan.unexchanged), unpaid: less(plan.unpaid) };
  return {
    left,
    policy,
    code,
    ended: work(type, pair, asked, plan, 'made'),
    later: work(type, pair, asked, later, 'made'),
  };
}

/** A follow-up that exists at the service. */
interface AtService {
  id: string;
  followUp: FollowUp;
  worked: Worked;
  fate: string;
  action: Offer['move']['action'];
}

type Learnt = Omit<MoveFacts, 'cancelled' | 'onlyByPerson' | 'revertTo' | 'laterPayers'>;
type Sending = Extract<NextMove, { do: 'follow up' }>;

export interface World {
  story: Story;
  /** What truly is left. */
  pools: Pools;
  isLate?: true;
  at: readonly AtService[];
  /** Follow-ups whose runs have not sent yet. */
  open: readonly Sending[];
  /** Ids of follow-ups whose runs Temporal knows. */
  started: readonly string[];
  learnt?: Learnt;
  /** The run waits for this follow-up. */
  following?: Sending;
  /** This run has started it. */
  isOwn?: true;
  /** What the run was before it started its last follow-up, to which it may be reset. */
  before?: Pick<World, 'learnt' | 'answeredIn'>;
  run: number;
  answeredIn: number;
  /** Started again: the order was not created by this run. */
  isAgain?: true;
  isHeld?: true;
  isCancelled?: true;
  /** The last decision was made by somebody who knew of the cancellation, where there was one. */
  isKnowing?: true;
  /** Rates name another payer now. */
  payersDiffer?: true;
  /** The last reading did not show what is. */
  isMisled?: true;
  left: Readonly<Record<Disturbance, number>>;
  ended?: Ending;
  /** What is left, as told at the end; undefined: unknown. */
  told?: Pools;
  broken?: string;
}

export const openWorld = (story: Story, left: World['left']): World => ({
  story,
  pools: poolsLeft(asWorked(story.ended)),
  ...{ at: [], open: [], started: [] },
  ...{ run: 0, answeredIn: 0 },
  left,
});

const asWorked = ({ c, truth }: Worked) => ({ order: c.order, truth });
export const idOf = ({ followUp }: Sending): string => followUp.request.order_id;
const spend = (world: World, what: Disturbance): World => ({
  ...world,
  left: { ...world.left, [what]: world.left[what] - 1 },
});

/** Nothing is paid by itself in this run, by what truly happened. */
export const isOnlyByPerson = ({ isHeld, isAgain, run, answeredIn }: World): boolean =>
  isHeld === true || isAgain === true || (run > 0 && answeredIn > 0);

const payersOf = ({ story, payersDiffer }: World): Payers | undefined => {
  const turned = (payer: string | null) => payer && (payer === 'client' ? 'merchant' : 'client');
  const { payers } = story.ended.c;
  return payers && payersDiffer ? { from: turned(payers.from), to: turned(payers.to) } : payers;
};

const revertToOf = ({ story }: World) => (story.left.type.startsWith('deposit_') ? REVERT_TO : undefined);

/** What the run knows. */
export function factsOf(world: World): MoveFacts | undefined {
  const revertTo = revertToOf(world);
  if (!world.learnt) return undefined;
  return {
    ...world.learnt,
    cancelled: world.isCancelled === true,
    ...(isOnlyByPerson(world) && { onlyByPerson: 'held, or another run' }),
    ...(revertTo && { revertTo }),
    laterPayers: payersOf(world),
  };
}

export function moveOf(world: World): NextMove | undefined {
  const facts = world.ended || world.following ? undefined : factsOf(world);
  return facts && world.story.code.nextMove(facts);
}

/** Different in a state's key. */
const LABELS = new WeakMap<OutcomeReading, string>();

const truth = ({ story, isLate }: World): Worked => (isLate ? story.later : story.ended);

/** Two readings of the same are equal in all that money depends on, written here without the product's list of fields. */
export const asRead = ({ readings }: Assessment): string =>
  JSON.stringify(readings.map(({ order, changes }) => [order, changes]));

type View = readonly [event: string, costs: readonly Disturbance[], worked: (world: World) => Worked, said?: string];

const VIEWS: readonly View[] = [
  ['what is', [], truth],
  ['a balance change of another time', ['lie'], (world) => changed(truth(world), retimed)],
  ['a unit more on the balance', ['lie'], (world) => changed(truth(world), (c) => aUnitMore(c))],
  ['what was before', ['lie'], ({ story }) => story.ended],
  ['a status that differs from the list', ['lie'], truth, 'status and list differ'],
];

const changed = ({ c, truth }: Worked, change: (c: Case) => Case['changes']): Worked => ({
  c: { ...c, changes: change(c) },
  truth,
});
const retimed = ({ changes }: Case): Case['changes'] =>
  changes.map((one) => ({ ...one, created_at: '2026-01-02 03:04:06' }));

function aUnitMore({ order, changes }: Case): Case['changes'] {
  const unit = decimal('10').pow(-order.currency_to_precision);
  return changes.map((one) => {
    if (one.currency !== order.currency_to || decimal(one.amount_change).lte(0)) return one;
    const more = (amount: string) => toAmount(decimal(amount).plus(unit));
    return { ...one, amount_change: more(one.amount_change), amount_after: more(one.amount_after) };
  });
}

const basisFor = ({ id, worked: { c } }: AtService): Basis => ({ ...basisOf(c as never), user_order_id: id });

/** Every assessment that may come of readings now, of the order and of these follow-ups. */
function readings(
  world: World,
  sent: Sent[],
  before?: Assessment,
): { event: string; world: World; read: Assessment }[] {
  const known = sent.flatMap(({ request, end }) => (end.kind === 'none' ? [] : [request.order_id]));
  const lost = world.at.filter(({ id }) => !known.includes(id));
  const views = VIEWS.filter(
    ([, costs], n) => costs.every((what) => world.left[what] > 0) && (n !== 3 || world.isLate),
  );
  const hides = lost.length > 0 && world.left.hide > 0 ? lost.map(({ id }) => id) : [];
  return views.flatMap(([event, costs, shown, said]) =>
    [undefined, ...hides].map((hidden) => {
      const { c } = shown(world);
      const bases = lost.filter(({ id }) => id !== hidden).map(basisFor);
      const reading: OutcomeReading = {
        order: c.order,
        changes: [...c.changes],
        disagreements: said ? [said] : [],
        runId: `${world.run}`,
        ...(bases.length > 0 && { followUpBases: bases }),
      };
      const label = `${event} ${world.isLate} ${world.run} ${bases.map(({ user_order_id }) => user_order_id)}`;
      LABELS.set(reading, label);
      const spent = [...costs, ...(hidden ? (['hide'] as const) : [])].reduce(spend, world);
      const { isMisled: _, ...rest } = spent;
      const after: World = { ...rest, answeredIn: world.run, ...((hidden || costs.length > 0) && { isMisled: true }) };
      return {
        event: `${event}${hidden ? ` without ${hidden}` : ''}`,
        world: after,
        read: assess(after, reading, sent, before),
      };
    }),
  );
}

function assess(world: World, reading: OutcomeReading, sent: Sent[], before?: Assessment): Assessment {
  const { type, request, order, payers } = world.story.ended.c;
  const revertTo = revertToOf(world);
  const later = payersOf(world);
  const run = {
    type,
    request,
    input: { order: request, compensation: world.story.policy, ...(revertTo && { revertTo }) },
    finalOrder: order,
    facts: openFacts(undefined, true),
    ...(payers && later && { payers: { first: payers, later } }),
  } as unknown as Parameters<typeof assessed>[0];
  const followed = sent.flatMap((one) => {
    const is = world.at.find(({ id }) => id === one.request.order_id);
    return one.end.kind === 'final' && is ? [{ one, reading: readingOf(is) }] : [];
  });
  return assessed(run, reading, followed, sent, before);
}

function readingOf({ worked: { c }, fate, id }: AtService): OutcomeReading {
  const reading = { order: c.order, changes: [...c.changes], disagreements: [] };
  LABELS.set(reading, `${id} ${fate}`);
  return reading;
}

/** What happens next: events of the world outside, and what the run's next move may come to. */
export function stepsOf(world: World): Step[] {
  if (world.ended || world.broken) return [];
  return [...disturbances(world), ...sends(world), ...progress(world)];
}

type Happening = readonly [what: Disturbance, event: string, isPossible: boolean, world: (spent: World) => World];

function disturbances(world: World): Step[] {
  const { at, open, following, isLate, left } = world;
  const forgotten = ({ learnt: _, following: __, before: ___, isCancelled: ____, isKnowing: _____, ...rest }: World) =>
    rest;
  const happenings: Happening[] = [
    [
      'late',
      'something more of the order is paid',
      !isLate && at.length === 0,
      (spent) => ({ ...spent, isLate: true, isMisled: true, pools: poolsLeft(asWorked(spent.story.later)) }),
    ],
    ['cancel', 'it is cancelled', !world.isCancelled, cancel],
    ['hold', 'a person holds it', !world.isHeld, (spent) => ({ ...spent, isHeld: true })],
    ['payer', 'rates name another payer', !world.payersDiffer, (spent) => ({ ...spent, payersDiffer: true })],
    [
      'reset',
      'the run is reset to before its last follow-up',
      world.before !== undefined,
      (spent) => {
        return { ...without(spent, 'following', 'isOwn'), ...world.before, run: world.run + 1 };
      },
    ],
    [
      'restart',
      'the run is terminated and started again',
      world.learnt !== undefined,
      (spent) => ({ ...forgotten(spent), run: world.run + 1, isAgain: true }),
    ],
    [
      'forget',
      'Temporal is restored from before the follow-ups',
      at.length > 0 && open.length === 0 && !following,
      (spent) => ({ ...forgotten(spent), started: [], run: world.run + 1, isAgain: true }),
    ],
  ];
  return happenings.flatMap(([what, event, isPossible, change]) =>
    isPossible && left[what] > 0 ? [{ event, world: change(spend(world, what)) }] : [],
  );
}

/** The run cancels the follow-up that it waits for, unless somebody decided on it since. */
function cancel(world: World): World {
  const { following } = world;
  const stops = following && !following.exists;
  return {
    ...world,
    isCancelled: true,
    ...(stops && { open: world.open.filter((one) => idOf(one) !== idOf(following)) }),
  };
}

const FATES: readonly (readonly [string, Partial<Plan>])[] = [
  ['completes', {}],
  ['pays in part', { outcome: 'completed_partially', unexchanged: '0', unpaid: '0.5' }],
  ['exchanges in part', { outcome: 'completed_partially', unexchanged: '0.5', unpaid: '0' }],
  ['ends in error', { outcome: 'error' }],
];

const fatesOf = (type: OrderType) =>
  FATES.filter(
    ([, { unexchanged, unpaid }]) =>
      (unpaid !== '0.5' || type.includes('withdraw')) && (unexchanged !== '0.5' || type.includes('exchange')),
  );

/** Follow-ups whose runs are under way send, or end without an order. */
function sends(world: World): Step[] {
  return world.open.flatMap((one): Step[] => {
    const id = idOf(one);
    // Its run finds it.
    if (world.at.some((other) => other.id === id)) return [];
    const closed: World = { ...world, open: world.open.filter((other) => other !== one) };
    const none = { event: `${id} ends without an order`, world: closed };
    return mayBeSent(world, one)
      ? [none, ...fatesOf(one.followUp.type).map(([fate, plan]) => execute(closed, one, fate, plan))]
      : [none];
  });
}

/** The gate right before the send: nothing that the follow-up was made for has changed. It may be shown what is not. */
function mayBeSent(world: World, { followUp, basis }: Sending): boolean {
  const id = followUp.request.order_id;
  if (basis.some(({ user_order_id }) => user_order_id === id) || world.at.some((one) => one.id === id)) return false;
  const shown = [basisOf(truth(world).c as never), ...world.at.map(basisFor)];
  return shown.every((now) => basis.some((was) => JSON.stringify(was) === JSON.stringify(now)));
}

function execute(world: World, sending: Sending, fate: string, plan: Partial<Plan>): Step {
  const { type, request } = sending.followUp;
  const { currencyFrom, networkFrom, currencyTo, networkTo } = orderSides(type, request);
  const pair = { currencyFrom, networkFrom, currencyTo, networkTo } as Left['pair'];
  const id = request.order_id;
  const worked = work(type, pair, { amount: request.amount ?? '0' }, plan, id);
  const at = [...world.at, { id, followUp: sending.followUp, worked, fate, action: sending.choice.offer.move.action }];
  const event = `${id} (${type} of ${request.amount}) ${fate}`;
  try {
    return { event, world: { ...world, at, pools: afterWorked(truth(world).c.order, world.pools, asWorked(worked)) } };
  } catch (error) {
    return { event, world: { ...world, at, broken: (error as Error).message } };
  }
}

const without = (world: World, ...keys: ('following' | 'isOwn' | 'isKnowing')[]): World =>
  Object.fromEntries(Object.entries(world).filter(([key]) => !keys.includes(key as never))) as unknown as World;

/** What the run does, in every way that it may come out. */
function progress(world: World): Step[] {
  const { learnt, following } = world;
  if (following) return follow(world, following);
  if (!learnt) {
    return readings(world, []).map(({ event, world: after, read }) => ({
      event: `it reads ${event}`,
      world: { ...after, learnt: { assessment: read } },
    }));
  }
  const move = moveOf(world) as NextMove;
  const { assessment } = learnt;
  switch (move.do) {
    case 'end':
      return [{ event: `it ends: ${move.as.kind}`, world: ending(world, move.as, assessment) }];
    case 'read again':
      return readings(world, assessment.sent, assessment).map(({ event, world: after, read }) => ({
        event: `it reads again ${event}`,
        world: { ...after, learnt: { assessment: read, before: assessment, choice: move.choice } },
      }));
    case 'check':
      return checks(world, learnt);
    case 'follow up':
      return [start(world, move)];
    case 'read after it':
      return readings(world, [...assessment.sent, move.ended], assessment).map(({ event, world: after, read }) => ({
        event: `after it, it reads ${event}`,
        world: { ...after, learnt: { assessment: read, ended: move.ended } },
      }));
    case 'ask':
      return asked(world, learnt, move);
  }
}

function checks(world: World, learnt: Learnt): Step[] {
  const { left, story } = world;
  const orderPayers = payersOf(world);
  const ofAnother = learnt.assessment.readings.some(({ runId }) => runId !== undefined && runId !== `${world.run}`);
  const come = (event: string, after: World, check: FollowUpCheck, isOld = ofAnother): Step => ({
    event,
    world: { ...after, learnt: { ...learnt, check: { ...check, isOld } } },
  });
  const ok: FollowUpCheck = { kind: 'ok', ...(orderPayers && { orderPayers }) };
  const short = left.short > 0 ? spend(world, 'short') : undefined;
  return [
    come('limits and balance allow it', world, ok),
    ...(left.old > 0 ? [come('… after a long time', spend(world, 'old'), ok, true)] : []),
    ...(left.payer > 0 && story.ended.c.payers
      ? [come('rates lack its pair', spend(world, 'payer'), { kind: 'ok' })]
      : []),
    ...(short
      ? [
          come('the balance is short', short, { ...ok, kind: 'refused', reason: 'short' }),
          come('it is below the minimum', short, { ...ok, kind: 'belowMinimum', reason: 'below' }),
        ]
      : []),
  ];
}

/** Starts the follow-up's run, unless it exists at the service or at Temporal. */
function start(world: World, move: Sending): Step {
  const id = idOf(move);
  const { learnt, answeredIn, started } = world;
  const isNew = !move.exists && !started.includes(id);
  const following: World = {
    ...world,
    following: move,
    ...(isNew && { isOwn: true }),
    ...(world.left.reset > 0 && { before: { learnt, answeredIn } }),
    ...(isNew && { open: [...world.open, move], started: [...started, id] }),
  };
  return { event: `${isNew ? 'it starts' : 'it follows'} ${id}`, world: following };
}

/** The follow-up has ended, or nobody waits for it any more. */
function follow(world: World, move: Sending): Step[] {
  const id = idOf(move);
  const ended = (event: string, after: World, end: FollowUpEnd): Step => {
    const { followUp, choice, payers } = move;
    const last = { ...followUp, move: choice.offer.move, payers, end };
    const assessment = world.learnt?.assessment as Assessment;
    return { event, world: { ...without(after, 'following', 'isOwn'), learnt: { assessment, ended: last } } };
  };
  const is = world.at.find((one) => one.id === id);
  const isOpen = world.open.some((one) => idOf(one) === id);
  if (is) {
    const lost: FollowUpEnd = { kind: 'unknown', how: 'was stopped' };
    return [
      ended(
        `it learns that ${id} ${is.fate}`,
        { ...world, open: world.open.filter((one) => idOf(one) !== id) },
        endOf(is, move),
      ),
      ...(world.left.lose > 0 ? [ended(`the run of ${id} is terminated`, spend(world, 'lose'), lost)] : []),
    ];
  }
  if (isOpen) {
    const stopped: World = { ...world, open: world.open.filter((one) => idOf(one) !== id) };
    const unknown: FollowUpEnd = { kind: 'unknown', how: 'was stopped' };
    return world.left.lose > 0 ? [ended(`the run of ${id} is terminated`, spend(stopped, 'lose'), unknown)] : [];
  }
  // Nothing came of the run. One that this run has started says so; another is looked up until a person ends that.
  const accepted = { action: 'accept', by: 'ann', reason: '' } as never;
  return [
    ...(world.isOwn
      ? [ended(`it learns that ${id} came to no order`, world, { kind: 'none', how: 'came to no order' })]
      : []),
    ended(`a person waits no longer for ${id}`, world, { kind: 'unknown', how: 'not final', accepted }),
  ];
}

const sameOrder = (a: FollowUp, b: FollowUp): boolean => JSON.stringify(a) === JSON.stringify(b);

function endOf({ followUp, worked, fate }: AtService, move: Sending): FollowUpEnd {
  if (!sameOrder(followUp, move.followUp)) return { kind: 'unknown', how: 'was started before, as another payment' };
  const { order } = worked.c;
  return { kind: 'final', how: fate, outcome: order.status as never, order: order as Order };
}

function asked(world: World, { assessment: read }: Learnt, move: Extract<NextMove, { do: 'ask' }>): Step[] {
  const assessment = move.doubts ? { ...read, doubts: move.doubts, offers: [] } : read;
  const { left } = world;
  const told = left.callback > 0 ? readings(spend(world, 'callback'), read.sent, read) : [];
  const called = told
    .filter((one) => shownOf(one.read) !== shownOf(read))
    .map(({ event, world: after, read: other }) => ({
      event: `a callback comes, and it reads ${event}`,
      world: { ...after, learnt: { assessment: other, before: read } },
    }));
  if (left.decision === 0) return called;
  const decided: World = { ...without(spend(world, 'decision'), 'isKnowing'), isKnowing: true };
  const accepted = { action: 'accept', by: 'ann', reason: '' } as never;
  const accepts = readings(decided, read.sent, read).map(({ event, world: after, read: last }) => ({
    event: `a person leaves it, and it reads ${event}`,
    world: { ...after, learnt: { assessment: last, accepted } },
  }));
  const chosen = assessment.offers.map((offer): Step => {
    const choice = { offer, named: named(world, offer), decided: { afterCancel: world.isCancelled === true } };
    return {
      event: `a person chooses ${describeOffer(offer)}`,
      world: { ...decided, ...(!world.isCancelled && { isKnowing: undefined }), learnt: { assessment, choice } },
    };
  });
  return [...called, ...accepts, ...chosen];
}

const named = (world: World, { names }: Offer) =>
  names?.field === 'revertTo' ? { revertTo: revertToOf(world) ?? REVERT_TO } : {};

const shownOf = (read: Assessment): string =>
  JSON.stringify([remainderDoubts(read), read.funds, read.offers.map(describeOffer)]);

function ending(world: World, as: Ending, read: Assessment): World {
  const funds = as.kind === 'followed up' ? as.funds : read.funds;
  const isKnown = as.kind === 'followed up' || remainderDoubts(read).length === 0;
  const told = { from: funds.unexchanged.plus(funds.returned), to: funds.unpaid };
  return { ...world, ended: as, ...(isKnown && { told }) };
}

const written = (amount: Big): string => toAmount(amount);
const sentKey = ({ request, type, end }: Sent): string =>
  `${request.order_id} ${type} ${request.amount} ${end.kind} ${'accepted' in end && end.accepted !== undefined}`;
const readKey = (read: Assessment | undefined) =>
  read && [
    read.readings.map((one) => LABELS.get(one)),
    read.sent.map(sentKey),
    read.lost.map(({ user_order_id }) => user_order_id),
    read.doubts.length,
    read.offers.map(describeOffer),
  ];
const learntKey = (learnt: Learnt | undefined) =>
  learnt && [
    readKey(learnt.assessment),
    readKey(learnt.before),
    learnt.choice && [describeOffer(learnt.choice.offer), learnt.choice.decided],
    learnt.check && [learnt.check.kind, learnt.check.isOld, learnt.check.orderPayers !== undefined],
    learnt.ended && sentKey(learnt.ended),
    learnt.accepted !== undefined,
  ];
const sendingKey = (sending: Sending | undefined) =>
  sending && [sending.followUp.request, sending.exists, sending.basis.length, sending.choice.decided];

/** The same for states that differ in nothing that decides. */
export function keyOf(world: World): string {
  const { at, open, learnt, following, before, pools, left, ended, told, story: _, ...rest } = world;
  return JSON.stringify([
    rest,
    left,
    [written(pools.from), written(pools.to)],
    at.map(({ id, fate, followUp }) => [id, fate, followUp.type, followUp.request.amount]),
    open.map(sendingKey),
    sendingKey(following),
    learntKey(learnt),
    before && left.reset > 0 && [learntKey(before.learnt), before.answeredIn],
    ended?.kind,
    told,
  ]);
}
