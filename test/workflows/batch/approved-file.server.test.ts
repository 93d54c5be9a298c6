import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { OrdersHash } from '../../../src/activities/batch/rows/reading.js';
import { createActivities } from '../../../src/activities/index.js';
import { readBatchSource } from '../../../src/batch-files/source.js';
import type { BatchHandle } from '../../../src/client/batch/batch-handle.js';
import { startBatch } from '../../../src/client/batch/start-batch.js';
import type { PlannedRows, SendBatchRowsAnswer, SendBatchRowsInput } from '../../../src/contract/batch/activities.js';
import { type BatchInput, type BatchProgress, NONE_ENDED } from '../../../src/contract/batch/batch.js';
import { cardNumber } from '../../support/batch-files.js';
import { newOrderId } from '../../support/lab.js';
import { mapFile } from '../../support/mapped-file.js';
import { untilPhase, untilState, useBatchLab } from './batches.fixture.js';

const lab = useBatchLab();

const [APPROVED, OTHER] = [cardNumber(1), cardNumber(2)];

/** Ten payouts of this amount to this card, of one second each; blanks spread them over several blocks of the file. */
const contentOf = (batchId: string, amount: string, wallet: string): string =>
  Array.from({ length: 10 }, (_, row) => {
    const order = { order_id: `${batchId}-${row}`, currency: 'usd', network: 'card', amount, wallet };
    return `${JSON.stringify({ ...order, description: '[sandbox after_ms=1000]' })}${' '.repeat(20_000)}\n`;
  }).join('');

/** What the service paid under the batch's ids: orders, and usd by card. */
function paidOf(batchId: string) {
  const orders = lab.sandbox.orders().filter(({ order }) => order.user_order_id.startsWith(`${batchId}-`));
  const to = (card: string) =>
    orders
      .filter(({ order }) => order.wallet_to === card)
      .reduce((total, { order }) => total + Number(order.amount_to), 0);
  return { orders: orders.length, approved: to(APPROVED), other: to(OTHER) };
}

/** Starts a batch of a file that rests and is mapped, and shows its plan to the approver. */
async function openApproval(label: string, options: Partial<BatchInput> = {}) {
  const batchId = newOrderId(label);
  const path = `${batchId}.ndjson`;
  await writeFile(join(lab.folder, path), contentOf(batchId, '50.00', APPROVED));
  const write = await mapFile(join(lab.folder, path));
  // Nothing changes it at the last moment, which might be looked for.
  await sleep(3_000);
  const input = { batchId, file: { path }, startedBy: 'ann', approval: 'required', ...options } as const;
  const batch = await startBatch(lab.temporal.client, input);
  const { plan } = await untilPhase(batch, 'awaitingApproval');
  expect(plan?.currencies).toMatchObject([{ currency: 'usd', total: '500' }]);
  const approve = () => batch.approve({ digest: plan?.digest ?? '', by: 'bob' });
  const [approved, changed] = [contentOf(batchId, '50.00', APPROVED), contentOf(batchId, '90.00', OTHER)];
  return { batch, approve, write, approved, changed };
}

/** Resolves with the state of a batch that paused by itself, or is through. */
const untilPaused = (batch: BatchHandle) => untilState(batch, ({ paused, phase }) => !!paused || phase === 'done');

const BY_ITSELF = { by: 'the batch itself', reason: expect.stringMatching(/changed/) };

test('a file that is changed through a shared mapping once its plan was shown pays nobody, until it is put back', async () => {
  const { batch, approve, write, approved, changed } = await openApproval('mapped');
  await write(changed);
  await approve();
  const { paused } = await untilPaused(batch);
  expect(paidOf(batch.batchId)).toEqual({ orders: 0, approved: 0, other: 0 });
  expect(paused).toMatchObject(BY_ITSELF);
  await write(approved);
  await batch.resume({ by: 'bob', reason: 'the file is what it was' });
  expect(await batch.result()).toMatchObject({ outcomes: { completed: 10 } });
  expect(paidOf(batch.batchId)).toEqual({ orders: 10, approved: 500, other: 0 });
});

