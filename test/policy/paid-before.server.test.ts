import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { type Policy, Secret } from '../../src/config.js';
import type { BatchPlan } from '../../src/contract/batch/batch.js';
import { decimal, toAmount } from '../../src/contract/money.js';
import type { OrderCheck } from '../../src/contract/order/messages.js';
import type { PolicyRule } from '../../src/contract/policy/rules.js';
import { cardNumber, payoutLine, writePayouts } from '../support/batch-files.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { useBatchLab } from '../workflows/batch/batches.fixture.js';
import {
  decideNow,
  executions,
  parkedFor,
  startSteered,
  TWO_CARDS,
} from '../workflows/compensation/parked-orders.fixture.js';

const RULE: PolicyRule = { rule: 'paid-before', days: 7, breach: 'warn' };
const rules: PolicyRule[] = [RULE];
const payeeKey = new Secret('0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978');
const policies = new Map<string, Policy>([['default', { rules, payeeKey }]]);

const lab = useBatchLab({ limits: { policies } });

vi.setConfig({ testTimeout: 120_000 });

/** A card that only one test pays. */
let cards = 0;
const newCard = () => cardNumber(++cards);

const rowOf = (wallet: string, amount = '20', orderId = newOrderId('row')) => {
  return { order_id: orderId, currency: 'usd', network: 'card', amount, wallet };
};
type Row = ReturnType<typeof rowOf>;

const plan = (rows: Row[]): Promise<BatchPlan> => lab.orders.batches.plan({ rows, startedBy: 'ann' });
const payBatch = async (rows: Row[]) => {
  const { outcomes } = await (await lab.orders.batches.start({ rows, startedBy: 'ann' })).result();
  expect(outcomes).toMatchObject({ completed: rows.length });
};
const pay = (wallet: string, { marker = '', ...order }: Record<string, string> = {}) =>
  startSteered(lab, 'withdraw', { marker, compensation: 'report', order: { wallet, amount: '20', ...order } });
const check = ({ order_id, ...order }: Row): Promise<OrderCheck> => {
  const input = orderInput('withdraw', order_id);
  return lab.orders.check('withdraw', { ...input, order: { ...input.order, ...order } });
};

const TODAY = () => new Date().toISOString().slice(0, 10);
const paidTo = (orderId: string, amount = '20') => `${amount} usd were paid to this payee on ${TODAY()} by ${orderId}`;

/** Warnings of a plan by their rows. */
const warned = ({ warnings }: BatchPlan) => warnings.map(({ rows, reason }) => [rows, reason]);

describe('a payee who got the same amount by another order', () => {
  test('is named by the plan of a later batch, and nobody else', async () => {
    const [paid, other, third] = [newCard(), newCard(), newCard()];
    const first = [rowOf(paid), rowOf(other, '21'), rowOf(third)];
    await payBatch(first);
    const [, , again] = first as [Row, Row, Row];
    const rows = [rowOf(newCard()), rowOf(other), again, rowOf(paid, '20.00'), rowOf(third, '21')];
    const made = await plan(rows);
    expect(warned(made)).toEqual([
      [
        [4],
        expect.stringContaining('1 of 5 rows pay the same amount to the same payee as an earlier order of the last 7'),
      ],
      [[3], expect.stringContaining('1 of 5 rows have an order at the service already')],
      [[4], paidTo(first[0]?.order_id ?? '')],
    ]);
    expect(await plan(first)).toMatchObject({ warningCount: 1 });
  });

  test('by a single order is named by a plan and a dry run, however it is written', async () => {
    const card = newCard();
    const { orderId, handle } = await pay(card);
    await handle.result();
    const { warnings } = await plan([rowOf(card)]);
    expect(warnings[1]).toEqual({ rows: [1], reason: paidTo(orderId) });
    expect(await check(rowOf(card, '20.0'))).toMatchObject({
      wouldBeSent: true,
      reasons: [],
      warnings: [`paid before: ${paidTo(orderId)}`],
      paidBefore: [{ orderId, day: TODAY(), amount: '20', currency: 'usd' }],
    });
    expect(await check(rowOf(card, '20', orderId))).not.toHaveProperty('paidBefore');
    expect(await check(rowOf(card, '20.01'))).not.toHaveProperty('paidBefore');
    const { handle: later } = await pay(card);
    expect((await later.result()).outcome).toBe('completed');
  });

  test('counts per card of several, and for an exchange by the amount that it names', async () => {
    const [one, two] = [newCard(), newCard()];
    const cards = [one, two].map((wallet, index) => ({ wallet, amount: `3${index}` }));
    const { orderId, handle } = await startSteered(lab, 'withdraw', {
      marker: '',
      order: { ...TWO_CARDS, amount: '61', wallet_details: cards },
    });
    await handle.result();
    expect((await check(rowOf(two, '31'))).paidBefore).toMatchObject([{ orderId, amount: '31' }]);
    expect(await check(rowOf(two, '30'))).not.toHaveProperty('paidBefore');
    const exchange = await startSteered(lab, 'exchange_withdraw', { marker: '' });
    await exchange.handle.result();
    const again = await lab.orders.check('exchange_withdraw', orderInput('exchange_withdraw', newOrderId('again')));
    expect(again.paidBefore).toMatchObject([{ orderId: exchange.orderId, amount: '100', currency: 'usd' }]);
  });
});

