import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Lab, openLab } from '../support/lab.js';
import { CANARY, canariesOf, expectFollowCanary, firstSendsLab, Payouts, watchAsked } from './first-sends.fixture.js';
import { say } from './paced-lab.fixture.js';
import { type Restorable, startRestorable } from './restorable.fixture.js';

/* Temporal is restored, and the account has a canary. A failover counts as a restore. A second create would be executed. */

vi.setConfig({ testTimeout: 300_000 });

const WINDOW_MS = 10_000;
const COUNT = 12;
/** Windows in which nothing may be sent again. */
const WATCHED = 6;
const AN_HOUR_MS = 3_600_000;

let temporal: Restorable;
let lab: Lab;

beforeEach(async () => {
  temporal = await startRestorable();
  const more = { temporalAddress: temporal.address, workers: false, callbacks: false, account: { canary: CANARY } };
  lab = await openLab(firstSendsLab(WINDOW_MS, more));
});
afterEach(async () => {
  await lab?.close();
  await temporal?.close();
});

test('payouts that were paid and are not shown are not sent again, however many canaries are accepted', async () => {
  lab.sandbox.set({ visibilityLagMs: AN_HOUR_MS });
  const payouts = new Payouts(lab, 'forgotten');
  await payouts.startSpread(COUNT, 1_000);
  await temporal.backUp();
  await lab.startWorkers();
  await payouts.untilSent();
  await lab.stopWorkers();
  await temporal.restore();
  await lab.startWorkers({ restoredAtMs: Date.now() });
  const watchedUntilMs = Date.now() + WATCHED * WINDOW_MS;
  while (Date.now() < watchedUntilMs && payouts.sentTwice().length === 0) await sleep(200);
  const canaries = (await canariesOf(lab)).length;
  say(`a restore, not shown: ${payouts.sentTwice().length} of ${COUNT} sent twice, ${canaries} canaries`);
  expect(payouts.sentTwice()).toEqual([]);
  expect(canaries).toBeGreaterThan(0);
  lab.sandbox.set({ visibilityLagMs: 0 });
  expect(await payouts.waitingFor(await payouts.untilEnded(8 * WINDOW_MS))).toEqual([]);
  payouts.expectCompletedOnce();
  expect(payouts.sentTwice()).toEqual([]);
});

test('payouts that were never sent complete behind a canary, and nobody is asked', async () => {
  const payouts = new Payouts(lab, 'unsent');
  await payouts.startSpread(COUNT, 1_000);
  await temporal.backUp();
  await temporal.restore();
  const asked = watchAsked(lab);
  await lab.startWorkers({ restoredAtMs: Date.now() });
  const about = { count: COUNT, windowMs: WINDOW_MS, windows: 0, overAtMs: Date.now(), within: 4 };
  await expectFollowCanary(lab, payouts, asked, { ...about, story: 'a restore' });
  payouts.expectCompletedOnce();
});
