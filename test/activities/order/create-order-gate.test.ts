import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { accountId } from '../../../src/contract/order/sent-to.js';
import { answer, startServer } from '../../payment-service/server.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { activitiesFor, attemptOf, ELSEWHERE, openActivities, operations, PACE } from '../activity-lab.fixture.js';

const EARLIER_KEY = 'aaaaaaaaaaaaaaaa';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the gate before a send', () => {
  test('without permission nothing is sent', async () => {
    const { sandbox, run } = await openActivities();
    const attempt = attemptOf('withdraw', undefined, { permission: 'none' });
    expect(await run('createOrder', attempt)).toMatchObject({ kind: 'uncertain' });
    expect(operations(sandbox)).toEqual(['list']);
  });

  test('without permission an order that is there is still adopted', async () => {
    const { sandbox, run } = await openActivities();
    await run('createOrder', attemptOf('withdraw'));
    const attempt = attemptOf('withdraw', undefined, { permission: 'none' });
    expect(await run('createOrder', attempt)).toMatchObject({ kind: 'adopted' });
    expect(sandbox.stats().createsByOrderId['withdraw-1']).toBe(1);
  });

  test.for(['first', 'absent'] as const)(
    'Temporal restored less than a settle window ago, permission %s: nothing is sent, and no limit ends the order',
    async (permission) => {
      const { sandbox, run } = await openActivities({}, { restoredAtMs: Date.now() });
      const { order } = orderInput('withdraw', 'withdraw-1');
      const belowMinimum = { order: { ...order, amount: '0.5' } };
      expect(await run('createOrder', attemptOf('withdraw', belowMinimum, { permission }))).toMatchObject({
        kind: 'notSent',
        reason: expect.stringContaining('Temporal was restored'),
      });
      expect(operations(sandbox)).toEqual(['list']);
    },
  );

  test('Temporal restored a settle window ago: it is sent, unless the server knows of an earlier time', async () => {
    const { run } = await openActivities({}, { restoredAtMs: Date.now() - PACE.settleWindowMs.atOnce });
    const attempt = attemptOf('withdraw');
    expect(await run('createOrder', attempt, { scheduledMs: Date.now() - 5_000 })).toMatchObject({ kind: 'notSent' });
    expect(await run('createOrder', attempt, { scheduledMs: Date.now() })).toMatchObject({ kind: 'accepted' });
  });

  test('Temporal restored long ago: a limit ends no order that is there, and one that is not after the probe', async () => {
    const { sandbox, run } = await openActivities();
    await run('createOrder', attemptOf('withdraw'));
    sandbox.set({ pairs: { 'withdraw usd_card': { min: '5000' } } });
    const restored = await activitiesFor({ baseUrl: sandbox.url, ...sandbox }, { restoredAtMs: 1 });
    const scheduledMs = Date.now();
    expect(await restored('createOrder', attemptOf('withdraw'), { scheduledMs })).toMatchObject({ kind: 'adopted' });
    const absent = attemptOf('withdraw', orderInput('withdraw', 'absent-1'));
    await expect(restored('createOrder', absent, { scheduledMs })).rejects.toMatchObject({ type: 'InvalidOrder' });
    expect(operations(sandbox)).toEqual(['list', 'create', 'list', 'list', 'list']);
  });

  const refusedNow = { order: { ...orderInput('withdraw', 'withdraw-1').order, later: 'refused' } };

  test.for([
    ['Temporal was restored', { restoredAtMs: 1 }, {}, {}],
    ['an earlier run may have sent it', {}, { permission: 'none' }, {}],
    ['its run was reset', {}, {}, { runId: 'run-2' }],
  ] as const)('%s: an input that is refused now ends no order that is there', async ([, deps, changes, info]) => {
    const { sandbox, run } = await openActivities();
    await run('createOrder', attemptOf('withdraw'));
    const later = await activitiesFor({ baseUrl: sandbox.url, ...sandbox }, deps);
    const attempt = attemptOf('withdraw', refusedNow, changes);
    expect(await later('createOrder', attempt, { scheduledMs: Date.now(), ...info })).toMatchObject({
      kind: 'adopted',
    });
    expect(sandbox.stats().createsByOrderId['withdraw-1']).toBe(1);
  });

  test('and is told only once nothing is there that may have been sent', async () => {
    const { sandbox, run } = await openActivities({}, { restoredAtMs: Date.now() });
    const restoredAtMs = expect.any(Number);
    expect(await run('createOrder', attemptOf('withdraw', refusedNow))).toMatchObject({
      kind: 'notSent',
      restoredAtMs,
    });
    const doubted = attemptOf('withdraw', refusedNow, { permission: 'none' });
    expect(await run('createOrder', doubted)).toMatchObject({ kind: 'uncertain' });
    const longAgo = await activitiesFor({ baseUrl: sandbox.url, ...sandbox }, { restoredAtMs: 1 });
    const told = longAgo('createOrder', attemptOf('withdraw', refusedNow), { scheduledMs: Date.now() });
    await expect(told).rejects.toMatchObject({ type: 'InvalidOrder' });
    expect(operations(sandbox)).toEqual(['list', 'list', 'list']);
  });

  test('nor does it end one whose attempt is repeated: the first one may have sent it', async () => {
    const { run } = await openActivities();
    const heartbeatDetails = { sentTo: ELSEWHERE };
    const repeated = run('createOrder', attemptOf('withdraw', refusedNow), { attempt: 2, heartbeatDetails });
    expect(await repeated).toMatchObject({ kind: 'uncertain', timedOut: true });
  });

  test('a reset run sends nothing and says that an older attempt may be on its way', async () => {
    const { sandbox, run } = await openActivities();
    const verdict = await run('createOrder', attemptOf('withdraw'), { runId: 'run-2' });
    expect(verdict).toMatchObject({ kind: 'uncertain', reset: true });
    expect(operations(sandbox)).toEqual(['list']);
  });

  test('a reset run sends once absence was proven', async () => {
    const { run } = await openActivities();
    const attempt = attemptOf('withdraw', undefined, { permission: 'absent' });
    expect(await run('createOrder', attempt, { runId: 'run-2' })).toMatchObject({ kind: 'accepted' });
  });

  test('an order that was sent to another endpoint is neither looked for nor sent here', async () => {
    const { sandbox, run } = await openActivities();
    const attempt = attemptOf('withdraw', undefined, { permission: 'absent', sentTo: ELSEWHERE });
    const verdict = await run('createOrder', attempt);
    expect(verdict).toMatchObject({ kind: 'notSent', reason: expect.stringContaining(ELSEWHERE.account) });
    expect(operations(sandbox)).toEqual([]);
  });

  describe('of an order that was sent with another key', () => {
    const pinned = (url: string) =>
      attemptOf('withdraw', undefined, {
        permission: 'absent',
        sentTo: { account: accountId(url, EARLIER_KEY), witness: { order_id: 'w-0', order_uuid: 'u-0' } },
      });

    test('the key that is named as its successor sends, without any request before the probe', async () => {
      const { sandbox, run } = await openActivities({}, { predecessors: ['0'.repeat(16), EARLIER_KEY] });
      expect(await run('createOrder', pinned(sandbox.url))).toMatchObject({ kind: 'accepted' });
      expect(operations(sandbox)).toEqual(['list', 'create']);
    });

    test('any other key neither looks for it nor sends it', async () => {
      const { sandbox, run } = await openActivities({}, { predecessors: ['0'.repeat(16)] });
      const reason = expect.stringContaining(`list ${EARLIER_KEY} as a predecessor if the key was rotated`);
      expect(await run('createOrder', pinned(sandbox.url))).toMatchObject({ kind: 'notSent', reason });
      expect(operations(sandbox)).toEqual([]);
    });
  });

  describe.each(['performance', 'Date'] as const)('an attempt that grew old by the clock of %s', (clock) => {
    const outcomeAfter = async (pauseMs: number) => {
      const real = clock === 'Date' ? Date.now.bind(Date) : performance.now.bind(performance);
      let stoppedMs = 0;
      const spied = clock === 'Date' ? vi.spyOn(Date, 'now') : vi.spyOn(performance, 'now');
      spied.mockImplementation(() => real() + stoppedMs);
      const { baseUrl, received } = await startServer((response, { path }) => {
        // As if the process had been stopped while it waited for the probe.
        if (path.endsWith('/list')) stoppedMs = pauseMs;
        answer(response, path.endsWith('/list') ? [] : 'down', path.endsWith('/list') ? 200 : 503);
      });
      const run = await activitiesFor({ baseUrl });
      const { kind } = await run('createOrder', attemptOf('withdraw'));
      return { kind, paths: received.map(({ path }) => path) };
    };

    test('less than 25 s are left: nothing is sent', async () => {
      expect(await outcomeAfter(25_500)).toEqual({ kind: 'notSent', paths: ['/v2/rates', '/v2/order/list'] });
    });

    test('more than 25 s are left: it is sent', async () => {
      expect(await outcomeAfter(20_000)).toMatchObject({ kind: 'uncertain', paths: { 2: '/v2/order/withdraw' } });
    });
  });

  test('an attempt that waits long for the rates does not send', async () => {
    const now = Date.now.bind(Date);
    let stoppedMs = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + stoppedMs);
    const { baseUrl, received } = await startServer(async (response, { path }) => {
      if (!path.endsWith('/rates')) return answer(response, []);
      stoppedMs = 30_000;
      await sleep(20);
      answer(response, 'down', 503);
    });
    const run = await activitiesFor({ baseUrl });
    expect(await run('createOrder', attemptOf('withdraw'))).toMatchObject({ kind: 'notSent' });
    expect(received.map(({ path }) => path)).not.toContain('/v2/order/withdraw');
  });
});
