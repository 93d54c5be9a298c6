import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { disagreementOf, type Finding, type ReconcileResult } from '../../src/contract/reconcile/reconcile.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { endProcesses, peakMib } from '../worker/process.fixture.js';
import { type BatchLab, openBatchLab } from '../workflows/batch/batches.fixture.js';
import { type KillableWorkers, reconcileAttempts, startKillableWorkers } from './killable-workers.fixture.js';
import { say } from './paced-lab.fixture.js';

const ORDERS = Number(process.env.RECONCILE_ORDERS ?? 20_000);
const KILLS = Number(process.env.RECONCILE_KILLS ?? 2);
const HEAP_MIB = 512;
/** Orders that workflows of ours follow to their end, the youngest of all. */
const OURS = 20;
/** The report holds so many rows at most. */
const MAX_ROWS = 3_000;
/** Requests of a run with kills, by those of one without. */
const MOST_AGAIN = 1.3;
/** Of fewer orders the way down to the first window of a day is a large part of the list requests. */
const MANY = 100_000;
const DAY_MS = 86_400_000;
/** A killed worker costs at most the reading of a day. */
const DAYS = 10;
/** Orders of the last 28 h are looked up at Temporal one by one, which is another path than the list. */
const ENDED_MS_AGO = 2 * DAY_MS;
const MIN_MS = 60_000;
/** On a busy machine 200,000 take two minutes to make, and seven to read, beside the wait after each kill. */
const TEST_LIMIT_MS = 5 * MIN_MS + (ORDERS / 10_000) * 2 * MIN_MS;

/** What one reconciliation found and took. */
interface Ran {
  result: ReconcileResult;
  rows: Finding[];
  seconds: number;
  attempts: number | null | undefined;
  /** List requests for windows and for order ids, and how many ids these named. */
  windows: number;
  lookUps: number;
  ids: number;
  /** Orders that the heartbeat told of at each kill, and the peak memory of each worker process. */
  killedAt: number[];
  peaksMib: number[];
}

const lab = {} as BatchLab;
let workers: KillableWorkers;
let fromMs: number;

