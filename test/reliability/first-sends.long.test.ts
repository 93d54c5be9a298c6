import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { accountWith, type Lab, useGatedLab, useLab } from '../support/lab.js';
import { operationOf } from '../support/service-gate.js';
import { decideNow, parkedFor } from '../workflows/compensation/parked-orders.fixture.js';
import {
  acceptCreates,
  behindCanary,
  behindDecision,
  behindUnsent,
  CANARY,
  decideOneOf,
  expectCanaries,
  expectFollowCanary,
  failCreates,
  firstSendsLab,
  outage,
  Payouts,
  showOnly,
  startBeside,
  watchAsked,
} from './first-sends.fixture.js';

vi.setConfig({ testTimeout: 1_800_000 });

const WINDOW_MS = 12_000;
const OUTAGE = { count: 27, windowMs: WINDOW_MS, windows: 3.5 };
const ANN = { by: 'Ann Smith', reason: 'the bank called' };
const WITH_CANARY = firstSendsLab(WINDOW_MS, { account: { canary: CANARY } });

const begin = (lab: Lab, label: string) => ({ payouts: new Payouts(lab, label), asked: watchAsked(lab) });

const createsOf = ({ sandbox }: Lab): number =>
  sandbox.requests().filter(({ path }) => path.includes('/order/') && operationOf(path) === 'create').length;

describe('the outage comes back twice', () => {
  const lab = useLab(WITH_CANARY);
  test('all payouts complete behind canaries, and nobody is asked', async () => {
    const { payouts, asked } = begin(lab, 'thrice');
    let overAtMs = 0;
    for (const pauseMs of [0, WINDOW_MS, WINDOW_MS]) {
      await sleep(pauseMs);
      overAtMs = await outage(lab, payouts, { count: 9, windowMs: WINDOW_MS, windows: 1.5 });
    }
    await expectFollowCanary(lab, payouts, asked, { ...OUTAGE, overAtMs, story: 'three outages' });
    payouts.expectCompletedOnce();
  });
});

describe('the service never shows the canary', () => {
  const lab = useGatedLab(undefined, WITH_CANARY);
  test('nothing is sent without a person, and one decision completes all', async () => {
    lab.gate.rule = showOnly(lab, ({ order_type: type }) => type !== 'deposit');
    const { payouts, asked } = begin(lab, 'unshown');
    const overAtMs = await outage(lab, payouts, OUTAGE);
    await decideOneOf(payouts, asked, { ...OUTAGE, overAtMs, story: 'the canary is not shown' });
    await expectCanaries(lab, payouts, WINDOW_MS);
  });
});

describe('the service refuses the canary', () => {
  const lab = useGatedLab(undefined, WITH_CANARY);
  test('nothing is sent without a person, and one decision completes all', async () => {
    const body = '{"status":"error","message":"no deposits"}';
    lab.gate.rule = ({ path }) => (path.endsWith('/order/deposit') ? { status: 400, body } : undefined);
    const { payouts, asked } = begin(lab, 'refused');
    const overAtMs = await outage(lab, payouts, OUTAGE);
    await decideOneOf(payouts, asked, { ...OUTAGE, overAtMs, story: 'the canary is refused' });
    await expectCanaries(lab, payouts, WINDOW_MS);
  });
});

describe('two workers, of which one has the setting', () => {
  const lab = useLab(WITH_CANARY);
  test('all payouts complete behind canaries, and nobody is asked', async () => {
    const { end } = await startBeside(lab, accountWith(lab, { canary: undefined }));
    onTestFinished(end);
    const { payouts, asked } = begin(lab, 'halfset');
    const overAtMs = await outage(lab, payouts, OUTAGE);
    await expectFollowCanary(lab, payouts, asked, { ...OUTAGE, overAtMs, story: 'one of two workers', within: 4 });
    payouts.expectCompletedOnce();
  });
});

describe('the account is stopped during the outage', () => {
  const lab = useLab(WITH_CANARY);
  test('nothing is sent until the resume, no canary either; then all payouts complete behind one', async () => {
    const { payouts, asked } = begin(lab, 'stopped');
    failCreates(lab);
    await payouts.startSpread(OUTAGE.count, WINDOW_MS);
    await payouts.untilSent();
    await lab.orders.accounts.stop('default', ANN);
    // A worker may go by what it read before.
    await sleep(2_000);
    const before = createsOf(lab);
    await sleep(1.5 * WINDOW_MS);
    acceptCreates(lab);
    await sleep(WINDOW_MS);
    expect(createsOf(lab)).toBe(before);
    await lab.orders.accounts.resume('default', ANN);
    await expectFollowCanary(lab, payouts, asked, { ...OUTAGE, overAtMs: Date.now(), story: 'a stop' });
    payouts.expectCompletedOnce();
  });
});

describe('one order is held and one is cancelled during the outage', () => {
  const lab = useLab(WITH_CANARY);
  test('both wait for a person, and the others complete behind a canary', async () => {
    const { payouts, asked } = begin(lab, 'held');
    const beganMs = Date.now();
    failCreates(lab);
    await payouts.startSpread(OUTAGE.count, WINDOW_MS);
    await payouts.untilSent();
    const [held, cancelled] = payouts.handles;
    if (!held || !cancelled) throw new Error('nothing was started');
    // It may have been sent, which the answer says. It is held if it was not.
    await held.hold(ANN).catch((error: unknown) => expect(error).toMatchObject({ name: 'RefusedError' }));
    await cancelled.cancel();
    await sleep(Math.max(0, beganMs + OUTAGE.windows * WINDOW_MS - Date.now()));
    acceptCreates(lab);
    const but = [held.orderId, cancelled.orderId];
    const about = { ...OUTAGE, overAtMs: Date.now(), story: 'a hold and a cancellation', but };
    await expectFollowCanary(lab, payouts, asked, about);
    payouts.expectCompletedOnce(but);
    expect((await parkedFor(held)).attention?.code).toBe('held');
    expect((await parkedFor(cancelled)).attention?.reason).toContain('it was cancelled');
    const { executedByOrderId } = lab.sandbox.stats();
    expect(but.map((id) => executedByOrderId[id] ?? 0)).toEqual([0, 0]);
    await decideNow(cancelled, 'close-absent');
    await decideNow(held, 'release');
    // The release may find a create under way, whose time limit has to pass.
    expect((await held.result({ timeoutMs: 240_000 })).outcome).toBe('completed');
    await expect(cancelled.result({ timeoutMs: 60_000 })).rejects.toMatchObject({ name: 'FailedError' });
    expect(payouts.notExecuted(1, [cancelled.orderId])).toEqual([]);
    expect(
      payouts.notExecuted(
        0,
        payouts.ids.filter((id) => id !== cancelled.orderId),
      ),
    ).toEqual([]);
  });
});

describe.each([3.5, 6])('300 payouts, creates fail for %d windows', (windows) => {
  const about = { count: 300, windowMs: 60_000, windows };

  describe('with an unsent order behind them', () => {
    const lab = useLab(firstSendsLab(about.windowMs));
    test('all payouts complete, and nobody is asked', () => behindUnsent(lab, about));
  });

  describe('with the canary', () => {
    const lab = useLab(firstSendsLab(about.windowMs, { account: { canary: CANARY } }));
    test('all payouts complete, and nobody is asked', () => behindCanary(lab, about));
  });

  describe('without both', () => {
    const lab = useLab(firstSendsLab(about.windowMs));
    test('one decision completes all', () => behindDecision(lab, about));
  });
});
