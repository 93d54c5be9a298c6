import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import { type Activities, createActivities, GroupedLookUps, SharedRates } from '../../../src/activities/index.js';
import { orderInputOf, readBatchSource } from '../../../src/batch-files/source.js';
import type { ReportBatchAnswer } from '../../../src/contract/batch/activities.js';
import type { BatchInput, BatchPlan } from '../../../src/contract/batch/batch.js';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import type { PaymentService } from '../../../src/payment-service/client.js';
import { Limiter } from '../../../src/payment-service/limiter.js';
import { cardNumber, newFolder } from '../../support/batch-files.js';
import { type Lab, openLab } from '../../support/lab.js';

const HEADER = 'order_id,currency,network,amount,wallet,description';

/** One row for each way a row can end; the marker decides. */
const LINES = {
  paid: `r-paid,usd,card,10,${cardNumber(1)},`,
  partly: `r-partly,usd,card,20,${cardNumber(2)},[sandbox outcome=completed_partially fraction=0.5]`,
  failed: `r-failed,usd,bank,30,account-3,[sandbox outcome=error]`,
  refused: `r-refused,usd,card,40,${cardNumber(4)},[sandbox create=400 times=all]`,
  conflict: `r-conflict,usd,card,50,${cardNumber(5)},`,
  parked: `r-parked,usd,card,70,${cardNumber(7)},[sandbox create=500-before times=all]`,
  open: `r-open,usd,card,80,${cardNumber(8)},[sandbox after_ms=900000]`,
  terminated: `r-terminated,usd,card,90,${cardNumber(9)},[sandbox after_ms=900000]`,
  foreign: `r-foreign,usd,card,95,${cardNumber(10)},`,
  before: `r-before,eur,sepa,100,DE89370400440532013000,`,
  missing: `r-missing,usd,card,60,${cardNumber(6)},"not, ""started"""`,
};

const BATCH = { batchId: 'b-1', startedBy: 'ann', compensation: 'report', resend: 'never' } as const;

let lab: Lab;
let activities: Activities;
let service: PaymentService;
const folders: { batchDir: string; reportDir: string } = { batchDir: '', reportDir: '' };

beforeAll(async () => {
  lab = await openLab();
  service = await serviceOf(lab.sandbox, { requestTimeoutMs: 5_000 });
  const account = {
    name: 'default',
    service,
    id: '',
    lookUps: new GroupedLookUps(service),
    rates: new SharedRates(() => service.rates()),
    limiter: new Limiter(),
  };
  const { pace } = lab.config;
  const deps = { accounts: new Map([['default', account]]), pace, confirmAttempt: async () => {} };
  activities = createActivities({ ...deps, directories: folders });
});
const removals: (() => void)[] = [];
const atEnd = (remove: () => void): number => removals.push(remove);
afterAll(async () => {
  for (const remove of removals) remove();
  await lab.close();
});

/** Runs an activity of a batch as one attempt, with a client as a worker would hand it over. */
const run = <T>(
  activity: (input: never) => Promise<T>,
  input: unknown,
  onHeartbeat?: (cancel: () => void) => void,
): Promise<T> => {
  const environment = new MockActivityEnvironment({}, { client: lab.temporal.client });
  environment.on('heartbeat', () => onHeartbeat?.(() => environment.cancel()));
  return environment.run(activity as (input: unknown) => Promise<T>, input);
};

/** Plans the lines as one file of a folder of its own. */
async function planned(lines: readonly string[], input: Partial<BatchInput> = {}) {
  folders.batchDir = newFolder(atEnd);
  folders.reportDir = newFolder(atEnd);
  writeFileSync(join(folders.batchDir, 'rows.csv'), `\uFEFF${[HEADER, ...lines].join('\r\n')}\r\n`);
  const whole: BatchInput = { ...BATCH, file: { path: 'rows.csv' }, ...input };
  return { input: whole, plan: await run<BatchPlan>(activities.planBatch, { account: 'default', input: whole }) };
}

const report = (
  batch: { input: BatchInput; plan: BatchPlan; taken: number },
  onHeartbeat?: (cancel: () => void) => void,
) => run<ReportBatchAnswer>(activities.reportBatch, { account: 'default', ...batch }, onHeartbeat);

