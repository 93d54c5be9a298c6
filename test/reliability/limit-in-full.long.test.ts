import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import type { BatchResult } from '../../src/contract/batch/batch.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { executedOf, startRows, testRows } from '../workflows/batch/batches.fixture.js';
import { busiest, say, usePacedLab } from './paced-lab.fixture.js';

const ROWS = Number(process.env.LIMIT_ROWS ?? 40);
const REQUESTS_PER_SECOND = 8;
const TEST_LIMIT_MS = 10 * 60_000;
/** The second worker has noticed the first one by then, and the first one it. */
const NOTICED_MS = 12_000;

// The service's own limit is off: what is held here is what the workers send, not what they are refused.
const lab = usePacedLab(REQUESTS_PER_SECOND, { settings: { requestsPerSecond: null } });

/** Until the list has shown enough orders, rows are probed for one by one, and the first of them wait for their shares. */
const STARTING = { requests: 50, seconds: 15 };
const REQUESTS_PER_ROW = 1.3;
/** Of the limit, in rows a second. */
const ROWS_SHARE = 0.62;
const SINGLE_MS = 5_000;

interface Ran {
  result: BatchResult;
  requests: number;
  seconds: number;
  singleMs: number;
}

async function run(label: string, meanwhile: (isOver: () => boolean) => Promise<void>): Promise<Ran> {
  const rows = testRows(label, ROWS);
  const before = lab.sandbox.requests().length;
  const begunMs = Date.now();
  const batch = await startRows(lab, rows, { maxInFlight: ROWS });
  let isOver = false;
  const ended = batch.result().finally(() => {
    isOver = true;
  });
  const [result, singleMs] = await Promise.all([ended, single(), meanwhile(() => isOver)]);
  const seconds = (Date.now() - begunMs) / 1_000;
  const requests = lab.sandbox.requests().length - before;
  expect(executedOf(lab, rows)).toBe(ROWS);
  const [worst, perSecond, perRow] = [busiest(lab, 5_000), ROWS / seconds, requests / ROWS];
  say(
    `${label}: ${perSecond.toFixed(2)} rows/s, ${perRow.toFixed(2)} requests a row, single ${singleMs} ms, at most ${worst} in 5 s`,
  );
  return { result, requests, seconds, singleMs };
}

/** From the start of a single order in the middle of the batch to the answer of its create, in ms. */
async function single(): Promise<number> {
  await sleep(8_000);
  const begunMs = Date.now();
  await (await lab.orders.start('withdraw', orderInput('withdraw', newOrderId('single-order')))).created();
  return Date.now() - begunMs;
}

describe(`${ROWS} rows at ${REQUESTS_PER_SECOND} requests a second that two workers share`, () => {
  let ran: Ran;
  beforeAll(async () => {
    await sleep(NOTICED_MS);
    ran = await run('shared', async () => undefined);
  }, TEST_LIMIT_MS);

  test('all of them are paid', () => {
    expect(ran.result.outcomes).toMatchObject({ completed: ROWS, notStarted: 0 });
  });

  test(`a row costs ${REQUESTS_PER_ROW} requests, so that most of the limit is creates`, () => {
    expect(ran.requests).toBeLessThanOrEqual(REQUESTS_PER_ROW * ROWS + STARTING.requests);
    expect(ran.seconds).toBeLessThanOrEqual(ROWS / (ROWS_SHARE * REQUESTS_PER_SECOND) + STARTING.seconds);
  });

  test('a single order does not wait for them', () => {
    expect(ran.singleMs).toBeLessThanOrEqual(SINGLE_MS);
  });
});

describe('one of two workers is killed and started again', () => {
  test('all rows are paid once, whatever the workers know of each other', { timeout: TEST_LIMIT_MS }, async () => {
    const { result } = await run('killed', async (isOver) => {
      await sleep(5_000);
      await lab.workers.replaceOne();
      // What the killed worker held goes on behind later orders, whose ids are no shorter.
      while (!isOver()) await single();
    });
    expect(result.outcomes).toMatchObject({ completed: ROWS, notStarted: 0 });
  });
});

test('the service never sees more than 1.05 times the limit over 5 s', () => {
  expect(busiest(lab, 5_000)).toBeLessThanOrEqual(REQUESTS_PER_SECOND * 5 * 1.05);
});
