import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Canary } from '../../src/contract/order/canary.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, useGatedLab } from '../support/lab.js';
import type { ServiceGate } from '../support/service-gate.js';
import { executedAtBoth, openTwoAccounts, PLACES } from '../workflows/create/two-accounts.fixture.js';
import {
  CANARY,
  canariesOf,
  firstSendsLab,
  type PayoutOptions,
  Payouts,
  showOnly,
  watchAsked,
} from './first-sends.fixture.js';
import { say } from './paced-lab.fixture.js';

/* Payouts that were executed, answered with 502, and are not shown, while canaries are accepted. A second create would be executed. */

vi.setConfig({ testTimeout: 600_000 });

const WINDOW_MS = 8_000;
const COUNT = 12;
/** Windows in which nothing may be sent again. */
const WATCHED = 6;
const UNCLEAR = 'create=502-after duplicate=c';

const attackedLab = (countsFor: Canary['countsFor'], callbacks: boolean) =>
  useGatedLab(undefined, firstSendsLab(WINDOW_MS, { callbacks, account: { canary: { ...CANARY, countsFor } } }));

/** Sends all callbacks again. */
async function callBack({ sandbox }: Lab, { ids }: Payouts): Promise<void> {
  const ours = sandbox.orders().filter(({ order }) => ids.includes(order.user_order_id));
  await Promise.all(ours.map(({ order }) => sandbox.sendCallback(order.order_uuid)));
}

/**
 * Watches for some windows that no payout is sent again. Then the service shows all and accepts another
 * payout, and each ends as it is.
 */
async function expectSentOnce(
  lab: Lab & { gate: ServiceGate },
  payouts: Payouts,
  story: string,
  {
    another = {},
    hasCallbacks = false,
    // What a callback contradicts is a person's at once, so that nothing waits for a canary.
    hasCanaries = !hasCallbacks,
  }: { another?: PayoutOptions; hasCallbacks?: boolean; hasCanaries?: boolean } = {},
): Promise<void> {
  const asked = watchAsked(lab);
  const watchedUntilMs = Date.now() + WATCHED * WINDOW_MS;
  while (Date.now() < watchedUntilMs && payouts.sentTwice().length === 0) await sleep(200);
  const canaries = (await canariesOf(lab)).length;
  await asked.end();
  say(
    `${story}: ${payouts.sentTwice().length} of ${COUNT} sent twice, ${asked.byOrder.size} asked, ${canaries} canaries`,
  );
  expect(payouts.sentTwice()).toEqual([]);
  expect(canaries > 0).toBe(hasCanaries);
  lab.gate.rule = () => undefined;
  if (hasCallbacks) await callBack(lab, payouts);
  await payouts.start(another);
  expect(await payouts.waitingFor(await payouts.untilEnded(8 * WINDOW_MS))).toEqual([]);
  payouts.expectCompletedOnce();
  expect(payouts.sentTwice()).toEqual([]);
}

/** Uuids of all orders of the service. */
const known = ({ sandbox }: Lab) => new Set(sandbox.orders().map(({ order }) => order.order_uuid));

/** Two payouts that are shown, as earlier witnesses. */
async function acceptBefore(lab: Lab): Promise<Payouts> {
  const before = new Payouts(lab, 'beforeit');
  await before.startSpread(2, 2_000);
  await before.untilEnded(60_000);
  before.expectCompletedOnce();
  await sleep(WINDOW_MS / 2);
  return before;
}

