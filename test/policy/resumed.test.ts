import { defaultPayloadConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import { expect, test, vi } from 'vitest';
import { whySilent } from '../../src/activities/policy/desk.js';
import { type Policy, Secret } from '../../src/config.js';
import type { Ledger } from '../../src/contract/policy/ledger.js';
import { Limiter } from '../../src/payment-service/limiter.js';
import { attemptOf, openActivities } from '../activities/activity-lab.fixture.js';
import { orderInput } from '../support/inputs.js';

const DAY_MS = 86_400_000;
const policy: Policy = {
  rules: [{ rule: 'sum', per: '30 days', currency: 'usd', max: '100', breach: 'park' }],
  payeeKey: new Secret('0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978'),
};
vi.setConfig({ testTimeout: 60_000 });

/** What an attempt leaves for the next one. */
interface Progress {
  of: string;
  begunAtMs: number;
  ledger: Ledger;
  upToMs: number;
  last: string[];
  counted: string[];
}

interface Run {
  orderId: string;
  /** Absent while it is open. */
  endedAtMs?: number;
}

/** A Temporal with runs of payouts. */
function temporalOf(runs: readonly Run[]) {
  const workflowService = {
    listWorkflowExecutions: async ({ query }: { query: string }) => {
      const [, since = ''] = /CloseTime >= '([^']*)'/.exec(query) ?? [];
      const shown = runs.filter(({ endedAtMs = Number.POSITIVE_INFINITY }) => endedAtMs >= Date.parse(since));
      const executions = shown.map(({ orderId, endedAtMs }) => ({
        execution: { workflowId: `order:default:${orderId}`, runId: 'r' },
        ...{ type: { name: 'withdraw' }, status: endedAtMs ? 2 : 1, startTime: msToTs(1), searchAttributes: {} },
        historyLength: msToTs(20_000).seconds,
      }));
      return { executions };
    },
    getWorkflowExecutionHistory: async ({ execution }: { execution: { workflowId: string } }) => {
      const orderId = execution.workflowId.split(':')[2] ?? '';
      const payloads = [defaultPayloadConverter.toPayload(orderInput('withdraw', orderId))];
      const workflowExecutionStartedEventAttributes = { workflowType: { name: 'withdraw' }, input: { payloads } };
      return { history: { events: [{ workflowExecutionStartedEventAttributes }] } };
    },
  };
  const describe = async () => ({
    ...{ raw: { pendingActivities: [{ activityType: { name: 'pollOrder' } }] }, historyLength: 20 },
    typedSearchAttributes: new Map(),
  });
  const loadedDataConverter = { payloadConverter: defaultPayloadConverter, payloadCodecs: [] };
  const call = (_: unknown, inner: () => unknown) => inner();
  return {
    ...{ withAbortSignal: call, withDeadline: call, options: { namespace: 'default' }, workflowService },
    workflow: { getHandle: () => ({ describe }), options: { loadedDataConverter } },
  } as never;
}

/** Payouts of the past month, and how attempts read them. */
async function pastPayouts() {
  const limiter = new Limiter();
  const { sandbox, run } = await openActivities(
    { listAtMost: 40 },
    { limiter, policies: new Map([['default', policy]]) },
  );
  const nowMs = Date.now();
  sandbox.addPast({ count: 100, fromMs: nowMs - 28 * DAY_MS, toMs: nowMs - DAY_MS });
  const lists = () => sandbox.requests().filter(({ path }) => path.endsWith('/order/list')).length;
  /** Reads the sums in an attempt after one that left `before`. `beats`: what this attempt leaves. */
  const read = async (runs: readonly Run[], before?: Progress) => {
    const [listed, beats] = [lists(), [] as (Progress | undefined)[]];
    const onHeartbeat = (details: unknown) => void beats.push(structuredClone(details) as Progress | undefined);
    const attempt = { ...(before && { heartbeatDetails: structuredClone(before), attempt: 2 }), onHeartbeat };
    const ledger = await run('rebuildPolicy', { account: 'default' }, { client: temporalOf(runs), ...attempt });
    return { ledger: JSON.parse(JSON.stringify(ledger)) as Ledger, lists: lists() - listed, beats };
  };
  /** Ends an attempt in the midst of the list. Returns what it leaves, as Temporal stores it. */
  const interrupted = async (runs: readonly Run[]): Promise<Progress> => {
    limiter.setRate(2);
    let left: Progress | undefined;
    const reading = run(
      'rebuildPolicy',
      { account: 'default' },
      {
        client: temporalOf(runs),
        onHeartbeat: (details, environment) => {
          const progress = details as Progress | undefined;
          if (!progress?.ledger.sums.usd) return;
          left = JSON.parse(JSON.stringify(progress));
          environment.cancel();
        },
      },
    );
    await expect(reading).rejects.toThrow();
    limiter.setRate(undefined);
    return left as unknown as Progress;
  };
  return { run, sandbox, read, interrupted };
}

