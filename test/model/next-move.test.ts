import { describe, expect, test } from 'vitest';
import type { Pools } from '../../chaos/oracle/pools.js';
import type { CompensationPolicy } from '../../src/contract/order/input-and-result.js';
import type { MoveFacts, NextMove } from '../../src/workflows/compensation/next-move.js';
import { explore } from './explore.fixture.js';
import {
  asRead,
  CODE,
  type Code,
  type Disturbance,
  idOf,
  isOnlyByPerson,
  keyOf,
  type Left,
  moveOf,
  openWorld,
  type Story,
  stepsOf,
  storyOf,
  type World,
} from './remainder-world.fixture.js';

/** What an order left, by its row of the table of remainders. */
const LEFT: Record<string, Left> = {
  'a payout in part': {
    type: 'withdraw',
    pair: { currencyFrom: 'usd', currencyTo: 'usd', networkTo: 'card' },
    asked: { amount: '100' },
    plan: { outcome: 'completed_partially', unpaid: '0.4' },
    finish: 'withdraw',
    byDefault: 'ask',
  },
  'a payout in part whose client pays the commission': {
    type: 'withdraw',
    pair: { currencyFrom: 'usd', currencyTo: 'usd', networkTo: 'bank' },
    asked: { amount: '100' },
    plan: { outcome: 'completed_partially', unpaid: '0.4' },
    finish: 'withdraw',
    byDefault: 'ask',
  },
  'a payout that was not executed': {
    type: 'withdraw',
    pair: { currencyFrom: 'usd', currencyTo: 'usd', networkTo: 'card' },
    asked: { amount: '100' },
    plan: { outcome: 'error' },
    byDefault: 'report',
  },
  'an exchange in part': {
    type: 'exchange',
    pair: { currencyFrom: 'usd', currencyTo: 'usdt' },
    asked: { amount: '100' },
    plan: { outcome: 'completed_partially', unexchanged: '0.4' },
    finish: 'exchange',
    revert: 'exchange',
    byDefault: 'report',
  },
  'an exchange whose payout was in part': {
    type: 'exchange_withdraw',
    pair: { currencyFrom: 'usd', currencyTo: 'usdt', networkTo: 'tron' },
    asked: { amount: '100' },
    plan: { outcome: 'completed_partially', unpaid: '0.4' },
    finish: 'withdraw',
    revert: 'exchange',
    byDefault: 'ask',
  },
  'an exchange with payout, in part': {
    type: 'exchange_withdraw',
    pair: { currencyFrom: 'usd', currencyTo: 'usdt', networkTo: 'tron' },
    asked: { amount: '100' },
    plan: { outcome: 'completed_partially', unexchanged: '0.4' },
    finish: 'exchange_withdraw',
    byDefault: 'ask',
  },
  'an exact payout, exchanged in part': {
    type: 'exchange_withdraw',
    pair: { currencyFrom: 'usd', currencyTo: 'usdt', networkTo: 'tron' },
    asked: { amountTo: '90' },
    plan: { outcome: 'completed_partially', unexchanged: '0.4' },
    byDefault: 'ask',
  },
  'two remainders': {
    type: 'exchange_withdraw',
    pair: { currencyFrom: 'usd', currencyTo: 'usdt', networkTo: 'tron' },
    asked: { amount: '100' },
    plan: { outcome: 'completed_partially', unexchanged: '0.4', unpaid: '0.4' },
    byDefault: 'ask',
  },
  'a deposit that was exchanged in part': {
    type: 'deposit_exchange',
    pair: { currencyFrom: 'usdt', networkFrom: 'tron', currencyTo: 'usd' },
    asked: { amount: '100' },
    plan: { outcome: 'completed_partially', unexchanged: '0.4' },
    finish: 'exchange',
    revert: 'exchange',
    byDefault: 'report',
  },
  'a deposit that was paid out in part': {
    type: 'deposit_exchange_withdraw',
    pair: { currencyFrom: 'usdt', networkFrom: 'tron', currencyTo: 'usd', networkTo: 'card' },
    asked: { amount: '100' },
    plan: { outcome: 'completed_partially', unpaid: '0.4' },
    finish: 'withdraw',
    byDefault: 'ask',
  },
  'a deposit that was neither exchanged nor paid out in full': {
    type: 'deposit_exchange_withdraw',
    pair: { currencyFrom: 'usdt', networkFrom: 'tron', currencyTo: 'usd', networkTo: 'card' },
    asked: { amount: '100' },
    plan: { outcome: 'completed_partially', unexchanged: '0.4' },
    finish: 'exchange_withdraw',
    revert: 'withdraw',
    byDefault: 'ask',
  },
};

