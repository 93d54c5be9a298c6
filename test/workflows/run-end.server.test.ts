import { defaultPayloadConverter } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import {
  ASK_POLICY_UPDATE,
  afterEndWorkflowId,
  GO_FIRST_SIGNAL,
  JOIN_LINE_SIGNAL,
  ORDER_CALLBACK_SIGNAL,
} from '../../src/contract/names.js';
import { openLedger, reserveOrder } from '../../src/contract/policy/ledger.js';
import { orderInput } from '../support/inputs.js';
import { workflowBundle } from '../support/temporal.js';
import {
  answered,
  childExists,
  childStarted,
  failed,
  openVmWorkflow,
  signal,
  signalFailed,
  timerFired,
  update,
} from '../support/vm-workflow.js';

const bundle = workflowBundle();

/* One workflow task at a time, without a server: what arrives with the last task of a run. */

const BY = { by: 'ann', reason: 'seen' };
const receivers = [{ name: 'books' }];
const plan = {
  ...{ batchId: 'b', digest: 'd', sha256: 's', rows: 2, orders: 's', source: 'rows', warnings: [], warningCount: 0 },
  ...{ currencies: [{ currency: 'usd', total: '2', rows: 2 }], receivers },
};
const progress = {
  ...{ taken: 1, started: 1, open: [], outcomes: {}, moved: {}, exhausted: false, unsettled: [] },
};
const input = { batchId: 'b', rows: [], startedBy: 'bob' };

const textOf = (payload: unknown): string => Buffer.from((payload as { data: Uint8Array }).data).toString();

describe('an update whose signature is being checked', () => {
  test('is answered before a batch continues in its next run, which keeps what it changed', async () => {
    const carried = { plan, knownRun: 'before', startedAt: '2026-11-27T00:00:00.000Z' };
    const batch = await openVmWorkflow(bundle, {
      ...{ type: 'bulkWithdraw', workflowId: 'bulk:default:b', args: [input, carried, progress] },
      continuedFrom: 'before',
    });
    const chunk = batch.seqOf('scheduleActivity');
    await batch.task([answered(chunk, { progress, pause: 'unsure' })], { historyLength: 420 });
    await batch.task([update('resume', 'r', BY), childStarted(batch.seqOf('startChildWorkflowExecution'))], {
      historyLength: 425,
    });
    expect(batch.of('continueAsNewWorkflowExecution')).toEqual([]);
    await batch.task([answered(batch.seqOf('scheduleActivity'), { kind: 'unasked' })], { historyLength: 430 });
    const [next] = batch.of('continueAsNewWorkflowExecution') as { arguments: unknown[] }[];
    expect(next).toBeDefined();
    expect(textOf(next?.arguments[1])).not.toContain('unsure');
    expect(batch.of('updateResponse')).toHaveLength(2);
  });

  test('is answered before a batch fails', async () => {
    const batch = await openVmWorkflow(bundle, {
      ...{ type: 'bulkWithdraw', workflowId: 'bulk:default:b', args: [input] },
    });
    const planning = batch.seqOf('scheduleActivity');
    await batch.task([update('pause', 'p', BY)]);
    await batch.task([update('resume', 'r', BY)]);
    const checking = batch.seqOf('scheduleActivity');
    expect(checking).not.toBe(planning);
    await batch.task([failed(planning, 'bad rows')]);
    expect(batch.of('failWorkflowExecution')).toEqual([]);
    await batch.task([answered(checking, { kind: 'unasked' })]);
    expect(batch.of('failWorkflowExecution')).toHaveLength(1);
  });
});

test('two orders that breach a sum at the same time ask one after the other how others ended', async () => {
  const ledger = openLedger();
  reserveOrder(ledger, 'open', [['usd', '60']], Date.UTC(2026, 10, 27));
  const question = (orderId: string) => [
    { orderId, spends: [['usd', '60']], limits: [{ key: 'usd', windowMs: 86_400_000, max: '100' }], reserve: true },
  ];
  const policy = await openVmWorkflow(bundle, {
    ...{ type: 'policy', workflowId: 'policy:default', args: [{ account: 'default', ledger }] },
  });
  const checks = () => policy.of('scheduleActivity').length;
  await policy.task([update(ASK_POLICY_UPDATE, 'a', question('a'))]);
  const first = policy.seqOf('scheduleActivity');
  await policy.task([update(ASK_POLICY_UPDATE, 'b', question('b')), update(ASK_POLICY_UPDATE, 'c', question('c'))]);
  expect(checks()).toBe(1);
  await policy.task([answered(first, [])]);
  expect(checks()).toBe(2);
  await policy.task([answered(policy.seqOf('scheduleActivity'), [])]);
  expect(checks()).toBe(3);
});

test('sums are read again once a worker of another account or key asks, and its question fails', async () => {
  const ledger = { ...openLedger(), of: 'read' };
  const policy = await openVmWorkflow(bundle, {
    ...{ type: 'policy', workflowId: 'policy:default', args: [{ account: 'default', ledger }] },
  });
  const asks = (orderId: string, ...of: unknown[]) => update(ASK_POLICY_UPDATE, orderId, [], ...of);
  // A rotated key lists the earlier one; an older worker does not say how it reads.
  await policy.task([asks('a', ['rotated', 'read']), asks('b')]);
  expect(policy.of('continueAsNewWorkflowExecution')).toEqual([]);
  expect(JSON.stringify(await policy.task([asks('c', 'read')]))).toContain('InvalidInput');
  expect(JSON.stringify(await policy.task([asks('d', ['other'])]))).toContain('OtherSums');
  const inputs = policy.commands.flatMap(({ continueAsNewWorkflowExecution: next }) => next?.arguments ?? []);
  expect(inputs.map((input) => defaultPayloadConverter.fromPayload(input))).toEqual([{ account: 'default' }]);
});

