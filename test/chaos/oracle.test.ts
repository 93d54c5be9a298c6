import { expect, test } from 'vitest';
import type { FollowedOrder } from '../../chaos/evidence/evidence.js';
import { ORACLE } from '../../chaos/oracle/index.js';
import { isClean, judge, verdictLines } from '../../chaos/report.js';
import { cleanEvidence, type Draft, servicePayout, truthfully } from './evidence.fixture.js';

/** Number of findings of every line that has any. */
const counts = (evidence: Draft): Record<string, number> =>
  Object.fromEntries(
    ORACLE.map(({ name, find }) => [name, find(evidence).length] as const).filter(([, found]) => found > 0),
  );

const followedOf = (evidence: Draft, orderId: string): FollowedOrder => {
  const order = evidence.followed.get(orderId);
  if (!order) throw new Error(`no ${orderId}`);
  return order;
};

/** Replaces what our side says about an order. */
const say = (evidence: Draft, orderId: string, changes: Partial<FollowedOrder>): void =>
  void evidence.followed.set(orderId, { ...followedOf(evidence, orderId), ...changes });

/** Replaces fields of the order in a result. */
function sayAmounts(evidence: Draft, orderId: string, changes: object): void {
  const { result } = followedOf(evidence, orderId);
  if (result) say(evidence, orderId, { result: { ...result, order: { ...result.order, ...changes } } });
}

test('a run without fault has no finding on any line', () => {
  expect(counts(cleanEvidence())).toEqual({});
});

const FAULTS: [title: string, change: (evidence: Draft) => void, found: Record<string, number>][] = [
  [
    'an order executed three times is two doubles, both followed by nobody and off the verdicts by their money',
    (evidence) => {
      for (const uuid of ['second', 'third']) {
        const { order, ...rest } = servicePayout('a', '10', '10');
        evidence.service.push({ ...rest, order: { ...order, order_uuid: uuid } });
      }
      evidence.ledger = { start: { usd: '100' }, end: { usd: '50' } };
    },
    { doubles: 2, orphans: 2, 'money differences': 1 },
  ],
  ['an accepted order without a workflow is lost', (evidence) => void evidence.accepted.add('gone'), { lost: 1 }],
  [
    'a terminated workflow is lost, and its money is in no verdict',
    (evidence) => say(evidence, 'a', { end: 'terminated', result: undefined }),
    { lost: 1, 'money differences': 1 },
  ],
  [
    'an order at the service that no workflow follows is an orphan',
    (evidence) => {
      evidence.service.push({ ...servicePayout('stray', '1', '1'), balance_changes: [] });
    },
    { orphans: 1 },
  ],
  [
    'a rejected order that was executed is a false reject',
    (evidence) => say(evidence, 'a', { end: 'failed', result: undefined, failureType: 'OrderRejected' }),
    { 'false rejects': 1, 'money differences': 1 },
  ],
  [
    'a verdict of another status than the service has is a false final',
    (evidence) => {
      const { result } = followedOf(evidence, 'a');
      if (result) say(evidence, 'a', { result: { ...result, outcome: 'error' } });
    },
    { 'false finals': 1 },
  ],
  [
    'a verdict with another amount is a false final',
    (evidence) => sayAmounts(evidence, 'a', { amount_to: '10.01' }),
    { 'false finals': 1 },
  ],
  [
    'a remainder that is not what is really left is a false final',
    (evidence) => {
      const { result } = followedOf(evidence, 'b');
      if (result) {
        const remainder = [{ kind: 'unpaid', currency: 'usd', amount: '5.01' } as const];
        say(evidence, 'b', { result: { ...result, remainder } });
      }
    },
    { 'false finals': 1 },
  ],
  [
    'a remainder that a follow-up has paid is no remainder',
    (evidence) => {
      const { result } = followedOf(evidence, 'b');
      const compensation = { policy: 'finish', status: 'failed', order_id: 'b.r1' } as const;
      if (result) say(evidence, 'b', { result: { ...result, compensation } });
    },
    { 'follow-ups beyond the remainder': 1 },
  ],
  [
    'a cent missing on the balance shows against orders and verdicts',
    (evidence) => void Object.assign(evidence, { ledger: { start: { usd: '100' }, end: { usd: '69.99' } } }),
    { 'money differences': 2 },
  ],
  [
    'a follow-up of more than what was left shows',
    (evidence) => {
      const [first, second] = evidence.service;
      const third = servicePayout('b.r1', '5.01', '5');
      evidence.service = [first, second, third].flatMap((item) => item ?? []);
      evidence.followed.set('b.r1', truthfully(third));
    },
    { 'follow-ups beyond the remainder': 1 },
  ],
  [
    'a create after a failed, a broken or an old probe is blind, as is one after nothing at all',
    (evidence) => {
      const list = { path: '/v2/order/list', orderId: 'a' };
      const create = { path: '/v2/order/exchange_withdraw', orderId: 'a', status: 200 };
      evidence.requests = [
        { atMs: 0, ...create },
        { atMs: 1, ...list, status: 503, fault: '503' },
        { atMs: 2, ...create },
        { atMs: 3, ...list, status: 200, fault: 'html' },
        { atMs: 4, ...create },
        { atMs: 5, ...list, status: 200 },
        { atMs: 50_006, ...create },
      ];
    },
    { 'blind sends': 4 },
  ],
  [
    "a look-up's list is no probe, and its late status request hides none",
    (evidence) => {
      const list = { path: '/v2/order/list', orderId: 'a', status: 200 };
      const status = { path: '/v2/order/status', orderId: 'a', status: 404 };
      const create = { path: '/v2/order/exchange_withdraw', orderId: 'a', status: 200 };
      const probed = [list, list, status, create];
      const blind = [list, status, create];
      evidence.requests = [...probed, ...blind].map((request, atMs) => ({ atMs, ...request }));
    },
    { 'blind sends': 1 },
  ],
  [
    'every leak is a finding',
    (evidence) => void Object.assign(evidence, { leaks: [{ place: 'worker.log', what: 'the API key' }] }),
    { secrets: 1 },
  ],
  [
    'a canary that came nowhere shows',
    (evidence) => void Object.assign(evidence, { searched: { ...evidence.searched, neverSeen: ['a Visa number'] } }),
    { 'canaries never seen': 1 },
  ],
  [
    'an audit record that does not hold shows',
    (evidence) =>
      void Object.assign(evidence, { audit: { ...evidence.audit, problems: ['line 2 does not follow from line 1'] } }),
    { 'gaps in the audit record': 1 },
  ],
  [
    'a create without a line, or with one that was written after it, shows',
    (evidence) => {
      const [a, b, ...others] = evidence.audit.lines.slice(0, 3);
      if (a && b) evidence.audit = { ...evidence.audit, lines: [{ ...b, atMs: 1_011 }, ...others] };
    },
    { 'gaps in the audit record': 2 },
  ],
  [
    'a decision that counted on another revision than that of its line shows, and so does an approval',
    (evidence) => {
      const workflowId = 'order:default:a';
      const line = { id: 'd', event: 'decide', atMs: 0, workflowId, revision: 3 };
      evidence.audit = { ...evidence.audit, lines: [...evidence.audit.lines, line] };
      const approval = { event: 'approve', workflowId: 'bulk:default:b' };
      evidence.choices = [line, { ...line, revision: 4 }, approval];
    },
    { 'gaps in the audit record': 2 },
  ],
  [
    'a callback acknowledged without a signal shows',
    (evidence) => say(evidence, 'a', { signalsAtMs: [] }),
    { 'callbacks acknowledged without effect': 1 },
  ],
  [
    'the signal of an earlier callback does not count for a later one',
    (evidence) => say(evidence, 'a', { signalsAtMs: [40_000] }),
    { 'callbacks acknowledged without effect': 1 },
  ],
  [
    'a forged callback that was accepted shows',
    (evidence) => void Object.assign(evidence, { wronglyAccepted: ['a: HTTP 200'] }),
    { 'forged callbacks accepted': 1 },
  ],
  [
    'an open workflow that waits for nobody shows',
    (evidence) => {
      evidence.accepted.add('c');
      evidence.followed.set('c', { orderId: 'c', end: 'open', signalsAtMs: [], createsCutOff: 0 });
    },
    { 'open and not parked': 1 },
  ],
  [
    'an order that is still parked shows as parked, with its reason',
    (evidence) => {
      evidence.accepted.add('c');
      evidence.followed.set('c', {
        ...{ orderId: 'c', end: 'open', parkedFor: 'a conflict', signalsAtMs: [], createsCutOff: 0 },
      });
    },
    { 'parked after the operator': 1 },
  ],
];

