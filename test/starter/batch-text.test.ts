import { describe, expect, it } from 'vitest';
import {
  amountsLeft,
  type BatchPlan,
  type BatchResult,
  type BatchState,
  NONE_ENDED,
} from '../../src/contract/batch/batch.js';
import {
  batchCommands,
  batchLine,
  batchResultText,
  batchStateText,
  followLine,
  planText,
} from '../../src/starter/batch-text.js';

const plan: BatchPlan = {
  account: 'default',
  batchId: 'payroll.1',
  sha256: 'a'.repeat(64),
  rows: 50,
  orders: 'c'.repeat(64),
  currencies: [
    { currency: 'btc', rows: 10, total: '0.5', fee: null, feeOnTop: null, balanceBefore: null, balanceAfter: null },
    {
      currency: 'usd',
      rows: 40,
      total: '1000.10',
      fee: '8',
      feeOnTop: '3',
      balanceBefore: '900',
      balanceAfter: '-103.1',
      shortfall: '103.1',
    },
  ],
  warnings: [
    { rows: [3, 7], reason: 'same wallet and amount' },
    { rows: [], reason: 'balances were not to be had' },
  ],
  warningCount: 52,
  compensation: null,
  resend: 'once',
  again: false,
  digest: 'd'.repeat(64),
};

const state: BatchState = {
  phase: 'sending',
  batchId: 'payroll.1',
  waitingFor: 'the orders of the rows',
  startedBy: 'ann',
  choices: [],
  plan,
  progress: {
    taken: 30,
    started: 28,
    open: Array.from({ length: 8 }, (_, index) => ({ row: index + 21, orderId: `p-${index}` })),
    outcomes: { completed: 18, completed_partially: 0, canceled: 0, error: 1, refused: 0, conflict: 1, parked: 0 },
    moved: { usd: '200.10' },
    exhausted: false,
    unsettled: [],
  },
  sendingSince: '2026-11-27T10:00:00Z',
};

describe('a plan', () => {
  it('shows rows, totals, fees, balances, shortfall, warnings and digest', () => {
    const text = planText(plan);
    for (const part of ['50', '1000.10', '8', '900', '-103.1', plan.digest, plan.sha256]) expect(text).toContain(part);
    expect(text).toContain('52 warnings, the first 2:');
    expect(text).toContain('line 3, 7: same wallet and amount');
    expect(text).toMatch(/btc +10 +0\.5 +unknown/);
  });
});

describe('a batch that goes on', () => {
  it('shows rows and money in one line', () => {
    expect(batchLine(state)).toBe(
      '40 % · sending · 28 of 50 rows started · ended: 18 completed, 1 error, 1 conflict · paid 200.10 usd · ' +
        'still to pay (incl. fees, without those on top): 0.5 btc, 800 usd',
    );
  });

  it('shows attention', () => {
    const paused: BatchState = { ...state, phase: 'paused', attention: 'paused by itself: no money' };
    expect(batchLine(paused)).toMatch(/^40 % · paused · .* · attention: paused by itself: no money$/);
    expect(batchLine(undefined)).toContain('no worker answers');
  });

  it('counts what is left exactly, and never below nothing', () => {
    expect(amountsLeft(plan, { usd: '0.1', btc: '0.6' })).toEqual({ btc: '0', usd: '1000' });
  });

  it('shows what is decided on as long as nothing is sent: sums, balances and warnings', () => {
    const progress = { ...state.progress, started: 0 };
    const waiting = batchStateText({ ...state, phase: 'awaitingApproval', progress });
    for (const part of ['1000.10', '-103.1', '52 warnings', 'line 3, 7: same wallet']) expect(waiting).toContain(part);
    expect(batchStateText(state)).not.toContain('52 warnings');
  });

  it('shows who did what', () => {
    const at = '2026-11-27T10:00:00Z';
    const text = batchStateText({ ...state, approvedBy: 'bob', paused: { by: 'eve', reason: 'wait', at } });
    for (const part of ['ann', 'bob', `at ${at} by eve: wait`, '28 started, 8 open', plan.digest])
      expect(text).toContain(part);
  });

  it('suggests the commands that fit, which a shell takes as they stand', () => {
    const { digest } = plan;
    const [by, reason] = ['<your name>', '<why>'];
    const choices: BatchState['choices'] = [
      { update: 'approve', does: 'pays it', argument: { digest, by, runId: 'r-1' }, onlyByCommand: 'signed' },
      { update: 'resume', does: 'sends the rest', argument: { by, reason, pausedAt: 'z' } },
    ];
    const lines = batchCommands('payment-orders', 'shop', { ...state, choices });
    const of = 'payroll.1 --account shop';
    expect(lines).toEqual([
      `payment-orders batch approve ${of} --digest ${digest} --by '<your name>' --key '<file of your private key>'  # pays it; not by who started it`,
      `payment-orders batch resume ${of} --by '<your name>' --reason '<why>' --paused-at z  # sends the rest`,
    ]);
    expect(batchCommands('payment-orders', 'default', state)).toEqual([]);
    expect(followLine('payment-orders', { account: 'shop', batchId: 'payroll.1' })).toBe(
      'payment-orders batch show payroll.1 --account shop --watch',
    );
  });
});

describe('a batch that ended', () => {
  const result: BatchResult = {
    batchId: 'payroll.1',
    digest: plan.digest,
    rows: 50,
    started: 49,
    outcomes: { ...NONE_ENDED, error: 1, conflict: 1, completed: 48, notStarted: 0 },
    moved: { usd: '990' },
    report: { path: 'payroll.1.report.csv', sha256: 'b'.repeat(64) },
    rejected: { path: 'payroll.1.rejected.csv', sha256: 'c'.repeat(64) },
    plan,
  };

  it('shows its report with hash, its outcomes and what was paid', () => {
    const text = batchResultText(result);
    for (const part of ['48 completed, 1 error, 1 conflict', '990 usd', 'payroll.1.report.csv', 'b'.repeat(64)])
      expect(text).toContain(part);
    expect(text).toContain('payroll.1.rejected.csv');
    expect(text).toContain('line 3, 7: same wallet and amount');
    expect(batchResultText({ ...result, moved: {}, report: undefined })).toContain('nothing');
  });
});

it('shows why a batch failed, and no outcomes', () => {
  const { outcomes: _, ...progress } = state.progress;
  const failed: BatchState = {
    ...state,
    phase: 'failed',
    progress,
    failure: { code: 'BatchUnresolved', detail: 'x y' },
  };
  for (const text of [batchLine(failed), batchStateText(failed)]) {
    expect(text).toContain('BatchUnresolved: x y');
    expect(text).toContain('ended: unknown');
    expect(text).not.toContain(' %');
  }
});