const OPEN = [{ orderId: 'past-3' }];

test('sums whose reading was interrupted go on after the days that were read, and count each order once', async () => {
  const { read, interrupted, sandbox } = await pastPayouts();
  const kept = await interrupted(OPEN);
  expect(kept).toMatchObject({ counted: ['past-3'], ledger: { open: {} } });
  expect(kept.upToMs).toBeLessThanOrEqual(Date.now() - 2 * DAY_MS);
  const whole = await read(OPEN);
  expect(whole.lists).toBeGreaterThan(6);
  const resumed = await read(OPEN, kept);
  expect(resumed.ledger).toEqual({ ...whole.ledger, paid: expect.anything() });
  expect(Object.keys(resumed.ledger.paid)).toEqual(Object.keys(whole.ledger.paid));
  expect(resumed.lists).toBeLessThan(whole.lists);
  expect(resumed.beats.every((one) => (one?.upToMs ?? 0) >= kept.upToMs)).toBe(true);
  // An order of the second that both parts read.
  const shared = sandbox.orders().find(({ order }) => order.order_uuid === kept.last.at(-1));
  const upToMs = Date.parse(`${shared?.order.created_at.replace(' ', 'T')}Z`);
  expect((await read(OPEN, { ...kept, upToMs })).ledger.sums).toEqual(whole.ledger.sums);
});

test('an order that the list did not show is counted by the next attempt, also if it has ended meanwhile', async () => {
  const { read, interrupted } = await pastPayouts();
  const kept = await interrupted(OPEN);
  const [begunAtMs, endedAtMs] = [kept.begunAtMs - 3_600_000, kept.begunAtMs - 3_000_000];
  const late = [...OPEN, { orderId: 'late-open' }, { orderId: 'late-ended', endedAtMs }];
  const { ledger } = await read(late, { ...kept, begunAtMs });
  expect(Object.keys(ledger.open).toSorted()).toEqual(['late-ended', 'late-open', 'past-3']);
});

test('what was kept does not count for another account or key, or after half a day', async () => {
  const { read, interrupted } = await pastPayouts();
  const kept = await interrupted(OPEN);
  const lacking = { ...kept, ledger: { ...kept.ledger, sums: {} } };
  const others = [{ of: 'another' }, { begunAtMs: Date.now() - DAY_MS }];
  const [whole, ...afresh] = await Promise.all([
    read(OPEN),
    ...others.map((one) => read(OPEN, { ...lacking, ...one })),
  ]);
  for (const { ledger } of afresh) expect(ledger.sums).toEqual(whole?.ledger.sums);
});

test('an entry that cannot be read has the list read from its beginning, because it may be of any run', async () => {
  const { read, interrupted, run } = await pastPayouts();
  const kept = await interrupted(OPEN);
  await run('createOrder', attemptOf('withdraw', orderInput('withdraw', 'bad', { marker: 'list=malformed' })));
  const ended = [...OPEN, { orderId: 'past-4', endedAtMs: Date.now() }, { orderId: 'bad', endedAtMs: Date.now() }];
  // What cannot be read counts in the hour in which it is read.
  const hour = () => Math.floor(Date.now() / 3.6e6);
  const readBoth = async (begun = hour()): Promise<Awaited<ReturnType<typeof read>>[]> => {
    const both = [await read(ended), await read(ended, kept)];
    return hour() === begun ? both : readBoth();
  };
  const [whole, resumed] = await readBoth();
  // A run that is open may still ask for its order, so that stays reserved.
  for (const one of [whole, resumed]) expect(Object.keys(one?.ledger.open ?? {}).toSorted()).toEqual(['bad', 'past-3']);
  expect(resumed?.ledger.sums).toEqual(whole?.ledger.sums);
});

test('what is too large for a heartbeat is not kept, and the part before stays', async () => {
  const { read, interrupted } = await pastPayouts();
  const kept = await interrupted(OPEN);
  const counted = Array.from({ length: 40_000 }, (_, n) => `an-order-with-an-id-of-about-fifty-letters-${n}`);
  const { beats } = await read(OPEN, { ...kept, counted });
  expect(new Set(beats.map((one) => one?.upToMs))).toEqual(new Set([kept.upToMs]));
});

test('an order that waits for sums that are read says since when, and how long that takes', () => {
  const startTime = new Date('2026-11-29T20:00:00Z');
  const run = (name: string) => ({ startTime, raw: { pendingActivities: [{ activityType: { name } }] } }) as never;
  expect(whySilent(run('rebuildPolicy'))).toMatch(/^since 2026-11-29 20:00:00 UTC .* 100,000 .* nothing is sent/);
  for (const other of [run('settlePolicy'), undefined]) expect(whySilent(other)).toMatch(/did not answer in time/);
});
