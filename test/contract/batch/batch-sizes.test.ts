import { describe, expect, test } from 'vitest';
import type { ReportBatchInput, SendBatchRowsInput } from '../../../src/contract/batch/activities.js';
import {
  type BatchPlan,
  type BatchProgress,
  type BatchResult,
  MAX_CURRENCIES,
  MAX_INLINE_BYTES,
  MAX_INLINE_ROWS,
  type OpenRow,
} from '../../../src/contract/batch/batch.js';
import { MAX_IN_FLIGHT } from '../../../src/validation/input-schemas.js';

const LIMIT = 100_000;

const openRows = (count: number): OpenRow[] =>
  Array.from({ length: count }, (_, index) => ({
    row: 999_000 + index,
    orderId: `${index}`.padEnd(120, 'x'),
  }));

/** The longest amount that a million of the longest amounts add up to, and the longest currency code. */
const SUM = '9'.repeat(46);
const currencies = Array.from({ length: MAX_CURRENCIES }, (_, index) => `${index}`.padEnd(16, 'x'));
const MOVED = Object.fromEntries(currencies.map((currency) => [currency, SUM]));

const PLAN: BatchPlan = {
  account: 'a'.repeat(32),
  batchId: 'b'.repeat(120),
  sha256: 'f'.repeat(64),
  rows: 1_000_000,
  orders: 'f'.repeat(64),
  latestSend: '2026-11-27T18:00:00.000+00:00',
  stopAfter: { failures: 1_000_000 },
  currencies: currencies.map((currency) => ({
    currency,
    rows: 1_000_000,
    total: SUM,
    fee: SUM,
    feeOnTop: SUM,
    balanceBefore: SUM,
    balanceAfter: SUM,
    shortfall: SUM,
  })),
  warnings: Array.from({ length: 50 }, () => ({
    rows: Array.from({ length: 20 }, () => 1_000_000),
    reason: 'x'.repeat(160),
  })),
  warningCount: 1_000_000,
  compensation: 'report',
  resend: 'never',
  again: true,
  digest: 'f'.repeat(64),
};

const progressWith = (open: OpenRow[]): BatchProgress => ({
  taken: 1_000_000,
  asked: MOVED,
  started: 1_000_000,
  open,
  outcomes: {
    completed: 999_999,
    completed_partially: 999_999,
    canceled: 999_999,
    error: 999_999,
    refused: 999_999,
    conflict: 999_999,
    parked: 999_999,
  },
  moved: MOVED,
  exhausted: false,
  unsettled: Array.from({ length: 50 }, () => 999_999),
  uncertain: open.map(({ row }) => row),
  attention: 'x'.repeat(400),
});

/** The largest input of a chunk; `inputLength` characters of it are the batch's own input. */
const chunk = (inputLength: number, open: OpenRow[]): SendBatchRowsInput => ({
  account: 'a'.repeat(32),
  input: { startedBy: 'x'.repeat(inputLength) },
  plan: { sha256: 'f'.repeat(64), rows: 1_000_000, orders: 'f'.repeat(64), totals: MOVED },
  startedAt: '2026-11-27T10:00:00.000Z',
  progress: progressWith(open),
  mode: 'finish',
  durationMs: 30_000,
  knownRun: 'r'.repeat(36),
});

describe('the payloads of a batch stay below 100 KB', () => {
  test('with as many open rows as there may be, longest ids and as many currencies', () => {
    expect(JSON.stringify(progressWith(openRows(MAX_IN_FLIGHT))).length).toBeLessThan(LIMIT);
    expect(JSON.stringify(chunk(2_000, openRows(MAX_IN_FLIGHT))).length).toBeLessThan(LIMIT);
  });

  test('with as many currencies and warnings as there may be, in plan, report and result', () => {
    const input = { startedBy: 'x'.repeat(MAX_INLINE_BYTES) };
    const report: ReportBatchInput = {
      account: PLAN.account,
      input,
      plan: PLAN,
      taken: 1_000_000,
      startedAt: new Date(0).toISOString(),
    };
    expect(JSON.stringify(report).length).toBeLessThan(LIMIT);
    const { outcomes, moved } = progressWith([]);
    const file = { path: 'p'.repeat(160), sha256: 'f'.repeat(64) };
    const result: BatchResult = {
      batchId: PLAN.batchId,
      digest: PLAN.digest,
      rows: PLAN.rows,
      started: PLAN.rows,
      outcomes: { ...outcomes, notStarted: 999_999 },
      moved,
      report: file,
      rejected: file,
      plan: PLAN,
      stopped: { by: 'x'.repeat(120), reason: 'x'.repeat(500), at: '2026-11-27T10:00:00.000Z' },
    };
    expect(JSON.stringify(result).length).toBeLessThan(LIMIT);
  });

  test('with as many inline rows as there may be, all of them open', () => {
    expect(JSON.stringify(chunk(MAX_INLINE_BYTES, openRows(MAX_INLINE_ROWS))).length).toBeLessThan(LIMIT);
  });
});
