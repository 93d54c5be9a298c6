import { describe, expect, test } from 'vitest';
import type { SendBatchRowsInput } from '../../src/contract/batch-activities.js';
import {
  type BatchProgress,
  MAX_IN_FLIGHT,
  MAX_INLINE_BYTES,
  MAX_INLINE_ROWS,
  type OpenRow,
} from '../../src/contract/batches.js';

const LIMIT = 100_000;

const openRows = (count: number): OpenRow[] =>
  Array.from({ length: count }, (_, index) => ({
    row: 999_000 + index,
    orderId: `${index}`.padEnd(120, 'x'),
    elsewhere: true,
  }));

const progressWith = (open: OpenRow[]): BatchProgress => ({
  offset: 256 * 1024 * 1024,
  taken: 1_000_000,
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
  moved: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`coin${index}`, '9'.repeat(40)])),
  exhausted: false,
  unsettled: Array.from({ length: 50 }, () => 999_999),
  attention: 'x'.repeat(400),
});

/** The largest input of a chunk; `inputLength` characters of it are the batch's own input. */
const chunk = (inputLength: number, open: OpenRow[]): SendBatchRowsInput => ({
  account: 'a'.repeat(32),
  input: { startedBy: 'x'.repeat(inputLength) },
  plan: { sha256: 'f'.repeat(64), rows: 1_000_000 },
  startedAt: '2026-11-27T10:00:00.000Z',
  progress: progressWith(open),
  mode: 'finish',
  durationMs: 30_000,
});

describe('the payloads of a batch stay below 100 KB', () => {
  test('with as many open rows as there may be, longest ids and 50 currencies', () => {
    expect(JSON.stringify(progressWith(openRows(MAX_IN_FLIGHT))).length).toBeLessThan(LIMIT);
    expect(JSON.stringify(chunk(2_000, openRows(MAX_IN_FLIGHT))).length).toBeLessThan(LIMIT);
  });

  test('with as many inline rows as there may be, all of them open', () => {
    expect(JSON.stringify(chunk(MAX_INLINE_BYTES, openRows(MAX_INLINE_ROWS))).length).toBeLessThan(LIMIT);
  });
});
