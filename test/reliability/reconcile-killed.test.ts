import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { disagreementOf, type ReconcileResult } from '../../src/contract/reconcile/reconcile.js';
import {
  creditedByService,
  creditedByUs,
  followers,
  type LostReceipts,
  loseHalf,
} from '../activities/reconcile/lost-receipts.fixture.js';
import { endProcesses } from '../worker/process.fixture.js';
import { type BatchLab, openBatchLab } from '../workflows/batch/batches.fixture.js';
import { type KillableWorkers, reconcileAttempts, startKillableWorkers } from './killable-workers.fixture.js';
import { type Line, openLine } from './line.fixture.js';

const ORDER_LIST = '/v2/order/list';
const FEW = 40;
/** The half of them takes seconds to follow, so that a kill comes when some are followed. */
const MANY = 160;
/** Few enough for all callbacks to start their followers within a minute. */
const RECEIPTS_PER_ADDRESS = 10;
/** Followers that a killed attempt has started at least. */
const STARTED = 10;

// What a killed worker had in hand is given up after 30 s (reconciliation) or 45 s (look-ups).
vi.setConfig({ testTimeout: 240_000 });

const labs: BatchLab[] = [];
const lines: Line[] = [];
afterEach(endProcesses);
afterAll(async () => {
  for (const line of lines) await line.close();
  for (const lab of labs) await lab.close();
});

/** A lab without workers, in which half of the receipts are followed to their end and nobody knows of the others. */
async function openLabWithLosses(count: number): Promise<{ lab: BatchLab; receipts: LostReceipts }> {
  const lab = await openBatchLab();
  labs.push(lab);
  const receipts = await loseHalf(lab, { addresses: count / RECEIPTS_PER_ADDRESS, receipts: count });
  await Promise.all(heard(receipts).map((uuid) => lab.orders.received(uuid).result()));
  await lab.stopWorkers();
  return { lab, receipts };
}

/** Receipts alternate between addresses whose callbacks come and those whose callbacks are lost. */
const heard = ({ orderUuids }: LostReceipts): string[] => orderUuids.filter((_, n) => n % 2 === 0);

const startWorker = (lab: BatchLab, serviceUrl = lab.sandbox.url): Promise<KillableWorkers> =>
  startKillableWorkers(lab, 1, {
    PAYMENT_BASE_URL: serviceUrl,
    ORDER_POLL_INITIAL: '300ms',
    ORDER_POLL_MAX: '1s',
    ORDER_CONFIRM_DELAY: '100ms',
  });

/** What a result says, apart from the times of the run and its files. */
function said({ from: _from, to: _to, report: _report, chains, balances, ...rest }: ReconcileResult) {
  const amounts = balances?.map(({ at: _at, ...balance }) => balance);
  return { ...rest, balances: amounts, chains: chains.toSorted((a, b) => (a.currency < b.currency ? -1 : 1)) };
}

/** Every receipt is followed to its end by one run, and what was credited is what the service credited. */
async function expectAllFollowedOnce(lab: BatchLab, { orderUuids }: LostReceipts): Promise<void> {
  expect(await creditedByUs(lab, orderUuids)).toEqual(creditedByService(lab));
  expect(await followers(lab)).toBe(orderUuids.length);
  const again = await lab.orders.reconcile();
  expect(again.classes).toMatchObject({ equal: orderUuids.length, receiptFollowed: 0, woken: 0, open: 0 });
  expect(disagreementOf(again)).toBeUndefined();
}

describe('a worker killed in the middle of a reconciliation', () => {
  test('while it reads the list: the next one ends it with the result of one that nobody killed', async () => {
    const [killed, undisturbed] = await Promise.all([openLabWithLosses(FEW), openLabWithLosses(FEW)]);
    const line = await openLine(killed.lab.sandbox.url, { path: ORDER_LIST, keep: true });
    lines.push(line);
    const [worker] = await Promise.all([startWorker(killed.lab, line.url), startWorker(undisturbed.lab)]);
    const pending = killed.lab.orders.reconcile();
    const expected = await undisturbed.lab.orders.reconcile();
    await line.reached;
    await worker.replace();
    const result = await pending;

    expect(await reconcileAttempts(killed.lab)).toBe(2);
    expect(said(result)).toEqual(said(expected));
    expect(result.classes).toMatchObject({ receiptFollowed: FEW / 2, equal: FEW / 2 });
    expect(await readdir(join(killed.lab.folder, 'reports'))).toHaveLength(2);
    await expectAllFollowedOnce(killed.lab, killed.receipts);
  });

  test('while it starts followers: the next one starts only those that lack', async () => {
    const { lab, receipts } = await openLabWithLosses(MANY);
    const worker = await startWorker(lab);
    const pending = lab.orders.reconcile();
    const followedBefore = MANY - receipts.lost;
    await vi.waitUntil(async () => (await followers(lab)) >= followedBefore + STARTED, {
      timeout: 60_000,
      interval: 10,
    });
    await worker.replace();
    const followedAtKill = await followers(lab);
    const result = await pending;

    expect(await reconcileAttempts(lab)).toBe(2);
    expect(followedAtKill).toBeLessThan(MANY);
    expect(disagreementOf(result)).toBeUndefined();
    const { receiptFollowed, equal, open, woken, ...others } = result.classes;
    // Temporal's list, which counted them, lags behind the last starts of the killed worker.
    expect(equal + open + woken - followedAtKill).toBeOneOf([0, 1, 2, 3, 4]);
    expect(receiptFollowed + equal + open + woken).toBe(MANY);
    expect(Object.values(others).every((count) => count === 0)).toBe(true);
    expect(result.seen).toBe(MANY);
    await expectAllFollowedOnce(lab, receipts);
  });
});