describe('an order that paid nothing', () => {
  test.for(['create=400', 'outcome=error', 'outcome=canceled'])('%s: is not named', async (marker) => {
    const card = newCard();
    const { orderId, handle } = await pay(card, { marker });
    await handle.result().catch(() => undefined);
    expect(await check(rowOf(card))).not.toHaveProperty('paidBefore');
    expect(await plan([rowOf(card)])).toMatchObject({ warningCount: 0 });
    expect(executions(lab, orderId)).toBeLessThanOrEqual(1);
  });

  test('because a person refused it, is not named', async () => {
    rules.push({ rule: 'tier', currency: 'usd', above: '500', approvers: 1 });
    const card = newCard();
    const { handle } = await pay(card, { amount: '501' });
    await parkedFor(handle, 'amount above 500 usd');
    expect(await check(rowOf(card, '501'))).not.toHaveProperty('paidBefore');
    await decideNow(handle, 'refuse');
    await expect(handle.result()).rejects.toMatchObject({ type: 'OrderCancelled' });
    expect(await check(rowOf(card, '501'))).not.toHaveProperty('paidBefore');
    rules.splice(1);
  });
});

test('an uncertain order counts as paid, also after the loss of the policy workflow', async () => {
  const [unclear, paid, canceled] = [newCard(), newCard(), newCard()];
  const uncertain = await pay(unclear, { marker: 'create=500 after_ms=60000' });
  const done = await pay(paid);
  const none = await pay(canceled, { marker: 'outcome=canceled' });
  await Promise.all([done.handle.result(), none.handle.result()]);
  await vi.waitFor(() => expect(executions(lab, uncertain.orderId)).toBe(1), 30_000);
  const rows = [rowOf(unclear), rowOf(paid), rowOf(canceled)];
  const expected = [
    [[1, 2], expect.stringContaining('2 of 3 rows')],
    [[1], paidTo(uncertain.orderId)],
    [[2], paidTo(done.orderId)],
  ];
  expect(warned(await plan(rows))).toEqual(expected);
  await lab.temporal.client.workflow.getHandle('policy:default').terminate('lost');
  expect(warned(await plan(rows))).toEqual(expected);
});

test('no history and no answer holds a wallet of the comparison', async () => {
  const card = newCard();
  const { handle } = await pay(card);
  await handle.result();
  const answers = JSON.stringify([await plan([rowOf(card)]), await check(rowOf(card))]);
  expect(answers).toContain('were paid to this payee');
  expect(answers).not.toMatch(/4000\d{12}/);
  const { events } = await lab.temporal.client.workflow.getHandle('policy:default').fetchHistory();
  const payloads = [...JSON.stringify(events).matchAll(/"data":"([^"]+)"/g)];
  const texts = payloads.map(([, data = '']) => Buffer.from(data, 'base64').toString()).join('\n');
  expect(texts).toContain('= ');
  expect(texts).not.toMatch(/4000\d{12}/);
});

test('10,000 rows are compared by five questions', async () => {
  const [, , , amount = '', wallet = ''] = payoutLine(9_999).split(',');
  const { orderId, handle } = await pay(wallet, { amount });
  await handle.result();
  await writePayouts(join(lab.folder, 'many.csv'), 10_000);
  const answered = async () => {
    const { events } = await lab.temporal.client.workflow.getHandle('policy:default').fetchHistory();
    return events?.filter((event) => event.workflowExecutionUpdateCompletedEventAttributes).length ?? 0;
  };
  const before = await answered();
  const { warnings } = await lab.orders.batches.plan({ file: { path: 'many.csv' }, startedBy: 'ann' });
  expect(warnings).toContainEqual({ rows: [10_000], reason: paidTo(orderId, toAmount(decimal(amount))) });
  expect((await answered()) - before).toBe(5);
});
