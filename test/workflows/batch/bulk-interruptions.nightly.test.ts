import { describe, expect, test } from 'vitest';
import { startBatch } from '../../../src/client/batch/start-batch.js';
import type { BatchApproval, BatchInput, BatchInstruction } from '../../../src/contract/batch/batch.js';
import { searchAttribute } from '../../../src/contract/names.js';
import { executedOf, startRows, testRows, untilPhase, untilState, useBatchLab } from './batches.fixture.js';

const lab = useBatchLab();

const BOB = { by: 'Bob', reason: 'a call from the bank' };
/** Slow enough to be interrupted. */
const SLOW = () => 'after_ms=100';

const needsAttention = async (workflowId: string): Promise<boolean | undefined> =>
  (await lab.temporal.client.workflow.getHandle(workflowId).describe()).typedSearchAttributes.get(
    searchAttribute.needsAttention,
  );

describe.concurrent('a batch that asks for approval', () => {
  const start = (label: string, options: Partial<BatchInput> = {}) => {
    const rows = testRows(label, 4);
    return startRows(lab, rows, { approval: 'required', ...options }).then((batch) => ({ rows, batch }));
  };

  test('sends nothing before, says what it waits for, and all of it after', async () => {
    const { rows, batch } = await start('approved');
    const { plan, attention, waitingFor } = await untilPhase(batch, 'awaitingApproval');
    expect({ attention, waitingFor }).toEqual({
      attention: 'its plan waits for an approval',
      waitingFor: 'an approval',
    });
    expect(await needsAttention(batch.workflowId)).toBe(true);
    expect(executedOf(lab, rows)).toBe(0);
    await batch.approve({ digest: plan?.digest ?? '', by: 'Bob' });
    expect((await batch.result()).outcomes.completed).toBe(4);
    expect((await batch.state()).approvedBy).toBe('Bob');
    expect(await needsAttention(batch.workflowId)).toBe(false);
  });

  test('refuses approvals that do not count, and says why', async () => {
    const { batch } = await start('unapproved');
    const { plan } = await untilPhase(batch, 'awaitingApproval');
    const digest = plan?.digest ?? '';
    const refused: [BatchApproval, RegExp][] = [
      [{ digest: 'f'.repeat(64), by: 'Bob' }, /digest: is not that of the plan/],
      [{ digest, by: 'ann' }, /somebody else must approve/],
      [{ digest, by: ' ANN ' }, /somebody else must approve/],
      [{ digest, by: 'ａｎｎ' }, /somebody else must approve/],
      [{ digest, by: '' }, /by: required/],
      [{ digest, by: 7 } as unknown as BatchApproval, /by: required/],
      [null as unknown as BatchApproval, /by: required/],
    ];
    for (const [approval, why] of refused) await expect(batch.approve(approval)).rejects.toThrow(why);
    await expect(batch.pause(BOB)).rejects.toThrow(/waits for an approval/);
    await batch.stop(BOB);
    expect(await batch.result()).toMatchObject({ started: 0, stopped: BOB, outcomes: { notStarted: 4 } });
  });

  test('takes no approval once it sends', async () => {
    const { batch } = await start('late');
    const { plan } = await untilPhase(batch, 'awaitingApproval');
    const approval = { digest: plan?.digest ?? '', by: 'Bob' };
    await batch.approve(approval);
    await expect(batch.approve(approval)).rejects.toThrow(/waits for no approval|has ended/);
    await batch.result();
  });
});

describe.concurrent('a batch that is interrupted', () => {
  test('by pause: sends nothing new within 2 s, and the rest after resume', async () => {
    const rows = testRows('paused', 9, SLOW);
    const batch = await startRows(lab, rows, { maxInFlight: 3 });
    await untilState(batch, ({ progress }) => progress.started >= 3);
    await batch.pause(BOB);
    const pausedAtMs = Date.now();
    await untilPhase(batch, 'paused');
    const { progress, paused } = await untilState(batch, (state) => state.progress.open.length === 0);
    expect(paused).toMatchObject(BOB);
    expect(executedOf(lab, rows)).toBe(progress.started);
    expect(progress.started).toBeLessThan(9);
    const starts = (await lab.orders.list({ batchId: batch.batchId })).orders.map(({ startedAt }) =>
      startedAt.getTime(),
    );
    expect(Math.max(...starts)).toBeLessThan(pausedAtMs + 2_000);
    await batch.resume({ by: 'Bob', reason: 'all is well' });
    expect((await batch.result()).outcomes).toMatchObject({ completed: 9, notStarted: 0 });
    expect(executedOf(lab, rows)).toBe(9);
  });

  test.for([
    ['stop', 'Bob'],
    ['cancel', 'a cancel request'],
  ] as const)('by %s: follows what was started to its end and sends nothing more', async ([how, by]) => {
    const rows = testRows(`by-${how}`, 12, SLOW);
    const batch = await startRows(lab, rows, { maxInFlight: 2 });
    await untilState(batch, ({ progress }) => progress.started >= 2);
    if (how === 'stop') await batch.stop(BOB);
    else await lab.temporal.client.workflow.getHandle(batch.workflowId).cancel();
    const { started, outcomes, stopped } = await batch.result();
    expect(stopped?.by).toBe(by);
    expect(outcomes).toMatchObject({ completed: started, notStarted: 12 - started });
    expect(started).toBeLessThan(12);
    expect(executedOf(lab, rows)).toBe(started);
  });

  test('refuses what makes no sense, and says why', async () => {
    const batch = await startRows(lab, testRows('refusing', 12, SLOW), { maxInFlight: 1 });
    await untilPhase(batch, 'sending');
    await expect(batch.resume(BOB)).rejects.toThrow(/is not paused/);
    for (const [order, why] of [
      [{ by: 'Bob', reason: ' ' }, /reason: required/],
      [{ by: 'Bob', reason: 'x'.repeat(501) }, /reason: longer/],
      [{ by: 'Bob\u0007', reason: 'bell' }, /by: contains control characters/],
      [{ by: 'The batch itself', reason: 'a lie' }, /by: is not a person/],
      [undefined as unknown as BatchInstruction, /by: required/],
    ] as const) {
      await expect(batch.pause(order)).rejects.toThrow(why);
    }
    await batch.pause(BOB);
    await expect(batch.pause(BOB)).rejects.toThrow(/paused already/);
    await batch.stop(BOB);
    await expect(batch.stop(BOB)).rejects.toThrow(/nothing is left to be stopped|has ended/);
    await expect(batch.resume(BOB)).rejects.toThrow(/not paused|has ended/);
    await batch.result();
  });
});

