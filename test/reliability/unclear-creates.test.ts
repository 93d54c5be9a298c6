import { expect, test } from 'vitest';
import { searchAttribute } from '../../src/contract/names.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';

const ORDERS = 600;
/** Starts of the 600 are spread over this long. */
const SPREAD_MS = 60_000;
const WINDOW_MS = 60_000;

const lab = useLab({
  groups: true,
  quiet: true,
  workflowThread: true,
  sandbox: { settings: { duplicateMode: 'c' } },
  pace: { pollInitialMs: 5_000, pollMaxMs: 30_000, settleWindowMs: { atOnce: WINDOW_MS, deposit: 15_000 } },
});

/** 6 % are executed and answered with 5xx, 3 % hang; the list shows all of them 3 s later. */
function markerOf(n: number): string {
  const create = n % 100 < 6 ? 'create=502-after ' : n % 100 < 9 ? 'create=no-answer ' : '';
  return `${create}list_lag_ms=3000`;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Orders that ask for a person, or asked for one before they ended. */
async function asked(): Promise<number> {
  const { name } = searchAttribute.attentionReason;
  const query = `${name} IS NOT NULL`;
  return (await lab.temporal.client.workflow.count(query)).count;
}

test('600 orders, 6 % with 5xx after execution, 3 % hanging, a list 3 s behind: nobody is asked, each is executed once', async () => {
  const ids = Array.from({ length: ORDERS }, () => newOrderId('unclear'));
  const began = Date.now();
  const ends = ids.map(async (id, n) => {
    await pause((n * SPREAD_MS) / ORDERS);
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', id, { marker: markerOf(n) }));
    return (await handle.result()).outcome;
  });
  const all = Promise.all(ends);
  let isOver = false;
  void all.finally(() => {
    isOver = true;
  });
  let most = 0;
  while (!isOver) {
    most = Math.max(most, await asked());
    await pause(500);
  }
  expect(await all).toEqual(ids.map(() => 'completed'));
  expect(most).toBe(0);
  const { executedByOrderId } = lab.sandbox.stats();
  expect(ids.filter((id) => executedByOrderId[id] !== 1)).toEqual([]);
  const events = await Promise.all(ids.slice(50, 60).map((id) => lab.events(id)));
  const perOrder = lab.sandbox.requests().length / ORDERS;
  process.stdout.write(
    `${ORDERS} orders in ${Math.round((Date.now() - began) / 1_000)} s, 0 asked, ` +
      `at most ${Math.max(...events)} events and on average ${perOrder.toFixed(2)} requests an order\n`,
  );
  expect(Math.max(...events)).toBeLessThanOrEqual(28);
});
