import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type BatchLab, executedOf, openBatchLab, startRows, testRows } from './batches.fixture.js';

let lab: BatchLab;
beforeAll(async () => {
  lab = await openBatchLab();
});
afterAll(() => lab?.close());

/** By a little less than 5 s: the batch reckons from before a call is made, the test from when it is. */
const APART_MS = 4_900;

/** One call of the list, as the workers made it. */
interface ListCall {
  atMs: number;
  query: string;
}

/** Notes the calls of the workers' list until the test ends; `shows` false: the list answers that there is nothing. */
function watchList({ shows = true } = {}): ListCall[] {
  const calls: ListCall[] = [];
  const { workflowService } = lab.temporal.nativeConnection;
  const real = workflowService.listWorkflowExecutions;
  const noted = (request: { query?: string | null }) => {
    calls.push({ atMs: Date.now(), query: request.query ?? '' });
    return real.call(workflowService, { ...request, ...(!shows && { query: "WorkflowType = 'nothing'" }) });
  };
  workflowService.listWorkflowExecutions = noted as typeof real;
  onTestFinished(() => {
    workflowService.listWorkflowExecutions = real;
  });
  return calls;
}

const gapsOf = (calls: readonly ListCall[]): number[] =>
  calls.slice(1).map(({ atMs }, index) => atMs - (calls[index]?.atMs ?? 0));

describe('Temporal’s list', () => {
  test('is asked at most once in 5 s, for one account and what closed lately', { timeout: 180_000 }, async () => {
    const calls = watchList();
    const rows = testRows('listed', 60, (row) => (row % 10 === 0 ? 'after_ms=8000' : ''));
    const batch = await startRows(lab, rows, { maxInFlight: 8 });
    expect((await batch.result()).outcomes).toMatchObject({ completed: 60, notStarted: 0 });
    expect(executedOf(lab, rows)).toBe(60);
    expect(calls.length).toBeGreaterThan(1);
    expect(Math.min(...gapsOf(calls))).toBeGreaterThanOrEqual(APART_MS);
    for (const { query } of calls) {
      expect(query).toContain(`PaymentBatchId = '${batch.batchId}' AND WorkflowId STARTS_WITH 'order:default:'`);
      expect(query).toMatch(/CloseTime >= '\d{4}-/);
    }
    // What closed long before is not asked for again.
    const since = calls.map(({ query }) => Date.parse(/CloseTime >= '([^']+)'/.exec(query)?.[1] ?? ''));
    expect(since.at(-1)).toBeGreaterThan(since[0] ?? 0);
  });

  test('that shows nothing delays a batch and loses no row: a few are looked at in turn', {
    timeout: 180_000,
  }, async () => {
    const calls = watchList({ shows: false });
    const rows = testRows('hidden', 40);
    const batch = await startRows(lab, rows, { maxInFlight: 40 });
    expect((await batch.result()).outcomes).toMatchObject({ completed: 40, notStarted: 0 });
    expect(calls.length).toBeGreaterThan(0);
  });
});