describe.concurrent('a batch that stops by itself', () => {
  test('after failures', async () => {
    const why = /3 rows ended|4 rows ended/;
    const rows = testRows('halted', 50, (row) => (row < 5 ? 'outcome=error' : 'after_ms=200'));
    const options = { compensation: 'report', maxInFlight: 10, stopAfter: { failures: 3 } } as const;
    const batch = await startRows(lab, rows, options);
    const { stopped, outcomes, started } = await batch.result();
    expect(stopped).toMatchObject({ by: 'the batch itself', reason: expect.stringMatching(why) });
    expect(outcomes.notStarted).toBe(50 - started);
    expect(started).toBeLessThan(50);
    expect((await batch.state()).attention).toMatch(why);
    expect(await needsAttention(batch.workflowId)).toBe(true);
  });
});

describe.concurrent('a batch with neighbouring uncertain rows', () => {
  const start = (label: string, marker: string) => {
    const rows = testRows(label, 30, (row) => (row > 1 && row < 5 ? marker : 'after_ms=200'));
    return startRows(lab, rows, { maxInFlight: 5 }).then((batch) => ({ rows, batch }));
  };

  test('sends one row at a time while they are parked, says so, and ends by itself', async () => {
    const { rows, batch } = await start('parked', 'create=503-before times=9');
    const says = /one row at a time: (rows \d to \d|all 5 open rows) are uncertain/;
    const state = await untilState(batch, ({ waitingFor }) => says.test(waitingFor));
    expect(state.attention).toBeUndefined();
    const { stopped, outcomes, started } = await batch.result();
    expect({ stopped, started }).toEqual({ stopped: undefined, started: 30 });
    expect(outcomes).toMatchObject({ completed: 27, parked: 3, notStarted: 0 });
    expect(executedOf(lab, rows)).toBe(27);
  });

  test('goes on by itself once they are settled', async () => {
    const { rows, batch } = await start('held', 'create=503-after status=503 status_times=3 list=503 list_times=3');
    await untilState(batch, ({ progress }) => progress.first !== undefined);
    expect((await batch.result()).outcomes).toMatchObject({ completed: 30, parked: 0, notStarted: 0 });
    expect(executedOf(lab, rows)).toBe(30);
    expect(await needsAttention(batch.workflowId)).toBe(false);
  });

  test('pauses if six rows that go one at a time get no clear answer either; resume sends the rest', async () => {
    const rows = testRows('all', 30, (row) => (row <= 20 ? 'create=503-before times=9' : 'after_ms=200'));
    const batch = await startRows(lab, rows, { maxInFlight: 5 });
    const { paused, attention, progress } = await untilPhase(batch, 'paused');
    const why = /uncertain.*, and 6 rows that were sent one at a time since got no clear answer either; check them/;
    expect(paused).toMatchObject({ by: 'the batch itself', reason: expect.stringMatching(why) });
    expect(attention).toMatch(why);
    expect(await needsAttention(batch.workflowId)).toBe(true);
    expect(progress.started).toBeLessThan(30);
    await batch.resume(BOB);
    const { outcomes } = await batch.result();
    expect(outcomes).toMatchObject({ completed: 10, parked: 20, notStarted: 0 });
    expect(executedOf(lab, rows)).toBe(10);
  });
});

describe('a balance that does not cover the batch', () => {
  test('pauses it before the first row; resume sends it, and stop sends nothing', async () => {
    // In a currency that no other test of this file pays in.
    lab.sandbox.set({ balances: { eur: '20' } });
    const inline = (name: string) =>
      [1, 2].map((row) => ({
        order_id: `${name}-${row}`,
        currency: 'eur',
        network: 'sepa',
        amount: '15',
        wallet: 'DE89370400440532013000',
        wallet_details: { recipient_email: 'a@example.org', recipient_name: 'A' },
      }));
    const start = (name: string) =>
      startBatch(lab.temporal.client, { batchId: name, rows: inline(name), startedBy: 'ann' });
    const [resumed, stopped] = [await start('short-1'), await start('short-2')];
    const { paused, attention, sendingSince } = await untilPhase(resumed, 'paused');
    expect(paused).toMatchObject({ by: 'the batch itself', reason: expect.stringMatching(/eur are missing/) });
    expect({ attention, sendingSince }).toEqual({
      attention: expect.stringMatching(/paused by itself/),
      sendingSince: undefined,
    });
    await untilPhase(stopped, 'paused');
    await stopped.stop(BOB);
    expect(await stopped.result()).toMatchObject({ started: 0, outcomes: { notStarted: 2 } });
    // Somebody has decided.
    expect((await stopped.state()).attentionCode).toBeUndefined();
    expect(await needsAttention(stopped.workflowId)).toBe(false);
    lab.sandbox.set({ balances: { eur: '1000' } });
    await resumed.resume(BOB);
    expect((await resumed.result()).outcomes.completed).toBe(2);
  });
});
