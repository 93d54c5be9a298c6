import { beforeAll, describe, expect, test } from 'vitest';
import type { BatchResult } from '../../src/contract/batch/batch.js';
import { queueLimits } from '../../src/worker/accounts.js';
import { executedOf, startRows, testRows } from '../workflows/batch/batches.fixture.js';
import { expectWithinLimit, say, usePacedLab } from './paced-lab.fixture.js';

const ROWS = 150;
/** A fraction of what two workers on one machine could ask for: what holds the pace is the limit. */
const REQUESTS_PER_SECOND = 8;
const TEST_LIMIT_MS = 10 * 60_000;

const lab = usePacedLab(REQUESTS_PER_SECOND);

describe(`${ROWS} rows at ${REQUESTS_PER_SECOND} requests a second that two workers share`, () => {
  let result: BatchResult;
  let seconds: number;
  beforeAll(async () => {
    const rows = testRows('paced', ROWS);
    const begunMs = Date.now();
    result = await (await startRows(lab, rows, { maxInFlight: ROWS })).result();
    seconds = (Date.now() - begunMs) / 1_000;
    expect(executedOf(lab, rows)).toBe(ROWS);
  }, TEST_LIMIT_MS);

  test('all of them are paid', () => {
    expect(result.outcomes).toMatchObject({ completed: ROWS, notStarted: 0 });
  });

  test('the limit is what holds the pace: creates use the share of it that their queue has', () => {
    const creates = lab.sandbox
      .requests()
      .flatMap(({ path, atMs }) => (path.endsWith('/order/withdraw') ? [atMs] : []));
    const perSecond = (creates.length - 1) / (((creates.at(-1) ?? 0) - (creates[0] ?? 0)) / 1_000);
    say(`${ROWS} rows in ${seconds.toFixed(0)} s, ${perSecond.toFixed(2)} creates a second`);
    const limits = queueLimits(REQUESTS_PER_SECOND).create;
    const share = 'maxTaskQueueActivitiesPerSecond' in limits ? limits.maxTaskQueueActivitiesPerSecond : 0;
    expect(perSecond).toBeGreaterThan(share * 0.8);
    expect(perSecond).toBeLessThan(share * 1.2);
  });

  test('the service sees at most the limit over any 60 s, and 1.25 times the limit over any 5 s', () => {
    expectWithinLimit(lab, REQUESTS_PER_SECOND);
  });
});