const NONE: Record<Disturbance, number> = {
  ...{ decision: 0, lie: 0, late: 0, hide: 0, old: 0, short: 0, payer: 0, reset: 0, restart: 0, forget: 0 },
  ...{ cancel: 0, hold: 0, callback: 0, lose: 0 },
};

type Sending = Extract<NextMove, { do: 'follow up' }>;

/** What the run starts in this step; undefined for one that exists, which it takes up. */
function startedBy(world: World, before: World): Sending | undefined {
  const { following } = world;
  const isNew = following && world.started.length > before.started.length;
  return isNew && !before.at.some(({ id }) => id === idOf(following)) ? following : undefined;
}

const isByPolicy = ({ choice }: Sending): boolean => choice.decided === undefined;

/** A commission was withheld: who pays it decides what is left. */
const isCharged = ({ ended: { c } }: Story): boolean =>
  c.changes.length > 0 && [c.order.amount_from_fee, c.order.amount_to_fee].some((fee) => Number(fee) > 0);

/** Invariants of what is started; each says in words what is wrong. */
const OF_STARTS: readonly ((move: Sending, world: World) => string | undefined)[] = [
  (_, { learnt }) =>
    learnt?.before && asRead(learnt.before) === asRead(learnt.assessment)
      ? undefined
      : 'sent without two equal readings',
  (move, world) => (isByPolicy(move) && isOnlyByPerson(world) ? 'sent by policy though only a person may' : undefined),
  (move, { isCancelled, isKnowing }) =>
    isCancelled && (isByPolicy(move) || !isKnowing) ? 'sent by a choice from before the cancellation' : undefined,
  (move, { story: { left, policy } }) =>
    isByPolicy(move) && move.followUp.type !== (policy === 'finish' || policy === 'revert' ? left[policy] : undefined)
      ? 'sent by a policy that does not allow it'
      : undefined,
  (move, { started }) => (isByPolicy(move) && started.length > 0 ? 'sent by policy for the second time' : undefined),
  (_, { payersDiffer, story }) =>
    payersDiffer && isCharged(story) ? 'sent while rates name another payer' : undefined,
  ({ followUp: { request } }, { learnt }) => {
    const known = [request.order_id, ...(learnt?.assessment.sent ?? []).map((one) => one.request.order_id)];
    const read = [learnt?.assessment, learnt?.before].flatMap((one) => one?.readings[0]?.followUpBases ?? []);
    return read.some(({ user_order_id }) => !known.includes(user_order_id))
      ? 'sent beside a follow-up that a lost run sent'
      : undefined;
  },
  (_, { learnt }) => (learnt?.check?.isOld ? 'sent by an old check' : undefined),
  (_, { learnt }) =>
    learnt?.assessment.sent.some(({ end }) => end.kind === 'unknown')
      ? 'sent though it is unknown what an earlier one moved'
      : undefined,
];

/** What an exchange brought to those who end with it is nothing left. */
const isSame = ({ type }: Left, told: Pools, { from, to }: Pools): boolean =>
  told.from.eq(from) && (!type.endsWith('withdraw') || told.to.eq(to));

/** Invariants of ends. */
const OF_ENDS: readonly ((world: World) => string | undefined)[] = [
  // A later run is a known gap, below.
  ({ ended, open, run }) =>
    ended && open.length > 0 && run === 0 ? 'ended while a follow-up may still be sent' : undefined,
  ({ ended, told, pools, isMisled }) =>
    ended && told && !isMisled && (told.from.gt(pools.from) || told.to.gt(pools.to))
      ? 'told more as left than is'
      : undefined,
  ({ ended, told, pools, isMisled, at, story: { left } }) =>
    ended && told && !isMisled && at.every(({ action }) => action === 'finish') && !isSame(left, told, pools)
      ? 'told less as left than is'
      : undefined,
  ({ ended, pools }) =>
    ended?.kind === 'nothing left' && (pools.from.gt(0) || pools.to.gt(0))
      ? 'ended though something is left'
      : undefined,
  ({ ended, story: { left, policy = left.byDefault } }) =>
    ended?.kind === 'reported' && policy !== 'report' && !(policy === 'revert' && !left.revert)
      ? 'ended by a report that nobody asked for'
      : undefined,
  ({ ended, at }) => (ended?.kind === 'not possible' && at.length > 0 ? 'not possible, after a follow-up' : undefined),
  ({ ended, learnt }) => {
    const read = learnt?.assessment;
    const isUnknown = read && read.doubts.length + read.sentDoubts.length + read.lost.length > 0;
    return isUnknown && (ended?.kind === 'followed up' || ended?.kind === 'not possible') && read.sent.length > 0
      ? 'ended by itself while what is left is unknown'
      : undefined;
  },
];