test.each(FAULTS)('%s', (_title, makeWrong, found) => {
  const evidence = cleanEvidence();
  makeWrong(evidence);
  expect(counts(evidence)).toEqual(found);
});

test('every line of the oracle is proven able to fail', () => {
  const proven = new Set(FAULTS.flatMap(([, , found]) => Object.keys(found)));
  expect(ORACLE.map(({ name }) => name).filter((name) => !proven.has(name))).toEqual([]);
});

test('callbacks that were not acknowledged, came after the end or are about unknown orders are no findings', () => {
  const evidence = cleanEvidence();
  say(evidence, 'a', { signalsAtMs: [] });
  const about = { orderId: 'a', orderUuid: 'uuid-a', orderStatus: 'completed' };
  evidence.callbacks = [
    { ...about, sentAtMs: 49_000, answeredAtMs: 49_010, status: 503 },
    { ...about, sentAtMs: 90_000, answeredAtMs: 90_010, status: 200 },
    { ...about, orderId: 'nobody', orderUuid: 'u', sentAtMs: 1, answeredAtMs: 2, status: 200 },
  ];
  expect(counts(evidence)).toEqual({});
});

test('a run is clean only when every line is 0 and all orders were final in time', () => {
  const operator = { parks: new Map(), decisions: new Map(), choices: [] };
  expect(isClean(judge(cleanEvidence(), { ...operator, allFinalAfterMs: 1_000 }))).toBe(true);
  expect(isClean(judge(cleanEvidence(), operator))).toBe(false);
  const evidence = cleanEvidence();
  evidence.accepted.add('gone');
  const judged = judge(evidence, { ...operator, allFinalAfterMs: 1_000 });
  expect(isClean(judged)).toBe(false);
  expect(verdictLines(judged).filter((line) => line.startsWith('✘'))).toEqual(['✘ lost 1']);
  expect(verdictLines(judged)).toHaveLength(judged.length + 1);
});
