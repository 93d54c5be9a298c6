import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { BatchHandle } from '../../../src/client/batch/batch-handle.js';
import { UnresolvedError } from '../../../src/client/errors.js';
import type { BatchInput, BatchResult, BatchState } from '../../../src/contract/batch/batch.js';
import { resetTo, resettableEvents, runOf, WITHOUT_UPDATES } from '../../reliability/reset.fixture.js';
import {
  executedOf,
  startRows,
  type TestRow,
  testRows,
  untilPhase,
  untilState,
  useBatchLab,
} from './batches.fixture.js';

// The batches wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 20 });

const lab = useBatchLab();

const BOB = { by: 'Bob', reason: 'a call from the bank' };

interface StartedBatch {
  rows: TestRow[];
  batch: BatchHandle;
}

/** A batch of 30 rows that was stopped with 3 of them paid, and has ended. */
async function stoppedAfterThree(options: Partial<BatchInput> = {}): Promise<StartedBatch> {
  const rows = testRows('stopped', 30, () => 'after_ms=15000');
  const batch = await startRows(lab, rows, { maxInFlight: 3, ...options });
  if (options.approval) await approve(batch);
  await untilState(batch, ({ progress }) => progress.started === 3);
  await batch.stop(BOB);
  expect(await batch.result()).toMatchObject(THREE_PAID);
  return { rows, batch };
}

async function approve(batch: BatchHandle): Promise<void> {
  const { plan } = await untilPhase(batch, 'awaitingApproval');
  await batch.approve({ digest: plan?.digest ?? '', by: 'Bob' });
}

const THREE_PAID = {
  started: 3,
  outcomes: { completed: 3, notStarted: 27 },
  moved: { usd: '37.5' },
  report: { path: expect.any(String) },
} as unknown as Partial<BatchResult>;

/** Resets the newest run to one of its resettable events, counted from its first (or, below 0, from its last). */
async function reset(batch: BatchHandle, index: number, exclude: number[] = []): Promise<void> {
  const run = await runOf(lab, batch);
  const eventId = (await resettableEvents(lab, run)).at(index);
  await resetTo(lab, run, eventId ?? '', exclude);
}

/** [where, which of the resettable events] */
const POINTS: [string, number][] = [
  ['before its plan', 0],
  ['after its plan', 1],
  ['behind its stop', -1],
];

describe.concurrent('a batch that was stopped with 3 of 30 rows paid is reset', () => {
  test.for(POINTS)('%s: the stop survives, and so does what was paid', async ([, index]) => {
    const { rows, batch } = await stoppedAfterThree();
    await reset(batch, index);
    expect(await batch.result()).toMatchObject({ ...THREE_PAID, stopped: BOB });
    expect(executedOf(lab, rows)).toBe(3);
  });

  test.for(POINTS.slice(0, 2))(
    '%s without its updates: it pauses by itself, and knows what was paid',
    async ([, index]) => {
      const { rows, batch } = await stoppedAfterThree();
      await reset(batch, index, WITHOUT_UPDATES);
      const { paused, attention, progress } = await untilPhase(batch, 'paused');
      expect(paused).toMatchObject({ by: 'the batch itself', reason: expect.stringMatching(/was reset/) });
      expect(attention).toMatch(/paused by itself: .*was reset/);
      expect(progress).toMatchObject({ taken: 3, asked: { usd: '37.5' }, started: 3, moved: { usd: '37.5' } });
      expect(progress.outcomes?.completed).toBe(3);
      expect(executedOf(lab, rows)).toBe(3);
      await batch.stop({ by: 'Cid', reason: 'as before' });
      expect(await batch.result()).toMatchObject({ ...THREE_PAID, stopped: { by: 'Cid' } });
      expect(executedOf(lab, rows)).toBe(3);
    },
  );

  test('before its approval, which nobody repeats: it ends with what was paid, not as if nothing had been sent', async () => {
    const { rows, batch } = await stoppedAfterThree({ approval: 'required', approvalExpiresMs: 5_000 });
    await reset(batch, 1, WITHOUT_UPDATES);
    expect(await batch.result()).toMatchObject({
      ...THREE_PAID,
      stopped: { reason: 'nobody approved the plan in time' },
    });
    expect(executedOf(lab, rows)).toBe(3);
  });

  test('with its file gone: it says that it does not know, and how to go on', async () => {
    const { batch } = await stoppedAfterThree();
    await rm(join(lab.folder, `${batch.batchId}.csv`));
    await reset(batch, 1);
    await expect(batch.result()).rejects.toThrow(/was reset, and no report was written.*with `again`/);
    await reset(batch, 0);
    const error = await batch.result().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnresolvedError);
    expect((error as Error).message).toMatch(/was reset, and its rows cannot be checked/);
  });
});

