import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { orderWorkflowId } from '../../../src/contract/names.js';
import {
  acceptCreates,
  failCreates,
  firstSendsLab,
  Payouts,
  watchAsked,
} from '../../reliability/first-sends.fixture.js';
import { say } from '../../reliability/paced-lab.fixture.js';
import { useLab } from '../../support/lab.js';
import { settings } from '../../support/simulated.js';

/** A server has fewer. */
const ORDERS = Number(process.env.DOUBTS ?? (settings.isSimulated ? 300 : 100));
/** As a worker has it without settings. */
const WINDOW_MS = 600_000;
const DEFAULT_PACE = {
  ...{ pollInitialMs: 5_000, pollMaxMs: 300_000 },
  settleWindowMs: { atOnce: WINDOW_MS, deposit: 15_000 },
};
const WATCHED_S = 120;
const SHOWN = 50;

vi.setConfig({ testTimeout: 2_400_000 });

const lab = useLab(firstSendsLab(WINDOW_MS, { pace: DEFAULT_PACE }));

test('orders in doubt ask no more often together, however many there are, and all go on by themselves', async () => {
  const asked = watchAsked(lab);
  failCreates(lab);
  const payouts = new Payouts(lab, 'doubt');
  await payouts.startSpread(ORDERS, 0);
  await payouts.untilSent();
  // Until each has been absent for its window, and waits for a later one.
  await sleep(1.5 * WINDOW_MS);
  const some = payouts.ids.slice(0, SHOWN);
  const count = async () => {
    const runs = await Promise.all(
      some.map((id) => lab.temporal.client.workflow.getHandle(orderWorkflowId('default', id)).describe()),
    );
    const pending = runs.flatMap(({ raw }) => raw.pendingActivities ?? []);
    const attempts = pending.reduce((sum, { attempt }) => sum + (attempt ?? 0), 0);
    return { attempts, events: runs.reduce((sum, { historyLength }) => sum + historyLength, 0) };
  };
  const before = await count();
  const requests = lab.sandbox.requests().length;
  await sleep(1_000 * WATCHED_S);
  const after = await count();
  const perSecond = (all: number) => (all / WATCHED_S).toFixed(1);
  const all = (part: number) => (part * ORDERS) / SHOWN;
  say(
    `${ORDERS} orders in doubt: ${perSecond(lab.sandbox.requests().length - requests)} requests/s, ` +
      `${perSecond(all(after.attempts - before.attempts))} attempts/s, ${perSecond(all(after.events - before.events))} events/s`,
  );
  expect(after.events - before.events).toBe(0);
  // 20 a second ask whether a later order was accepted, whether they are 50 or 10,000.
  expect(all(after.attempts - before.attempts) / WATCHED_S).toBeLessThan(30);
  acceptCreates(lab);
  const beganMs = Date.now();
  await payouts.startSpread(1, 0);
  expect(await payouts.waitingFor(await payouts.untilEnded(3 * WINDOW_MS))).toEqual([]);
  await asked.end();
  expect([...asked.byOrder]).toEqual([]);
  payouts.expectCompletedOnce();
  say(`they completed within ${((payouts.lastEndMs() - beganMs) / WINDOW_MS).toFixed(1)} windows of a later order`);
});
