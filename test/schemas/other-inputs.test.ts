import { describe, expect, test } from 'vitest';
import { payrollSchedule } from '../../examples/payroll.js';
import { checkedReconcileInput } from '../../src/contract/reconcile/input.js';
import type { ReconcileInput } from '../../src/contract/reconcile/reconcile.js';
import { validateBatchInput, validateScheduledBatchInput } from '../../src/validation/batch-input.js';
import { validateReceivedInput } from '../../src/validation/order-input.js';
import { CARD } from '../contract/inputs.fixture.js';
import { misfit } from './ajv.fixture.js';

const row = { order_id: 'p-1', currency: 'usd', network: 'card', amount: '12.50', wallet: CARD };
const batch = { batchId: 'b-1', file: { path: '2026/payroll.csv' }, startedBy: 'ann' };
const inline = { batchId: 'b-1', rows: [row], startedBy: 'ann' };
const plan = { plan: 'payroll', filePattern: 'in/{period}.csv', batch: { startedBy: 'ann' } };
const received = { ref: 'shop-1', order_uuid: 'u-1' };
const refund = { network: 'card', wallet: CARD };

/** [schema, its own check, good inputs, bad inputs]; both must agree. */
const CASES: [string, (input: unknown) => object, good: unknown[], bad: unknown[]][] = [
  [
    'batch-input',
    (input) => validateBatchInput(input),
    [
      batch,
      inline,
      { ...batch, approval: 'required', approvalExpiresMs: 1, stopAfter: { failures: 1 }, rows: null },
      { rows: [row], startedBy: 'ann', planOnly: true },
    ],
    [
      'batch',
      { ...batch, file: undefined },
      { ...batch, rows: [row] },
      { ...batch, batchId: 'a b' },
      ...[
        '/etc/passwd',
        '../a.csv',
        'a/../b.csv',
        './a.csv',
        'a//b.csv',
        'C:/a.csv',
        '\\a.csv',
        'a.xls',
        '',
        'a\n.csv',
      ].map((path) => ({ ...batch, file: { path } })),
      { ...batch, file: { path: 'a.csv', sha256: 'ABC' } },
      { ...batch, approvalExpiresMs: 1_000 },
      { ...batch, approval: 'none', approvalExpiresMs: 1_000 },
      { ...batch, maxInFlight: 501 },
      { ...batch, stopAfter: { rows: 3 } },
      { ...batch, latestSend: 'friday' },
      { ...batch, startedBy: ' ' },
      { ...inline, rows: [] },
      { ...inline, rows: Array.from({ length: 201 }, () => row) },
      { ...inline, rows: [row, { ...row, amount: 12.5 }] },
      { ...inline, rows: [{ ...row, order_id: 'a.r1' }] },
      { ...inline, rows: [{ ...row, network: 'sepa' }] },
    ],
  ],
  [
    'scheduled-batch-input',
    validateScheduledBatchInput,
    [plan, { ...plan, period: '2026-11-27' }, { ...plan, periodFormat: 'minute', period: '2026-11-27T10-00' }],
    [
      { ...plan, filePattern: 'in.csv' },
      { ...plan, period: '2026-11-27T10-00' },
      { ...plan, periodFormat: 'minute', period: '2026-11-27' },
      { ...plan, plan: 'a.b' },
      { ...plan, waitForFileMs: 0 },
      { ...plan, batch: { startedBy: 'ann', again: true } },
    ],
  ],
  [
    'received-deposit-input',
    validateReceivedInput,
    [received, { ...received, compensation: 'revert', revertTo: refund }],
    [
      { ...received, order_uuid: '../x' },
      { ...received, ref: '' },
      { ...received, compensation: 'revert' },
      { ...received, revertTo: { ...refund, network: 'multiple_cards' } },
      { ...received, x: 1 },
    ],
  ],
  [
    'reconcile-input',
    (input) => checkedReconcileInput(input, Date.parse('2026-11-27T10:00:00Z')),
    [
      {},
      { from: '2026-11-26 10:00:00', to: '2026-11-27T09:00:00+01:00', recover: true, openTooLongMs: 1 },
    ] satisfies ReconcileInput[],
    [{ from: 'yesterday' }, { recover: 'yes' }, { openTooLongMs: 0 }, { account: 'A' }, { since: 1 }],
  ],
];

describe.each(CASES)('%s', (name, check, good, bad) => {
  test.each(good.map((input) => [input]))('accepts %j', (input) => {
    expect(check(input)).not.toHaveProperty('errors');
    expect(misfit(name, JSON.parse(JSON.stringify(input)))).toBeUndefined();
  });

  test.each(bad.map((input) => [input]))('refuses %j', (input) => {
    expect(check(input)).toHaveProperty('errors');
    expect(misfit(name, JSON.parse(JSON.stringify(input)))).toBeDefined();
  });
});

test('the batch of the payroll example fits', () => {
  const { schedule: _, ...input } = { schedule: undefined, ...payrollSchedule };
  expect(misfit('batch-input', { ...input.batch, batchId: 'p.2026-11-27', file: { path: 'p.csv' } })).toBeUndefined();
});

const decision = { action: 'resend', by: 'Ann Smith', reason: 'proven absent', revision: 3, runId: 'r' };

test.each([
  decision,
  { ...decision, action: 'adopt', order_uuid: 'u-1', differences: ['amount'] },
  { ...decision, action: 'revert', kind: 'unpaid', as: 'withdraw', revertTo: refund },
  { ...decision, action: 'approve', amount: '10', currency: 'usd', signature: { keyId: 'k', value: 'v' } },
])('a decision %j fits', (sent) => {
  expect(misfit('decision', sent)).toBeUndefined();
});

test.each([
  { ...decision, by: '<your name>' },
  { ...decision, reason: ' ' },
  { ...decision, action: 'pay' },
  { ...decision, action: 'adopt' },
  { ...decision, amount: '10' },
  { ...decision, action: 'approve', order_uuid: 'u' },
  { ...decision, revision: '3' },
  { ...decision, x: 1 },
])('a decision %j does not fit', (sent) => {
  expect(misfit('decision', sent)).toBeDefined();
});