test('a file whose second half is changed while its first is sent pays the first one as approved, and no more', async () => {
  const { batch, approve, write, approved, changed } = await openApproval('halves', { maxInFlight: 1 });
  await approve();
  await untilState(batch, ({ progress }) => progress.started > 0);
  const half = approved.length / 2;
  await write(approved.slice(0, half) + changed.slice(half));
  const { paused } = await untilPaused(batch);
  expect(paidOf(batch.batchId).other).toBe(0);
  expect(paused).toMatchObject(BY_ITSELF);
  await batch.stop({ by: 'bob', reason: 'the file was changed' });
  await batch.result();
  const paid = paidOf(batch.batchId);
  expect(paid).toEqual({ orders: paid.orders, approved: 50 * paid.orders, other: 0 });
  expect(paid.orders).toBeGreaterThan(0);
  expect(paid.orders).toBeLessThan(10);
});

/** A batch's activity on a file of ten rows, at most two of them at a time, under the plan that somebody approved. */
async function openSender(label: string) {
  const batchId = newOrderId(label);
  const file = { path: `${batchId}.ndjson` };
  await writeFile(join(lab.folder, file.path), contentOf(batchId, '50.00', APPROVED));
  const directories = { batchDir: lab.folder };
  const source = await readBatchSource(directories, { file });
  const orders = new OrdersHash();
  for (const row of source.rows()) orders.add(row);
  const approved: PlannedRows = { sha256: source.sha256, rows: 10, orders: orders.hex, totals: { usd: '500' } };
  const { pace } = lab.config;
  const { sendBatchRows } = createActivities({
    accounts: new Map(),
    pace,
    confirmAttempt: async () => {},
    directories,
  });
  const environment = new MockActivityEnvironment({}, { client: lab.temporal.client });
  const knownRun = environment.context.info.workflowExecution?.runId ?? '';
  const send = (plan: Partial<PlannedRows>, progress: BatchProgress = NONE): Promise<SendBatchRowsAnswer> => {
    const chunk: SendBatchRowsInput = {
      account: 'default',
      input: { batchId, file, startedBy: 'ann', maxInFlight: 2 },
      plan: { ...approved, ...plan },
      startedAt: new Date().toISOString(),
      progress: structuredClone(progress),
      mode: 'send',
      durationMs: 20_000,
      knownRun,
    };
    return environment.run(sendBatchRows, chunk);
  };
  return { batchId, send };
}

const NONE: BatchProgress = {
  taken: 0,
  started: 0,
  open: [],
  outcomes: { ...NONE_ENDED },
  moved: {},
  unsettled: [],
  exhausted: false,
};

test('rows that come to more than their plan are not started, whatever their file says, and not after a resume either', async () => {
  const { batchId, send } = await openSender('beyond');
  const totals = { usd: '120' };
  const { progress, pause } = await send({ totals });
  expect(paidOf(batchId)).toMatchObject({ orders: 2, other: 0 });
  expect(pause).toMatch(/^rows 3 to \d would make \d+ usd, the plan has 120;/);
  expect(progress).toMatchObject({ taken: 2, asked: { usd: '100' } });
  expect((await send({ totals }, progress)).pause).toMatch(/^rows 3 to \d would make \d+ usd/);
  expect(paidOf(batchId)).toMatchObject({ orders: 2 });
});

test('rows that a worker of another version read otherwise in the same bytes are not started', async () => {
  const { batchId, send } = await openSender('otherwise');
  const why = /reads its rows otherwise than the one that planned them/;
  await expect(send({ orders: 'f'.repeat(64) })).rejects.toMatchObject({
    type: 'BatchFileUnusable',
    message: expect.stringMatching(why),
  });
  expect(paidOf(batchId)).toMatchObject({ orders: 0 });
});