beforeAll(async () => {
  Object.assign(lab, await openBatchLab({ workers: false, sandbox: { settings: { requestsPerSecond: null } } }));
  const toMs = Date.now() - ENDED_MS_AGO;
  fromMs = toMs - DAYS * DAY_MS;
  await makePast({ count: ORDERS, fromMs, toMs });
  workers = await startKillableWorkers(lab, 1, { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` });
  await Promise.all(Array.from({ length: OURS }, payOne));
}, TEST_LIMIT_MS);
afterAll(async () => {
  await endProcesses();
  await lab.close?.();
});

async function makePast(past: { count: number; fromMs: number; toMs: number }): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${lab.sandbox.adminUrl}/past`, { method: 'POST', headers, body: JSON.stringify(past) });
  expect(await answer.json()).toEqual({ orders: past.count });
}

async function payOne(): Promise<void> {
  const input = orderInput('withdraw', newOrderId('ours'), { marker: 'after_ms=20' });
  await (await lab.orders.start('withdraw', input)).result();
}

/** Reconciles all there is; the worker is killed each time the heartbeat has got on by a good part of the orders. */
async function run(label: string, kills: number): Promise<Ran> {
  const [begunMs, before] = [Date.now(), lab.sandbox.requests().length];
  const [killedAt, peaksMib]: [number[], number[]] = [[], []];
  const notePeak = async () => peaksMib.push(Math.round(await peakMib(workers.pids()[0] ?? 0)));
  let killing = Promise.resolve();
  const kill = async () => {
    await notePeak();
    await workers.replace();
  };
  const result = await lab.orders.reconcile(
    { from: new Date(fromMs).toISOString() },
    {
      onState: ({ progress }) => {
        const seen = progress?.seen ?? 0;
        if (killedAt.length === kills || seen < (killedAt.at(-1) ?? 0) + ORDERS / (kills + 2)) return;
        killedAt.push(seen);
        killing = kill();
      },
    },
  );
  await killing;
  await notePeak();
  const seconds = Math.round((Date.now() - begunMs) / 1_000);
  const attempts = await reconcileAttempts(lab);
  const ran = { result, rows: await rowsOf(result), seconds, attempts, ...listsSince(before), killedAt, peaksMib };
  tell(label, ran);
  return ran;
}

async function rowsOf({ report }: ReconcileResult): Promise<Finding[]> {
  const text = await readFile(join(lab.folder, 'reports', report?.path ?? ''), 'utf8');
  return (JSON.parse(text) as { rows: Finding[] }).rows;
}

/** The list requests that came after so many requests of any kind. */
function listsSince(before: number): Pick<Ran, 'windows' | 'lookUps' | 'ids'> {
  const lists = lab.sandbox.requests().slice(before);
  const own = lists.filter(({ path }) => path === '/v2/order/list');
  const asked = own.flatMap(({ orderId, orderIds }) =>
    orderIds ? [orderIds] : orderId === undefined ? [] : [[orderId]],
  );
  // A further page shows that nothing follows: it looks up no id again.
  const firstPages = asked.filter((some, n) => some.join() !== asked[n - 1]?.join());
  const ids = firstPages.reduce((sum, some) => sum + some.length, 0);
  return { windows: own.length - asked.length, lookUps: asked.length, ids };
}

function tell(label: string, { result, seconds, attempts, windows, lookUps, ids, killedAt, peaksMib }: Ran): void {
  say(
    `${label}: ${result.seen} orders in ${seconds} s, killed at ${killedAt.join(' and ') || 'no'} orders, ` +
      `${attempts} attempts, ${windows} list requests for windows and ${lookUps} for ${ids} ids, ` +
      `peak resident ${peaksMib.join(', ')} MiB with ${HEAP_MIB} MiB of heap`,
  );
}

/** Every order of the service is counted, once: with its class, and with the changes that it made to the balance. */
function expectExact({ result, rows }: Ran): void {
  const { equal, foreign, ...others } = result.classes;
  expect({ equal, foreign, seen: result.seen }).toEqual({ equal: OURS, foreign: ORDERS, seen: ORDERS + OURS });
  expect(Object.values(others).filter((count) => count > 0)).toEqual([]);
  expect(disagreementOf(result)).toContain(`${ORDERS}`);
  expect(new Set(rows.map(({ order_uuid: uuid }) => uuid)).size).toBe(Math.min(ORDERS, MAX_ROWS));
  expect(rows.filter((row) => row.class !== 'foreign' || !row.order_id?.startsWith('past-'))).toEqual([]);
  const changes = lab.sandbox.orders().reduce((sum, { balance_changes: own }) => sum + own.length, 0);
  expect(result.chains).toMatchObject([{ currency: 'usd', changes, gaps: 0, balance: 'equal' }]);
  expect([result.gapCount, result.malformedCount]).toEqual([0, 0]);
}

describe(`${ORDERS} orders reconciled by a worker with ${HEAP_MIB} MiB of heap`, () => {
  let killed: Ran;
  let undisturbed: Ran;
  beforeAll(async () => {
    killed = await run(`${KILLS} kills`, KILLS);
    undisturbed = await run('undisturbed', 0);
  }, 2 * TEST_LIMIT_MS);

  test('every one is counted once, although the worker was killed in the middle', () => {
    expect(killed.killedAt).toHaveLength(KILLS);
    expectExact(killed);
  });

  test('no attempt but the killed ones failed: none ran out of memory', () => {
    expect([killed.attempts, undisturbed.attempts]).toEqual([KILLS + 1, 1]);
  });

  test('an undisturbed run says the same, and looks each order up once', () => {
    expectExact(undisturbed);
    expect(undisturbed.ids).toBe(ORDERS);
  });

  test('each attempt goes on where the one before it was: less than 1.3 look-ups an order', () => {
    expect(killed.ids).toBeLessThan(MOST_AGAIN * ORDERS);
  });

  test.runIf(ORDERS >= MANY)('list requests are less than 1.3 times those of a run that nobody killed', () => {
    const [disturbed = 0, calm = 0] = [killed, undisturbed].map(({ windows, lookUps }) => windows + lookUps);
    expect(disturbed).toBeLessThan(MOST_AGAIN * calm);
  });
});