describe.concurrent('a batch that may pay all of its rows is reset', () => {
  const COMPLETED = { started: 12, outcomes: { completed: 12, notStarted: 0 }, moved: { usd: '150' } };

  test('in sending, after its approval: it pauses, follows what was started, and pays the rest after resume', async () => {
    const rows = testRows('sending', 12, () => 'after_ms=8000');
    const batch = await startRows(lab, rows, { maxInFlight: 3, approval: 'required' });
    await approve(batch);
    // The first chunk of rows ends.
    const behindApproval = async () => expect((await resettableEvents(lab, await runOf(lab, batch))).length).toBe(4);
    await vi.waitFor(behindApproval, 60_000);
    await reset(batch, 3, WITHOUT_UPDATES);
    await expect(batch.resume(BOB)).rejects.toThrow('is not paused');
    const { approvedBy, progress } = await untilState(batch, (state) => state.paused !== undefined);
    expect(approvedBy).toBe('Bob');
    expect(progress.taken).toBe(progress.started);
    await untilState(batch, (state) => state.progress.open.length === 0);
    expect(executedOf(lab, rows)).toBe(progress.started);
    expect(progress.started).toBeLessThan(12);
    await batch.resume(BOB);
    expect(await batch.result()).toMatchObject(COMPLETED);
    expect(executedOf(lab, rows)).toBe(12);
  });

  test('at its end, to each of its events: it comes to the same end by itself', async () => {
    const rows = testRows('ended', 12);
    const batch = await startRows(lab, rows);
    const { digest: _, plan: __, ...result } = await batch.result();
    const first = await runOf(lab, batch);
    for (const eventId of await resettableEvents(lab, first)) {
      await resetTo(lab, first, eventId);
      expect(await batch.result()).toMatchObject(result);
    }
    expect(result).toMatchObject(COMPLETED);
    expect(executedOf(lab, rows)).toBe(12);
  });

  test('a second time, behind a resume: the permission was for the first one', async () => {
    const rows = testRows('again', 30, () => 'after_ms=3000');
    const batch = await startRows(lab, rows, { maxInFlight: 3 });
    await untilState(batch, ({ progress }) => progress.started >= 3);
    await reset(batch, 1);
    await untilPhase(batch, 'paused');
    await batch.resume(BOB);
    await untilPhase(batch, 'sending');
    await vi.waitFor(() => expect(executedOf(lab, rows)).toBeGreaterThan(3), 60_000);
    await reset(batch, -1);
    // Until it has found the orders since the resume, it shows the pause before it.
    await untilState(batch, ({ paused, progress }) => paused !== undefined && progress.started > 3);
    await batch.stop(BOB);
    const { started, outcomes } = await batch.result();
    expect(outcomes).toMatchObject({ completed: started, notStarted: 30 - started });
    expect(executedOf(lab, rows)).toBe(started);
  });
});

/** Resumes the batch, as often as it is paused otherwise, until its state fits. */
async function resumedUntil(batch: BatchHandle, fits: (state: BatchState) => boolean): Promise<void> {
  const look = async () => {
    const state = await batch.state();
    if (fits(state)) return;
    if (state.paused) await batch.resume(BOB).catch(() => {});
    throw new Error(`is ${state.phase}, waiting for ${state.waitingFor}`);
  };
  await vi.waitFor(look, { timeout: 40_000, interval: 50 });
}

describe('a batch that went on in a second run and was stopped there', () => {
  test('is reset in its second run, or in its first: it pauses, also in the run that goes on from there', {
    timeout: 120_000,
  }, async () => {
    const rows = testRows('long', 200, () => 'after_ms=1500');
    const batch = await startRows(lab, rows, { maxInFlight: 1 });
    const first = await runOf(lab, batch);
    for (let cycle = 0; (await runOf(lab, batch)).runId === first.runId && cycle < 300; cycle += 1) {
      // Refused where too many come at once, which keeps the history short.
      await batch.pause({ by: 'bob', reason: `pause ${cycle}` }).catch(() => {});
      await batch.resume({ by: 'bob', reason: `resume ${cycle}` }).catch(() => {});
    }
    const { progress } = await batch.state();
    await resumedUntil(batch, (state) => state.progress.started > progress.started + 1);
    await batch.stop(BOB);
    const { outcomes, moved, started } = await batch.result();
    const { asked } = (await batch.state()).progress;
    expect(asked).toEqual({ usd: String(started * 12.5) });
    expect(executedOf(lab, rows)).toBe(started);
    const second = await runOf(lab, batch);
    for (const [run, index] of [
      [second, 0],
      [first, -1],
    ] as const) {
      await resetTo(lab, run, (await resettableEvents(lab, run)).at(index) ?? '', WITHOUT_UPDATES);
      // It may have been paused by a person at that event, and then says so once it is resumed.
      await resumedUntil(batch, ({ paused }) => paused?.reason.includes('was reset') === true);
      const { progress: found } = await untilState(batch, ({ progress: { open } }) => open.length === 0);
      expect(found).toMatchObject({ asked, started, moved });
      await batch.stop(BOB);
      expect(await batch.result()).toMatchObject({ started, moved, outcomes });
    }
    expect(executedOf(lab, rows)).toBe(started);
  });
});
