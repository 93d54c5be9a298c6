import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DevServer, startDevServer } from '../../../scripts/temporal/dev-server.js';
import { runSizes } from './batch-history.fixture.js';
import { type BatchLab, executedOf, openBatchLab, startRows, testRows } from './batches.fixture.js';

const ROWS = 20;
/** Far fewer than a batch allows itself: three chunks take as many. */
const SUGGESTED_FROM_EVENTS = 20;

let server: DevServer;
let lab: BatchLab;
beforeAll(async () => {
  const dynamicConfig = { 'limit.historyCount.suggestContinueAsNew': SUGGESTED_FROM_EVENTS };
  server = await startDevServer({ log: () => {}, dynamicConfig });
  lab = await openBatchLab({ temporalAddress: server.address });
}, 120_000);
afterAll(async () => {
  await lab?.close();
  await server?.stop();
});

describe('a batch whose server suggests soon to continue as new', () => {
  test('goes on in new runs at once, and every row is paid exactly once', { timeout: 240_000 }, async () => {
    const rows = testRows('continued', ROWS);
    const batch = await startRows(lab, rows, { maxInFlight: 1 });
    expect(await batch.result()).toMatchObject({
      started: ROWS,
      outcomes: { completed: ROWS, notStarted: 0 },
      moved: { usd: '250' },
    });
    const sizes = await runSizes(lab.temporal.client, batch.workflowId);
    expect(sizes.length).toBeGreaterThan(1);
    expect(Math.max(...sizes.map(({ events }) => events))).toBeLessThan(SUGGESTED_FROM_EVENTS * 3);
    expect(executedOf(lab, rows)).toBe(ROWS);
    expect(Object.values(lab.sandbox.stats().createsByOrderId)).toEqual(rows.map(() => 1));
  });
});