/** Starts the order of each line as a batch does. */
async function start(lines: readonly string[], batch: BatchInput): Promise<void> {
  writeFileSync(join(folders.batchDir, 'start.csv'), [HEADER, ...lines].join('\n'));
  const source = await readBatchSource(folders, { file: { path: 'start.csv' } });
  for (const row of source.rows()) {
    await lab.orders.start('withdraw', orderInputOf(row, batch) as OrderInput<'withdraw'>);
  }
}

/** Somebody else's order under an id of ours. */
const foreignOrder = (order_id: string) =>
  service.createOrder('withdraw', {
    order_id,
    currency: 'usd',
    network: 'card',
    amount: '1000',
    wallet: cardNumber(99),
  });

const parkedOrders = async (): Promise<string[]> =>
  (await lab.orders.list({ status: 'parked' })).orders.map(({ orderId }) => orderId);

describe('the report of a batch', () => {
  let batch: { input: BatchInput; plan: BatchPlan; taken: number };
  let answer: ReportBatchAnswer;
  let reportDir: string;
  /** The name of one of its files: two files under one batch id have reports of their own. */
  const named = (ending: string): string => `default.b-1.${batch.plan.sha256.slice(0, 8)}.${ending}`;
  const read = (ending: string): string => readFileSync(join(reportDir, named(ending)), 'utf8');
  const rows = (): Record<string, string>[] => parse(read('report.csv'), { columns: true });

  beforeAll(async () => {
    // Stopped before its last row.
    batch = { ...(await planned(Object.values(LINES))), taken: Object.keys(LINES).length - 1 };
    reportDir = folders.reportDir;
    const { missing, conflict, before, ...others } = LINES;
    await foreignOrder('r-foreign');
    await start(Object.values(others), BATCH);
    await start([conflict.replace(',50,', ',51,')], BATCH);
    await start([before], { ...BATCH, batchId: 'an-earlier-one' });
    await lab.orders.order('r-terminated').created();
    await lab.temporal.client.workflow.getHandle('order:default:r-terminated').terminate('by a person');
    const ends = ['paid', 'partly', 'failed', 'refused', 'foreign', 'before'].map((name) =>
      lab.orders.order(`r-${name}`).result(),
    );
    await Promise.allSettled(ends);
    await vi.waitFor(async () => expect(await parkedOrders()).toEqual(['r-parked']), { timeout: 60_000 });
    answer = await report(batch);
  }, 120_000);

  test('counts every row once, whoever started it', () => {
    expect(answer.outcomes).toEqual({
      completed: 2,
      completed_partially: 1,
      canceled: 0,
      error: 1,
      refused: 1,
      conflict: 2,
      // Parked, still open, and terminated: all three are for a person to look after.
      parked: 3,
      notStarted: 1,
    });
    expect(answer.started).toBe(8);
    expect(answer.moved).toEqual({ eur: '99.65', usd: '20' });
  });

  test('has a line for each row, with order uuid, amounts, commission and reason', () => {
    const [paid, partly, failed, refused, conflict, parked, open, terminated, foreign, before, missing] = rows();
    expect(paid).toEqual({
      line: '2',
      order_id: 'r-paid',
      order_uuid: expect.stringMatching(/^[A-Za-z0-9-]+$/),
      outcome: 'completed',
      currency: 'usd',
      network: 'card',
      amount: '10',
      amount_to: '10',
      fee: '1.5',
      wallet: `****${cardNumber(1).slice(-4)}`,
      reason: '',
      reference: '',
    });
    expect(partly).toMatchObject({ outcome: 'completed_partially', amount_to: '10', reason: /10 usd unpaid/ });
    expect(failed).toMatchObject({ outcome: 'error', wallet: '****' });
    expect(refused).toMatchObject({ outcome: 'refused', order_uuid: '', reason: /OrderRejected/ });
    expect(conflict).toMatchObject({ outcome: 'conflict', amount_to: '', reason: /another order\.amount/ });
    expect(missing).toMatchObject({ line: '12', outcome: 'notStarted', order_uuid: '', reason: '' });
    expect(parked).toMatchObject({ outcome: 'parked', reason: expect.stringMatching(/\w/) });
    expect(open).toMatchObject({ outcome: 'open', order_uuid: expect.stringMatching(/\w/) });
    expect(foreign).toMatchObject({ outcome: 'conflict', order_uuid: '', reason: /OrderConflict/ });
    expect(terminated).toMatchObject({ outcome: 'unresolved', reason: /without a verdict/ });
    expect(before).toMatchObject({
      outcome: 'completed',
      currency: 'eur',
      amount: '100',
      amount_to: '99.65',
      fee: '0.35',
    });
  });

  test('is named with its hash, and shows no wallet in full', () => {
    expect(answer.report).toEqual({ path: named('report.csv'), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    for (const wallet of Object.values(LINES).map((line) => line.split(',')[4] ?? '')) {
      expect(read('report.csv')).not.toContain(wallet);
    }
  });

  test('leaves the rows that no order exists for as they were in the file, to be mended and sent again', async () => {
    expect(read('rejected.csv')).toBe(`${[HEADER, LINES.refused, LINES.missing].join('\n')}\n`);
    expect(statSync(join(reportDir, named('rejected.csv'))).mode & 0o777).toBe(0o600);
    const source = await readBatchSource({ batchDir: reportDir }, { file: { path: named('rejected.csv') } });
    expect(source.sha256).toBe(answer.rejected?.sha256);
  });

  test('is the same when it is written again', async () => {
    folders.reportDir = newFolder();
    expect(await report(batch)).toEqual(answer);
    expect(readdirSync(folders.reportDir).sort()).toEqual(['rejected.csv', 'report.csv'].map(named));
  });

  test('a row that was taken and is unknown to Temporal may be paid: it is for a person, never among the rejected', async () => {
    folders.reportDir = newFolder();
    const { outcomes, rejected } = await report({ ...batch, taken: batch.plan.rows });
    expect(outcomes).toEqual({ ...answer.outcomes, parked: 4, notStarted: 0 });
    const written = readFileSync(join(folders.reportDir, rejected?.path ?? ''), 'utf8');
    expect(written).toBe(`${HEADER}\n${LINES.refused}\n`);
    const [last] = parse(readFileSync(join(folders.reportDir, named('report.csv'))), { columns: true }).slice(-1);
    expect(last).toMatchObject({ order_id: 'r-missing', outcome: 'unresolved', reason: /may exist/ });
  });

  test('that is cancelled on the way leaves nothing behind', async () => {
    folders.reportDir = newFolder();
    await expect(report(batch, (cancel) => cancel())).rejects.toThrow(CancelledFailure);
    expect(readdirSync(folders.reportDir)).toEqual([]);
  });

  test('of a file that was changed since the plan fails for good', async () => {
    const path = join(folders.batchDir, 'rows.csv');
    const content = readFileSync(path);
    onTestFinished(() => writeFileSync(path, content));
    writeFileSync(path, `${content}\r\n`);
    await expect(report(batch)).rejects.toMatchObject({ type: 'BatchFileUnusable', nonRetryable: true });
  });
});

test('without a folder for reports the rows are counted all the same', async () => {
  const rows = [{ order_id: 'inline-1', currency: 'usd', network: 'card', amount: '10', wallet: cardNumber(21) }];
  const input: BatchInput = { ...BATCH, rows };
  const plan = await run<BatchPlan>(activities.planBatch, { account: 'default', input });
  const bare = { ...folders };
  Object.assign(folders, { reportDir: undefined });
  onTestFinished(() => {
    Object.assign(folders, bare);
  });
  expect(await report({ input, plan, taken: 0 })).toEqual({
    outcomes: expect.objectContaining({ notStarted: 1, completed: 0 }),
    moved: {},
    started: 0,
  });
});

test('rejected inline rows are written as NDJSON', async () => {
  folders.reportDir = newFolder();
  const rows = [{ order_id: 'inline-2', currency: 'usd', network: 'card', amount: '10', wallet: cardNumber(22) }];
  const input: BatchInput = { ...BATCH, batchId: 'b-2', rows };
  const plan = await run<BatchPlan>(activities.planBatch, { account: 'default', input });
  const { rejected } = await report({ input, plan, taken: 0 });
  const named = (ending: string): string => `default.b-2.${plan.sha256.slice(0, 8)}.${ending}`;
  expect(rejected?.path).toBe(named('rejected.ndjson'));
  expect(JSON.parse(readFileSync(join(folders.reportDir, named('rejected.ndjson')), 'utf8'))).toEqual(rows[0]);
  // A later run that rejects nothing leaves no file that somebody might send again.
  expect(await report({ input, plan, taken: 1 })).not.toHaveProperty('rejected');
  expect(readdirSync(folders.reportDir)).toEqual([named('report.csv')]);
});