function wrong(world: World, before: World): string | undefined {
  if (world.broken) return world.broken;
  const move = startedBy(world, before);
  const rules = move ? OF_STARTS.map((invariant) => invariant(move, before)) : OF_ENDS.map((of) => of(world));
  return rules.find((words) => words);
}

/** Nothing more happens because of what is looked at, not because of the run. */
const isBound = (world: World): boolean =>
  world.ended !== undefined || (moveOf(world)?.do === 'ask' && world.left.decision === 0);

function exploreRemainder(name: string, story: Story, left: Partial<World['left']>, see = (_: World): void => {}) {
  const asked = new Set<string>();
  const explored = explore<World>(name, {
    starts: [{ event: 'it is final', world: openWorld(story, { ...NONE, ...left }) }],
    ...{ keyOf, stepsOf, wrong, isBound, most: 60_000 },
    see: (world) => {
      see(world);
      const move = moveOf(world);
      if (move?.do === 'ask') asked.add(move.why);
    },
  });
  return { ...explored, asked };
}

/** Policies that a row does not allow are asked about, as `ask` is, or reported. */
const policiesOf = ({ finish, revert }: Left): CompensationPolicy[] => [
  'report',
  'ask',
  ...(finish ? (['finish'] as const) : []),
  ...(revert ? (['revert'] as const) : []),
];

/** Combinations of disturbances. */
const COMBINATIONS: Record<string, Partial<World['left']>> = {
  'readings that differ': { lie: 2, late: 1, callback: 1, decision: 1 },
  'checks that come late, fail or name another payer': { old: 1, short: 1, payer: 1, decision: 1 },
  'a cancellation and a hold': { cancel: 1, hold: 1, decision: 1 },
  'decision after decision': { decision: 2 },
  'a restore': { forget: 1, hide: 1, cancel: 1, decision: 1 },
};

/**
 * The same with a later run, which may tell more as left than is: a follow-up of the run before it, hidden or not sent yet, counts
 * nowhere. Whether the product does so, too, is open (docs/plan.md); a walk that passes here has to move up.
 */
const WITH_A_LATER_RUN: Record<string, Partial<World['left']>> = {
  'a reset': { reset: 1, hide: 1, hold: 1, decision: 1 },
  'a start again': { restart: 1, hide: 1, lose: 1, decision: 1 },
};

describe('of every state of a remainder that can be reached', () => {
  const walk = (name: string, left: Partial<World['left']>): string[] => {
    const found: string[] = [];
    for (const [title, of] of Object.entries(LEFT)) {
      for (const policy of policiesOf(of)) {
        const explored = exploreRemainder(`${name}: ${title}, ${policy}`, storyOf(of, policy, CODE), left);
        found.push(...(explored.broken ? [`${title}, ${policy}: ${explored.broken.rule}`] : []));
      }
    }
    return found;
  };
  test.each(Object.entries(COMBINATIONS))('every one keeps every invariant: %s', { timeout: 600_000 }, (name, left) => {
    expect(walk(name, left)).toEqual([]);
  });
  test.each(Object.entries(WITH_A_LATER_RUN))('all but one keep it: %s', { timeout: 600_000 }, (name, left) => {
    const rules = walk(name, left).map((words) => words.replace(/^.*: /, ''));
    expect([...new Set(rules)]).toEqual(['told more as left than is']);
  });
});

test.each(['finish', 'revert'] as const)(
  'nobody is asked where the policy %s is allowed and all goes well',
  (policy) => {
    for (const left of Object.values(LEFT).filter((one) => one[policy])) {
      const { asked, broken } = exploreRemainder(`${policy}, undisturbed`, storyOf(left, policy, CODE), {});
      expect(broken).toBeUndefined();
      expect([...asked].filter((why) => !why.startsWith('the follow-up made.r1 '))).toEqual([]);
    }
  },
);

const hearing = (change: (facts: MoveFacts) => MoveFacts): Code => ({
  nextMove: (facts) => CODE.nextMove(change(facts)),
});

describe('a mistake that is planted is found', () => {
  test.each<[string, Partial<World['left']>, Code]>([
    ['a hold is not heard', { hold: 1 }, hearing((facts) => ({ ...facts, onlyByPerson: undefined }))],
    ['a cancellation is not heard', { cancel: 1 }, hearing((facts) => ({ ...facts, cancelled: false }))],
    [
      'an old check counts',
      { old: 1 },
      hearing(({ check, ...facts }) => ({ ...facts, ...(check && { check: { ...check, isOld: false } }) })),
    ],
  ])('%s', (name, left, code) => {
    const story = storyOf(LEFT['a payout in part'] as Left, 'finish', code);
    expect(exploreRemainder(name, story, left).broken).toBeDefined();
  });
});
