import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyAudit } from '../../../src/audit/verify.js';
import { KEYS, testApprovers } from '../../support/approvers.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId } from '../../support/lab.js';
import { type BatchLab, executedOf, openBatchLab, startRows, testRows, untilPhase } from '../batch/batches.fixture.js';

let lab: BatchLab;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audited-decisions-'));
  lab = await openBatchLab({ limits: { approvers: testApprovers(), auditDir: folder } });
});
afterAll(async () => {
  await lab?.close();
  const found = await verifyAudit((await readdir(folder)).map((name) => join(folder, name)));
  await rm(folder, { recursive: true, force: true });
  expect(found.problems).toEqual([]);
  expect(found.files.flatMap(({ problems }) => problems)).toEqual([]);
});

const linesOf = async (workflowId: string): Promise<Record<string, unknown>[]> => {
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
  return texts
    .flatMap((text) => text.trim().split('\n'))
    .map((line) => JSON.parse(line))
    .filter((line) => line.workflowId === workflowId)
    .sort((a, b) => (a.at < b.at ? -1 : 1));
};

/** Runs `act` while nothing can be written. */
async function withoutFolder(act: () => Promise<void>): Promise<void> {
  await rename(folder, `${folder}.gone`);
  await writeFile(folder, '');
  try {
    await act();
  } finally {
    await rm(folder);
    await rename(`${folder}.gone`, folder);
  }
}

test('a decision is written before it counts, by whom, why and on what; unwritten it counts for nothing', async () => {
  const orderId = newOrderId('decided');
  const input = orderInput('withdraw', orderId, { marker: 'create=500-before', resend: 'never' });
  const handle = await lab.orders.start('withdraw', input);
  await expect.poll(async () => (await handle.state()).phase, { timeout: 60_000 }).toBe('parked');
  const { revision } = await handle.state();
  const decision = {
    action: 'resend',
    by: 'Ann Smith',
    reason: 'card 4111111111111111 of jane@example.com is proven unpaid',
    revision,
  } as const;
  await withoutFolder(async () => {
    await expect(handle.decide(decision, { signer: KEYS.ann })).rejects.toThrow(/audit record cannot be written/);
  });
  expect(await handle.state()).toMatchObject({ phase: 'parked', revision });
  await expect(handle.decide(decision, { signer: KEYS.zed })).rejects.toThrow('no person');
  await handle.decide(decision, { signer: KEYS.ann });
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  const lines = await linesOf(handle.workflowId);
  expect(lines.map(({ event }) => event)).toEqual(['send', 'decide', 'send']);
  expect(lines[1]).toMatchObject({
    choice: { action: 'resend', by: 'Ann Smith', reason: 'card **** of **** is proven unpaid', revision },
    keyId: expect.any(String),
    runId: expect.any(String),
  });
  expect(lines[2]).toMatchObject({ permission: 'absent' });
});

test('approvals, pauses, resumes and the stop of a batch are written; without its line no approval pays', async () => {
  const rows = testRows('audited', 4, () => 'after_ms=1500');
  const batch = await startRows(lab, rows, { approval: 'required', startedBy: 'zoe', maxInFlight: 1 });
  const { plan } = await untilPhase(batch, 'awaitingApproval');
  const digest = plan?.digest ?? '';
  await withoutFolder(async () => {
    const approved = batch.approve({ digest, by: 'Ann Smith' }, { signer: KEYS.ann });
    await expect(approved).rejects.toThrow(/audit record cannot be written/);
  });
  expect((await batch.state()).approvals).toBeUndefined();
  await batch.approve({ digest, by: 'Ann Smith' }, { signer: KEYS.ann });
  await batch.approve({ digest, by: 'Bob Jones' }, { signer: KEYS.bob });
  await untilPhase(batch, 'sending');
  await batch.pause({ by: 'anybody@example.com', reason: 'looks odd' });
  await untilPhase(batch, 'paused');
  await batch.resume({ by: 'Bob Jones', reason: 'it was not' }, { signer: KEYS.bob });
  await batch.stop({ by: 'Cid Low', reason: 'it was after all' });
  await batch.result();
  const lines = await linesOf(batch.workflowId);
  expect(lines).toMatchObject([
    { event: 'approve', choice: { by: 'Ann Smith', digest } },
    { event: 'approve', choice: { by: 'Bob Jones', digest } },
    {
      event: 'resume',
      choice: { by: 'Bob Jones', pausedAt: expect.stringMatching(/^2/) },
      paused: { by: 'anybody@example.com', reason: 'looks odd', at: expect.stringMatching(/^2/) },
    },
    { event: 'stop', choice: { by: 'Cid Low', reason: 'it was after all', at: expect.stringMatching(/^2/) } },
  ]);
  const sends = await Promise.all(rows.map(({ id }) => linesOf(`order:default:${id}`)));
  expect(sends.flat().length).toBeGreaterThanOrEqual(executedOf(lab, rows));
});
