import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import type { BatchHandle } from '../../src/client/batch/batch-handle.js';
import type { BatchResult } from '../../src/contract/batch/batch.js';
import { decimal, sum, toAmount } from '../../src/contract/money.js';
import { runSizes } from '../workflows/batch/batch-history.fixture.js';
import { executedOf, startRows, type TestRow, testRows } from '../workflows/batch/batches.fixture.js';
import { expectWithinLimit, say, usePacedLab } from './paced-lab.fixture.js';

const ROWS = 2_000;
/** Far enough apart that what one kill left uncertain is settled and sent again before the next one. */
const KILL_AT = [300, 1_000, 1_700];
const REQUESTS_PER_SECOND = 40;
const TEST_LIMIT_MS = 30 * 60_000;

const lab = usePacedLab(REQUESTS_PER_SECOND, {
  settings: { durationsMs: { execute: 2_000 } },
  env: { ORDER_SETTLE_WINDOW: '10s' },
});

/** Kills the workers as the rows are executed; resolves once all kills are done. */
async function killAsItGoes(rows: readonly TestRow[]): Promise<void> {
  for (const at of KILL_AT) {
    while (executedOf(lab, rows) < at) await sleep(250);
    await lab.workers.replace();
    say(`killed at ${executedOf(lab, rows)} executed rows`);
  }
}

describe(`${ROWS} rows, ${REQUESTS_PER_SECOND} requests a second, two workers killed three times`, () => {
  let rows: TestRow[];
  let batch: BatchHandle;
  let result: BatchResult;
  beforeAll(async () => {
    rows = testRows('row', ROWS);
    const begun = Date.now();
    batch = await startRows(lab, rows, { maxInFlight: 500 });
    await killAsItGoes(rows);
    result = await batch.result();
    say(`${ROWS} rows in ${((Date.now() - begun) / 1000).toFixed(0)} s`);
  }, TEST_LIMIT_MS);

  test('every row is executed exactly once', () => {
    expect(result.outcomes).toMatchObject({ completed: ROWS, notStarted: 0 });
    const { executedByOrderId } = lab.sandbox.stats();
    expect(rows.filter(({ id }) => executedByOrderId[id] !== 1)).toEqual([]);
    expect(Object.keys(executedByOrderId)).toHaveLength(ROWS);
  });

  test('report, result and the service agree on every row and amount', async () => {
    const lines = (await readFile(join(lab.folder, 'reports', result.report?.path ?? ''), 'utf8'))
      .trim()
      .split('\n')
      .slice(1);
    const reported = new Map(lines.map((line) => line.split(',')).map((cells) => [cells[1], cells]));
    const ours = new Set(rows.map(({ id }) => id));
    const orders = lab.sandbox.orders().filter(({ order }) => ours.has(order.user_order_id));
    expect(orders).toHaveLength(ROWS);
    for (const { order } of orders) {
      const cells = reported.get(order.user_order_id) ?? [];
      expect(cells.slice(2, 4)).toEqual([order.order_uuid, order.status]);
      expect(cells[7]).toBe(order.amount_to);
    }
    const paid = toAmount(sum(orders.map(({ order }) => decimal(order.amount_to ?? '0'))));
    expect(result.moved).toEqual({ usd: paid });
    expect((await batch.state()).progress.moved).toEqual({ usd: paid });
  });

  test('the service saw at most 40 requests a second over 60 s, and 50 over 5 s', () => {
    expectWithinLimit(lab, REQUESTS_PER_SECOND);
  });

  test('no run of the batch has more than 500 events or a payload above 100 KB', async () => {
    const sizes = await runSizes(lab.temporal.client, batch.workflowId);
    const [events, payload] = [sizes.map((size) => size.events), sizes.map((size) => size.largestPayload)];
    say(`${sizes.length} runs, at most ${Math.max(...events)} events, payloads up to ${Math.max(...payload)} bytes`);
    expect(Math.max(...events)).toBeLessThanOrEqual(500);
    expect(Math.max(...payload)).toBeLessThanOrEqual(100_000);
  });

  test('the same rows again execute nothing: same name, other names, at the same time, one row edited', {
    timeout: TEST_LIMIT_MS,
  }, async () => {
    const before = lab.sandbox.stats().createsByOrderId;
    const edited = rows.map((row, index) => (index === 41 ? { ...row, amount: '13.50' } : row));
    const same = await startRows(lab, rows, { batchId: batch.batchId, maxInFlight: 500 });
    const [other, third] = await Promise.all([startRows(lab, rows), startRows(lab, edited)]);
    expect((await same.result()).outcomes).toEqual(result.outcomes);
    expect((await other.result()).outcomes).toEqual(result.outcomes);
    expect((await third.result()).outcomes).toMatchObject({ completed: ROWS - 1, conflict: 1 });
    expect(lab.sandbox.stats().createsByOrderId).toEqual(before);
  });
});
