import { describe, expect, test } from 'vitest';
import type { ActivityDeps } from '../../src/activities/index.js';
import { type Protections, publishedFor } from '../../src/temporal/published.js';
import { orderInput } from '../support/inputs.js';
import { attemptOf, openActivities, operations, PACE } from './activity-lab.fixture.js';

/* What the account's other workers publish holds for an attempt of this one. */

const { order: ORDER } = orderInput('withdraw', 'withdraw-1');

const SAME: Protections = { windows: [600_000, 15_000, 600_000] };

const others = (...differences: Partial<Protections>[]): Pick<ActivityDeps, 'others'> => ({
  others: () => differences.map((one) => ({ ...SAME, ...one })),
});

describe('the strictest setting of all workers holds', () => {
  test('the longest windows and confirm delay', async () => {
    const { run } = await openActivities({}, others({ windows: [1, 20_000, 1] }, { windows: [900_000, 1, 700_000] }));
    const { pace } = await run('createOrder', attemptOf('withdraw'));
    expect(pace).toEqual({
      ...PACE,
      settleWindowMs: { atOnce: 900_000, deposit: 20_000 },
      confirmDelayMs: 700_000,
    });
  });

  test.for<[string, Partial<Protections>[], string]>([
    ['the lowest cap of another worker', [{ caps: { usd: '20' } }, { caps: { usd: '12' } }], 'the cap of 12 usd'],
    ['its own, lower one', [{ caps: { usd: '20' } }], 'the cap of 10 usd'],
    ['none of another currency', [{ caps: { btc: '0.1' } }], 'the cap of 10 usd'],
  ])('of caps %s', async ([, published, reason]) => {
    const own = new Map([['usd', reason.includes('12') ? '15' : '10']]);
    const { sandbox, run } = await openActivities({}, { caps: own, ...others(...published) });
    const answer = await run('createOrder', attemptOf('withdraw', { order: { ...ORDER, amount: '16' } }));
    expect(answer).toMatchObject({ kind: 'overCap', reason: expect.stringContaining(reason) });
    expect(operations(sandbox)).not.toContain('create');
  });

  test('no status is taken for "not executed" unless all workers take it so', async () => {
    const fault = { faults: { 'create.503-after': 1 } };
    const notExecutedStatuses = [503];
    const { run } = await openActivities(fault, { notExecutedStatuses, ...others({}) });
    expect(await run('createOrder', attemptOf('withdraw'))).toMatchObject({ kind: 'uncertain' });
    const { run: agreed } = await openActivities(fault, { notExecutedStatuses, ...others({ notExecuted: [503] }) });
    expect(await agreed('createOrder', attemptOf('withdraw'))).toMatchObject({ kind: 'notSent' });
  });

  test('none of two policies: a payout waits until all workers have the same file', async () => {
    const { sandbox, run } = await openActivities({}, others({ policy: 'theirs' }, {}));
    const reason = expect.stringContaining('another worker of the account has a POLICY_FILE');
    expect(await run('createOrder', attemptOf('withdraw'))).toMatchObject({ kind: 'notSent', reason });
    expect(operations(sandbox)).not.toContain('create');
    const policies = new Map([['default', { rules: [{ rule: 'tier', currency: 'usd', above: '99', approvers: 1 }] }]]);
    const own = policies as NonNullable<ActivityDeps['policies']>;
    const { policy = '' } = publishedFor({ pace: PACE, policies: own }, 'default');
    for (const [theirs, kind] of [
      ['theirs', 'notSent'],
      [policy, 'accepted'],
    ] as const) {
      const { run: judged } = await openActivities({}, { policies: own, ...others({ policy: theirs }) });
      expect(await judged('createOrder', attemptOf('withdraw'))).toMatchObject({ kind });
    }
    // Deposits are not judged.
    const { run: deposit } = await openActivities({}, others({ policy: 'theirs' }));
    expect(await deposit('createOrder', attemptOf('deposit'))).toMatchObject({ kind: 'accepted' });
  });

  test('the latest restore', async () => {
    const restoredAtMs = Date.now() - 1_000;
    const { sandbox, run } = await openActivities({}, others({ restoredAtMs }, { restoredAtMs: 1 }));
    const answer = await run('createOrder', attemptOf('withdraw'), { scheduledMs: Date.now() });
    expect(answer).toMatchObject({ kind: 'notSent', restoredAtMs });
    expect(operations(sandbox)).not.toContain('create');
  });
});

describe('caps that an attempt was given hold for the next one', () => {
  test('an attempt that sent nothing says which', async () => {
    const caps = new Map([
      ['usd', '20'],
      ['btc', '1'],
    ]);
    const { run } = await openActivities({ faults: { 'list.429': 1 } }, { caps });
    expect(await run('createOrder', attemptOf('withdraw'))).toMatchObject({ kind: 'rateLimited', caps: { usd: '20' } });
  });

  test('and a worker without caps refuses what is above them', async () => {
    const { run } = await openActivities();
    const attempt = attemptOf('withdraw', { order: { ...ORDER, amount: '21' } }, { caps: { usd: '20' } });
    expect(await run('createOrder', attempt)).toMatchObject({ kind: 'overCap' });
  });

  test('an order that was accepted says nothing of them', async () => {
    const { run } = await openActivities({}, { caps: new Map([['usd', '20']]) });
    const answer = await run('createOrder', attemptOf('withdraw'));
    expect(answer).toMatchObject({ kind: 'accepted' });
    expect(answer).not.toHaveProperty('caps');
  });
});

test('a failover that is seen between the probe and the send keeps the create from being sent', async () => {
  let failedOverAtMs: number | undefined;
  const { sandbox, run } = await openActivities({}, { failedOverAtMs: () => failedOverAtMs });
  const scheduledMs = Date.now();
  const answer = await run('createOrder', attemptOf('withdraw'), {
    scheduledMs,
    onHeartbeat: () => {
      failedOverAtMs = Date.now();
    },
  });
  expect(answer).toMatchObject({ kind: 'notSent' });
  expect(operations(sandbox)).not.toContain('create');
});
