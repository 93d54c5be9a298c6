import { describe, expect, it } from 'vitest';
import type { BatchInput } from '../../src/contract/batch/batch.js';
import { batchInputDifferences } from '../../src/contract/differences/starts.js';
import { validateBatchInput } from '../../src/validation/batch-input.js';

const row = { order_id: 'p-1', currency: 'usd', network: 'card', amount: '12.50', wallet: '4111111111111111' };
const fromFile: BatchInput = { batchId: 'b-1', file: { path: '2026/payroll.csv' }, startedBy: 'ann' };
const inline: BatchInput = { batchId: 'b-1', rows: [row], startedBy: 'ann' };

const badFields = (input: unknown): string[] => {
  const result = validateBatchInput(input);
  return 'errors' in result ? result.errors.map(({ field }) => field) : [];
};

describe('a batch input', () => {
  it.each<[string, BatchInput]>([
    ['with a file', fromFile],
    [
      'with everything',
      {
        ...fromFile,
        account: 'shop-1',
        file: { path: 'a.csv', sha256: 'a'.repeat(64) },
        approval: 'required',
        approvalExpiresMs: 1,
        compensation: 'finish',
        resend: 'never',
        again: true,
        planOnly: true,
        maxInFlight: 500,
        stopAfter: { failures: 1 },
        latestSend: '2026-11-27T18:00:00+01:00',
      },
    ],
  ])('%s is taken as it is', (_, input) => {
    expect(validateBatchInput(input)).toEqual({ input });
  });

  it.each<[unknown, string[]]>([
    [undefined, ['input']],
    [{ startedBy: 'ann' }, ['file']],
    [{ ...fromFile, rows: [row] }, ['file']],
    [{ ...fromFile, batchId: 'a b' }, ['batchId']],
    [{ ...fromFile, file: { path: '/etc/passwd' } }, ['file.path']],
    [{ ...fromFile, file: { path: 'a.csv', sha256: 'ABC' } }, ['file.sha256']],
    [{ ...fromFile, approvalExpiresMs: 1_000 }, ['approvalExpiresMs']],
    [{ ...fromFile, maxInFlight: 501 }, ['maxInFlight']],
    [{ ...fromFile, stopAfter: { rows: 3 } }, ['stopAfter.rows']],
    [{ ...fromFile, latestSend: 'friday' }, ['latestSend']],
    [{ ...inline, rows: Array.from({ length: 201 }, () => row) }, ['rows']],
    [{ ...inline, rows: [row, { ...row, amount: 12.5 }] }, ['rows[1].amount']],
    [{ ...inline, rows: [{ ...row, callback_url: 'https://x.example' }] }, ['rows[0].callback_url']],
    [{ ...inline, rows: [{ ...row, description: 'x'.repeat(256) }, 'no row'] }, ['rows[0].description', 'rows[1]']],
    // 35,000 characters, but twice as many bytes.
    [{ ...inline, rows: Array.from({ length: 100 }, () => ({ ...row, description: 'ж'.repeat(250) })) }, ['rows']],
  ])('%j is refused', (input, fields) => {
    expect(badFields(input).toSorted()).toEqual(fields);
  });
});

const sha256 = 'a'.repeat(64);
const pinned: BatchInput = { ...fromFile, file: { path: 'a.csv', sha256 } };

describe('a second start', () => {
  it.each<[string, BatchInput, BatchInput]>([
    ['by somebody else', fromFile, { ...fromFile, startedBy: 'bob' }],
    ['of the same content under another name', pinned, { ...pinned, file: { path: 'b.csv', sha256 } }],
    ['with defaults spelled out', fromFile, { ...fromFile, account: 'default', approval: 'none', resend: 'once' }],
    ['with the same amounts', inline, { ...inline, rows: [{ ...row, amount: '12.5' }] }],
  ])('%s asks for the same', (_, first, second) => {
    expect(batchInputDifferences(second, first)).toEqual([]);
  });

  it.each<[string[], BatchInput, BatchInput]>([
    [['file.sha256'], pinned, { ...pinned, file: { path: 'a.csv', sha256: 'b'.repeat(64) } }],
    [['file.path'], fromFile, { ...fromFile, file: { path: 'other.csv' } }],
    [['file.path', 'rows'], fromFile, inline],
    [['maxInFlight'], fromFile, { ...fromFile, maxInFlight: 5 }],
    [['rows[0].wallet'], inline, { ...inline, rows: [{ ...row, wallet: '5555555555554444' }] }],
  ])('of another %j is another batch', (fields, first, second) => {
    expect(batchInputDifferences(second, first)).toEqual(fields);
  });

  it.each([null, undefined, 'text', { file: null, rows: 'none' }])(
    'compares with %j, which was never checked',
    (first) => {
      expect(batchInputDifferences(fromFile, first as unknown as BatchInput)).toContain('file.path');
    },
  );
});