test('an order whose last callback starts no look-ups stays open until it does', async () => {
  const run = await openVmWorkflow(
    bundle,
    { type: 'withdraw', workflowId: 'order:default:o1', args: [orderInput('withdraw', 'other-id')] },
    signal(ORDER_CALLBACK_SIGNAL),
  );
  for (let tries = 0; tries < 5; tries += 1) {
    await run.task([childExists(run.seqOf('startChildWorkflowExecution'))]);
    await run.task([signalFailed(run.seqOf('signalExternalWorkflowExecution'))]);
  }
  expect(run.of('failWorkflowExecution')).toEqual([]);
  await run.task([timerFired(run.seqOf('startTimer'))], { laterMs: 60_000 });
  await run.task([childStarted(run.seqOf('startChildWorkflowExecution'))]);
  expect(run.of('failWorkflowExecution')).toHaveLength(1);
});

test('look-ups after an end hear a callback that comes while their last event is handed over', async () => {
  const run = await openVmWorkflow(bundle, {
    ...{ type: 'orderAfterEnd', workflowId: afterEndWorkflowId('order:default:o1'), args: [{ againAfterMs: 0 }] },
  });
  const pace = { pollInitialMs: 1, pollMaxMs: 1, confirmDelayMs: 1, settleWindowMs: { atOnce: 1, deposit: 1 } };
  const seen = { kind: 'duplicates', orderUuids: ['a', 'b'], before: 'no order', shown: 'two orders', changed: true };
  await run.task([answered(run.seqOf('scheduleActivity'), { ...seen, pace, receivers: [{ name: 'books' }] })]);
  await run.task([update('decide', 'd', { ...BY, action: 'accept', revision: 2 })]);
  await run.task([answered(run.seqOf('scheduleActivity'), { kind: 'unasked' })]);
  const asked = run.of('scheduleActivity').length;
  await run.task([signal(ORDER_CALLBACK_SIGNAL), childStarted(run.seqOf('startChildWorkflowExecution'))]);
  expect(run.of('completeWorkflowExecution')).toEqual([]);
  expect(run.of('scheduleActivity')).toHaveLength(asked + 1);
});

describe('the line of funds', () => {
  const told = ({ of }: Awaited<ReturnType<typeof open>>) =>
    (of('signalExternalWorkflowExecution') as { seq: number }[]).map(({ seq }) => ({
      resolveSignalExternalWorkflow: { seq },
    }));
  const look = { balances: { usd: '5' }, gone: [] };
  const place = (n: number) => ({ workflowId: `order:default:${n}`, startedAtMs: n, amount: '5', currency: 'usd' });
  const open = (places: object[]) =>
    openVmWorkflow(bundle, {
      ...{ type: 'fundsLine', workflowId: 'funds:default', args: [{ account: 'default', places }] },
    });

  test('asks for its bound at each look, also while orders neither come nor leave', async () => {
    const line = await open([place(1), place(2)]);
    await line.task([timerFired(line.seqOf('startTimer'))], { laterMs: 1_000 });
    await line.task([answered(line.seqOf('scheduleActivity'), look)], { historyLength: 1_001 });
    expect(told(line)).toHaveLength(2);
    expect(line.of('continueAsNewWorkflowExecution')).toEqual([]);
    await line.task(told(line), { historyLength: 1_006 });
    expect(line.of('continueAsNewWorkflowExecution')).toHaveLength(1);
  });

  test('tells an order that joined again before its next run begins', async () => {
    const line = await open([{ ...place(1), isFunded: true }, place(2)]);
    await line.task([timerFired(line.seqOf('startTimer'))], { laterMs: 1_000 });
    const joined = signal(JOIN_LINE_SIGNAL, place(1));
    await line.task([answered(line.seqOf('scheduleActivity'), look), joined], { historyLength: 1_001 });
    const [first, ...others] = told(line);
    expect(others).toHaveLength(1);
    await line.task(others, { historyLength: 1_006 });
    expect(line.of('continueAsNewWorkflowExecution')).toEqual([]);
    await line.task(first ? [first] : [], { historyLength: 1_009 });
    expect(line.of('continueAsNewWorkflowExecution')).toHaveLength(1);
  });

  test('serves one request to go first before its next run begins', async () => {
    const line = await open([place(1), { ...place(2), amount: '1' }]);
    await line.task([timerFired(line.seqOf('startTimer'))], { laterMs: 1_000 });
    await line.task([answered(line.seqOf('scheduleActivity'), { balances: { usd: '2' }, gone: [] })], {
      historyLength: 900,
    });
    await line.task([...told(line), signal(GO_FIRST_SIGNAL)], { historyLength: 1_001, laterMs: 1_000_000 });
    expect(line.of('continueAsNewWorkflowExecution')).toEqual([]);
  });
});