describe.each([
  ['callbacks that are lost', false],
  ['callbacks that contradict it', true],
])('%s', (callbacksAre, hasCallbacks) => {
  describe('a view of all orders that stands still', () => {
    const lab = attackedLab(['withdraw'], hasCallbacks);
    test('nothing is sent again, however many canaries are accepted', async () => {
      await acceptBefore(lab);
      const shown = known(lab);
      lab.gate.rule = showOnly(lab, ({ order_uuid: uuid }) => shown.has(uuid));
      const payouts = new Payouts(lab, 'frozen');
      await payouts.startSpread(COUNT, WINDOW_MS, () => ({ marker: UNCLEAR }));
      await expectSentOnce(lab, payouts, `a frozen view, ${callbacksAre}`, { hasCallbacks });
    });
  });

  describe('a view that shows new deposits and no new payouts, with a canary that counts for none', () => {
    const lab = attackedLab([], hasCallbacks);
    test('nothing is sent again', async () => {
      await acceptBefore(lab);
      const shown = known(lab);
      const isShown = (order: { order_uuid: string; order_type: string }) =>
        shown.has(order.order_uuid) || order.order_type === 'deposit';
      lab.gate.rule = showOnly(lab, isShown);
      const payouts = new Payouts(lab, 'deposits');
      await payouts.startSpread(COUNT, WINDOW_MS, () => ({ marker: UNCLEAR }));
      // A canary that counts for none is not sent for payouts.
      const deposit = await lab.orders.start('deposit', orderInput('deposit', newOrderId('deposit')));
      await deposit.created();
      await expectSentOnce(lab, payouts, `new deposits only, ${callbacksAre}`, { hasCallbacks, hasCanaries: false });
    });
  });
});

describe('a service that keeps ids in another form, without callbacks', () => {
  const lab = attackedLab(['withdraw'], false);
  afterEach(() => {
    lab.gate.rule = () => undefined;
  });

  const two = (n: number) => `${process.pid}${10 + n}`;
  test.each<[string, (n: number) => string, (id: string) => string]>([
    ['in lower case', (n) => `Pay-Roll-${two(n)}`, (id) => id.toLowerCase()],
    ['cut', (n) => `payroll-${two(n)}-`.padEnd(60, 'x'), (id) => id.slice(0, 40)],
    ['without points', (n) => `pay.roll-${two(n)}`, (id) => id.replaceAll('.', '')],
    ['with escaped colons', (n) => `pay:roll-${two(n)}`, (id) => id.replaceAll(':', '%3A')],
    ['without leading zeros', (n) => `000${two(n)}`, (id) => id.replace(/^0+/, '')],
    ['as floating-point numbers', (n) => `20261128001905${two(n)}`, (id) => (/^\d+$/.test(id) ? `${Number(id)}` : id)],
  ])('%s: nothing is sent again', async (form, idOf, shownAs) => {
    lab.gate.rule = showOnly(lab, () => true, shownAs);
    const payouts = new Payouts(lab, 'folded');
    await payouts.startSpread(COUNT, WINDOW_MS / 2, (n) => ({ orderId: idOf(n), marker: UNCLEAR }));
    await expectSentOnce(lab, payouts, `ids ${form}`, { another: { orderId: idOf(COUNT) } });
  });
});

describe('workers that come back with a second key', () => {
  test.each(['otherKey', 'otherBoth'] as const)('%s: nothing is sent there', async (place) => {
    const accounts = await openTwoAccounts(WINDOW_MS);
    const { lab, other, workAt } = accounts;
    for (const account of lab.config.accounts.values()) Object.assign(account, { canary: CANARY });
    for (const sandbox of [lab.sandbox, other]) sandbox.set({ duplicateMode: 'c', durationsMs: { pay: 86_400_000 } });
    await workAt(PLACES.first);
    const payouts = new Payouts(lab, `keys-${place}`);
    // The first account hides all orders, canaries too, for as long as the second key is in use.
    lab.sandbox.set({ visibilityLagMs: (WATCHED + 3) * WINDOW_MS });
    const marker = `${UNCLEAR} callback=drop`;
    await payouts.startSpread(COUNT, WINDOW_MS / 2, () => ({ marker }));
    await payouts.untilSent();
    await sleep(1.5 * WINDOW_MS);
    await workAt(PLACES[place]);
    await sleep(WATCHED * WINDOW_MS);
    const executed = () => payouts.ids.map((id) => executedAtBoth(accounts, id));
    say(`a second key (${place}): ${(await canariesOf(lab)).length} canaries, ${other.orders().length} orders there`);
    expect(executed()).toEqual(payouts.ids.map(() => [1, 0]));
    lab.sandbox.set({ visibilityLagMs: 0 });
    await workAt(PLACES.first);
    await payouts.start();
    expect(await payouts.waitingFor(await payouts.untilEnded(8 * WINDOW_MS))).toEqual([]);
    payouts.expectCompletedOnce();
    expect(executed()).toEqual(payouts.ids.map(() => [1, 0]));
  });
});
