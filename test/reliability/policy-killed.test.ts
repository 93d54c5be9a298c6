import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { endProcesses } from '../worker/process.fixture.js';
import { useBatchLab } from '../workflows/batch/batches.fixture.js';
import { startKillableWorkers } from './killable-workers.fixture.js';

const ORDERS = 200;
const AMOUNT = 12.5;
/** Half of the orders fit. */
const MAX = (ORDERS / 2) * AMOUNT;
const RULE = { rule: 'sum', per: 'day', currency: 'usd', max: String(MAX), breach: 'park' };

/** Some creates get no clear answer, with and without an execution, and some orders execute nothing in the end. */
const MARKERS = ['', 'create=500', '', 'create=500-before', 'outcome=canceled', '', '', 'create=reset', '', ''];

// A create in flight at a kill is given up after a minute, and the workers start slowly on a busy machine.
vi.setConfig({ testTimeout: 600_000 });

const lab = useBatchLab({ workers: false });
afterAll(endProcesses);

/** An order of a currency without a rule. */
function orderInWitness() {
  const input = orderInput('withdraw', newOrderId('policy'));
  return { ...input, order: { ...input.order, currency: 'eur' } };
}

/** What counts at the service now: everything that is not canceled. */
const sumAtService = (): number =>
  lab.sandbox
    .orders()
    .reduce(
      (sum, { order }) =>
        sum + (order.status === 'canceled' || order.currency_from !== 'usd' ? 0 : Number(order.expected_amount_from)),
      0,
    );

test(`${ORDERS} orders at once over two workers that are killed: the sum is never exceeded and never stuck`, async () => {
  const file = join(lab.folder, 'policy.json');
  await writeFile(file, JSON.stringify({ accounts: { default: [RULE] } }));
  await chmod(file, 0o600);
  const workers = await startKillableWorkers(lab, 2, { POLICY_FILE: file });
  // Its first order makes the policy read the account's earlier orders.
  const other = () => lab.orders.start('withdraw', orderInWitness());
  await (await other()).result();
  // Absence counts only beside later orders, of which a busy account has many.
  const busy = setInterval(() => void other().catch(() => undefined), 2_000);
  onTestFinished(() => clearInterval(busy));
  let highest = 0;
  const watching = setInterval(() => {
    highest = Math.max(highest, sumAtService());
  }, 20);
  const handles = await Promise.all(
    Array.from({ length: ORDERS }, (_, index) => {
      const marker = `after_ms=500 ${MARKERS[index % MARKERS.length] ?? ''}`;
      return lab.orders.start(
        'withdraw',
        orderInput('withdraw', newOrderId('policy'), { marker, compensation: 'report' }),
      );
    }),
  );
  await vi.waitUntil(() => sumAtService() > 0, { timeout: 60_000, interval: 20 });
  await workers.replaceOne();
  await sleep(2_000);
  await workers.replace();
  const standings = async () => {
    const { orders: all } = await lab.orders.list({ limit: 1_000 });
    const orders = all.filter(({ currencyFrom }) => currencyFrom === 'usd');
    const parked = orders.filter(({ attention }) => attention?.code === 'policy').length;
    // Two lost creates of one order cost its re-send: a person is asked, and it counts in full.
    const doubtful = orders.filter(({ attention }) => attention?.code === 'uncertain-create').length;
    return { parked, doubtful, ended: orders.filter(({ closedAt }) => closedAt).length };
  };
  await vi.waitFor(
    async () => {
      const { parked, doubtful, ended } = await standings();
      process.stdout.write(
        `${parked} wait for a person, ${doubtful} are in doubt, ${ended} ended, the service has ${sumAtService()} usd\n`,
      );
      expect(parked + doubtful + ended).toBe(ORDERS);
    },
    { timeout: 400_000, interval: 5_000 },
  );
  clearInterval(watching);
  expect(highest).toBeLessThanOrEqual(MAX);
  const { parked, doubtful } = await standings();
  expect(parked).toBeGreaterThan(0);
  expect(Math.max(...Object.values(lab.sandbox.stats().executedByOrderId))).toBe(1);
  expect(handles).toHaveLength(ORDERS);

  // What canceled orders and creates without execution left is free for others, up to the sum.
  const room = (MAX - sumAtService()) / AMOUNT - doubtful;
  const more = await Promise.all(
    Array.from({ length: room + 1 }, () => lab.orders.start('withdraw', orderInput('withdraw', newOrderId('room')))),
  );
  await vi.waitFor(
    async () => {
      const phases = await Promise.all(more.map(async (handle) => (await handle.state()).phase));
      expect(phases.filter((phase) => phase === 'done')).toHaveLength(room);
      expect(phases.filter((phase) => phase === 'parked')).toHaveLength(1);
    },
    { timeout: 60_000, interval: 1_000 },
  );
  expect(sumAtService() + doubtful * AMOUNT).toBe(MAX);
});
