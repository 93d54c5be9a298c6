import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import { decimal, toAmount } from '../../../src/contract/money.js';
import { searchAttribute } from '../../../src/contract/names.js';
import {
  disagreementOf,
  type ReconcileClass,
  type ReconcileResult,
} from '../../../src/contract/reconcile/reconcile.js';
import { newFolder } from '../../support/batch-files.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';

/** One order for every way in which two sides may agree or not; each is brought about before the one reconciliation. */
const ids = {
  completed: newOrderId('completed'),
  partial: newOrderId('partial'),
  rejected: newOrderId('rejected'),
  regressed: newOrderId('regressed'),
  turned: newOrderId('turned'),
  open: newOrderId('open'),
  terminated: newOrderId('terminated'),
  removed: newOrderId('removed'),
  foreign: newOrderId('foreign'),
  twice: newOrderId('twice'),
};

const AT_ONCE = 'pay_ms=20 after_ms=20';

const reportDir = newFolder(afterAll);
let lab: Lab;
let result: ReconcileResult;

const uuidOf = (orderId: string): string =>
  lab.sandbox.orders().find(({ order }) => order.user_order_id === orderId)?.order.order_uuid ?? '';

/** What a reconciliation says about an order; undefined where it agrees without a word. */
const rowOf = (orderId: string, found = result) => found.disagreements.find(({ order_id }) => order_id === orderId);

/** A create that no program of ours knows about. */
async function createElsewhere(orderId: string): Promise<void> {
  const service = await serviceOf(lab.sandbox);
  const { order } = orderInput('withdraw', orderId, { marker: AT_ONCE });
  await service.createOrder('withdraw', order);
}

beforeAll(async () => {
  lab = await openLab({ quiet: true, workers: false, sandbox: { settings: { duplicateMode: 'c' } } });
  await lab.startWorkers({ directories: { reportDir } });
  const start = (orderId: string, marker: string) =>
    lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker, reference: `ref:${orderId}` }));
  const [completed, partial, rejected, regressed, turned, , terminated, twice] = await Promise.all([
    start(ids.completed, AT_ONCE),
    lab.orders.start(
      'exchange',
      orderInput('exchange', ids.partial, {
        marker: `${AT_ONCE} outcome=completed_partially fraction=0.4`,
        compensation: 'report',
      }),
    ),
    start(ids.rejected, 'create=400'),
    start(ids.regressed, `${AT_ONCE} then=processing then_ms=6000`),
    start(ids.turned, `${AT_ONCE} then=error then_ms=6000`),
    start(ids.open, 'after_ms=600000'),
    start(ids.terminated, 'after_ms=600000'),
    start(ids.twice, AT_ONCE),
  ]);
  const ended = [completed, partial, rejected, regressed, turned, twice];
  await Promise.all(ended.map((handle) => handle.result().catch(() => undefined)));
  await terminated.created();
  // Neither the first nor the last to move money: what is missing at an end leaves no gap.
  await (await start(ids.removed, AT_ONCE)).result();
  await lab.temporal.client.workflow.getHandle(terminated.workflowId).terminate('by mistake');
  await createElsewhere(ids.foreign);
  await createElsewhere(ids.twice);
  lab.sandbox.removeOrder(uuidOf(ids.removed));
  // Two stay in progress, one comes back to it, and one turns into an error.
  const inState = (status: string) => lab.sandbox.orders().filter(({ order }) => order.status === status).length;
  await vi.waitUntil(() => inState('processing') === 3 && inState('error') === 1, { timeout: 60_000 });
  result = await lab.orders.reconcile({});
});
afterAll(() => lab?.close());

describe('a reconciliation', () => {
  test('counts every order once, by class', () => {
    const expected: Partial<Record<ReconcileClass, number>> = {
      equal: 3,
      open: 1,
      noOrder: 1,
      foreign: 1,
      duplicate: 1,
      unresolved: 1,
      verdictDiffers: 2,
      missingAtService: 1,
    };
    const counted = Object.fromEntries(Object.entries(result.classes).filter(([, count]) => count > 0));
    expect(counted).toEqual(expected);
    expect(result.seen).toBe(9);
    expect(disagreementOf(result)).toContain('verdictDiffers 2');
  });

  test.for([
    ['foreign', ids.foreign, { status: 'completed' }],
    ['duplicate', ids.twice, {}],
    ['unresolved', ids.terminated, { status: 'processing', detail: expect.stringContaining('terminated') }],
    ['verdictDiffers', ids.regressed, { verdict: 'completed', status: 'processing' }],
    ['verdictDiffers', ids.turned, { verdict: 'completed', status: 'error' }],
    ['missingAtService', ids.removed, { verdict: 'completed' }],
  ] as const)('calls %s what it is: %s', ([name, orderId, shown]) => {
    expect(rowOf(orderId)).toMatchObject({ class: name, ...shown });
  });

  test('names the reference of orders that our workflows know', () => {
    for (const orderId of [ids.terminated, ids.turned, ids.removed])
      expect(rowOf(orderId)).toMatchObject({ reference: `ref:${orderId}` });
    expect(rowOf(ids.foreign)).not.toHaveProperty('reference');
  });

  test('finds the removed order in the balances, too, with its amount', () => {
    const removed = lab.sandbox.orders().find(({ order }) => order.user_order_id === ids.removed);
    const [first, ...more] = removed?.balance_changes ?? [];
    const last = more.at(-1) ?? first;
    const amount = toAmount(decimal(last?.amount_after ?? '').minus(decimal(first?.amount_before ?? '')));
    expect(result.gaps).toEqual([expect.objectContaining({ currency: 'usd', amount })]);
    const [{ after = '', before = '' } = {}] = result.gaps;
    expect(toAmount(decimal(before).minus(decimal(after)))).toBe(amount);
    expect(result.chains).toContainEqual(expect.objectContaining({ currency: 'usd', gaps: 1, balance: 'equal' }));
  });

  test('sends nothing and moves nothing', () => {
    const creates = Object.values(lab.sandbox.stats().createsByOrderId);
    // One each, and the one under an id of ours that was created elsewhere.
    expect(creates.reduce((sum, count) => sum + count, 0)).toBe(11);
  });

  test('raises attention on its workflow', async () => {
    const { typedSearchAttributes } = await lab.temporal.client.workflow.getHandle('reconcile:default').describe();
    expect(typedSearchAttributes.get(searchAttribute.account)).toBe('default');
    expect(typedSearchAttributes.get(searchAttribute.needsAttention)).toBe(true);
  });

  test('leaves a report with the hash it names', async () => {
    const { report } = result;
    const bytes = await readFile(join(reportDir, report?.path ?? ''));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(report?.sha256);
    const { rows, classes } = JSON.parse(bytes.toString());
    expect(classes).toEqual(result.classes);
    expect(rows).toHaveLength(6);
    expect(rows).toContainEqual(expect.objectContaining({ class: 'verdictDiffers', order_id: ids.turned }));
  });
});
