import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import {
  type Asked,
  acceptCreates,
  CANARY,
  canariesOf,
  failCreates,
  firstSendsLab,
  Payouts,
  watchAsked,
} from '../../reliability/first-sends.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useLab } from '../../support/lab.js';

vi.setConfig({ testTimeout: 120_000 });

/** All complete within that time, and nobody was asked. */
async function expectGoOn(payouts: Payouts, asked: Asked, withinMs: number): Promise<void> {
  const open = await payouts.untilEnded(withinMs);
  await asked.end();
  expect(await payouts.waitingFor(open)).toEqual([]);
  expect([...asked.byOrder]).toEqual([]);
  payouts.expectCompletedOnce();
}

const BY = { by: 'ann', reason: 'an outage' };

describe('a stop that a canary met', () => {
  const WINDOW_MS = 4_000;
  const lab = useLab(firstSendsLab(WINDOW_MS, { account: { canary: CANARY } }));

  test('keeps no canary back once it is over, although nobody else reads stops', async () => {
    const payouts = new Payouts(lab, 'resumed');
    const asked = watchAsked(lab);
    failCreates(lab);
    await payouts.startSpread(3, 1_000);
    await payouts.untilSent();
    await lab.orders.accounts.stop('default', BY);
    const stopped = (await canariesOf(lab)).length;
    await vi.waitUntil(async () => (await canariesOf(lab)).length > stopped, { timeout: 30_000, interval: 100 });
    // Its create has read the stop by then.
    await sleep(2_000);
    acceptCreates(lab);
    await lab.orders.accounts.resume('default', BY);
    await expectGoOn(payouts, asked, 4 * WINDOW_MS);
  });
});

describe('an outage in whose midst the workers are started again', () => {
  const WINDOW_MS = 5_000;
  const lab = useLab(firstSendsLab(WINDOW_MS));

  test('is still one: nobody is asked before its end, and a payout after it lets all go on', async () => {
    const payouts = new Payouts(lab, 'restarted');
    const asked = watchAsked(lab);
    failCreates(lab);
    await payouts.startSpread(3, 1_000);
    await payouts.untilSent();
    const states = () => Promise.all(payouts.handles.map((one) => one.state()));
    await vi.waitUntil(
      async () => (await states()).every(({ waitingFor }) => waitingFor.startsWith('the end of an outage')),
      { timeout: 20_000, interval: 100 },
    );
    // Six windows after its last failed create nothing tells of an outage any more; the restart takes some of them.
    await lab.replaceWorkers();
    await sleep(3 * WINDOW_MS);
    expect([...asked.byOrder]).toEqual([]);
    acceptCreates(lab);
    await payouts.start();
    await expectGoOn(payouts, asked, 4 * WINDOW_MS);
  });
});

describe('a later order that a lost worker got accepted', () => {
  const WINDOW_MS = 20_000;
  const lab = useLab(firstSendsLab(WINDOW_MS));

  test('is found behind more open orders than one page shows', async () => {
    const slow = Array.from({ length: 21 }, () =>
      lab.orders.start('withdraw', orderInput('withdraw', newOrderId('slow'), { marker: 'after_ms=600000' })),
    );
    const started = await Promise.all(slow);
    await vi.waitUntil(async () => (await Promise.all(started.map((one) => one.state()))).every(({ order }) => order), {
      timeout: 60_000,
      interval: 200,
    });
    const payouts = new Payouts(lab, 'behind');
    const asked = watchAsked(lab);
    failCreates(lab);
    await payouts.start();
    await payouts.untilSent();
    acceptCreates(lab);
    await sleep(0.25 * WINDOW_MS);
    const later = new Payouts(lab, 'behind');
    await later.start({ orderId: `${payouts.ids[0]?.slice(0, -4)}9999` });
    expect(await later.untilEnded(30_000)).toEqual([]);
    // Its absence is not proven yet, so nothing is sent again.
    await lab.replaceWorkers();
    await expectGoOn(payouts, asked, 2.5 * WINDOW_MS);
  });
});
