import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WORKFLOWS } from '../../scripts/schemas/wire-types.js';
import { FUNDS_SIGNAL } from '../../src/contract/names.js';
import { ORDER_TYPES, workflowTypeOf } from '../../src/contract/order/types.js';
import { startEventReceiver } from '../support/event-receiver.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { type BatchLab, csvOf, openBatchLab, testRows } from '../workflows/batch/batches.fixture.js';
import { misfit } from './ajv.fixture.js';

let shop: Awaited<ReturnType<typeof startEventReceiver>>;
let lab: BatchLab;
beforeAll(async () => {
  shop = await startEventReceiver('shop');
  lab = await openBatchLab({ workflowThread: false, receivers: [shop.config] });
});
afterAll(async () => {
  await lab?.close();
  await shop?.close();
});

/** Fails unless a value, as JSON holds it, fits a schema. */
const fits = (name: string, value: unknown) => expect(misfit(name, JSON.parse(JSON.stringify(value)))).toBeUndefined();

/** Names of the messages that a run handles, by kind, as it reports them itself. */
async function messagesOf(workflowId: string) {
  const metadata = await lab.temporal.client.workflow.getHandle(workflowId).query('__temporal_workflow_metadata');
  const { definition } = metadata as { definition: Record<string, { name: string }[]> };
  const namesOf = (kind: string) =>
    (definition[kind] ?? []).map(({ name }) => name).filter((name) => !name.startsWith('__'));
  return {
    updates: namesOf('updateDefinitions').toSorted(),
    queries: namesOf('queryDefinitions').toSorted(),
    signals: namesOf('signalDefinitions').toSorted(),
  };
}

const known = (type: string) => {
  const { updates = {}, queries = {}, signals = {} } = WORKFLOWS[type] ?? {};
  const names = (messages: object) => Object.keys(messages).toSorted();
  return { updates: names(updates), queries: names(queries), signals: names(signals) };
};

describe('what a server returns fits the schemas', () => {
  test.concurrent.each(ORDER_TYPES)('of an order of type %s', async (type) => {
    const input = orderInput(type, newOrderId('wire'), { marker: 'after_ms=1000' });
    fits(`order-input.${type}`, input);
    const { handle, order } = await lab.orders.create(type, input);
    fits('order', order);
    fits('order-state', await handle.state());
    fits('order', await handle.final());
    fits('order-result', await handle.result());
    fits('order', await lab.orders.orderStatus({ order_uuid: order.order_uuid }));
    // Only an order that waits for funds hears of them.
    const { signals, ...others } = known(workflowTypeOf(type));
    const always = signals.filter((name) => name !== FUNDS_SIGNAL);
    expect(await messagesOf(handle.workflowId)).toEqual({ ...others, signals: always });
  });

  test('of a parked order, whose decisions fit once a person has signed them with a name', async () => {
    const marker = 'outcome=completed_partially fraction=0.4';
    const input = orderInput('withdraw', newOrderId('wire-parked'), { marker, compensation: 'ask' });
    const handle = await lab.orders.start('withdraw', input);
    await expect.poll(async () => (await handle.state()).phase, { timeout: 60_000 }).toBe('parked');
    const state = await handle.state();
    fits('order-state', state);
    const words = { by: 'Ann Smith', reason: 'booked by hand' };
    for (const { decision } of state.decisions) fits('decision', { ...decision, ...words });
    fits('order-state', await handle.decide({ action: 'accept', ...words, revision: state.revision }));
    const result = await handle.result();
    fits('order-result', result);
    expect(result.decisions).toHaveLength(1);
  });

  test('of a batch, a reconciliation, an address and reads', async () => {
    const batchId = newOrderId('wire-batch');
    const file = { path: `${batchId}.csv` };
    await writeFile(join(lab.folder, file.path), csvOf(testRows('wire-row', 2)));
    const input = { batchId, file, startedBy: 'ann', approval: 'required' } as const;
    fits('batch-input', input);
    fits('batch-plan', await lab.orders.batches.plan(input));
    const batch = await lab.orders.batches.start(input);
    await expect.poll(async () => (await batch.state()).phase, { timeout: 60_000 }).toBe('awaitingApproval');
    const state = await batch.state();
    fits('batch-state', state);
    expect(await messagesOf(`bulk:default:${batchId}`)).toEqual(known('bulkWithdraw'));
    const approval = { digest: state.plan?.digest ?? '', by: 'bob' };
    fits('batch-approval', approval);
    await batch.approve(approval);
    fits('batch-result', await batch.result());
    fits('batch-state', await batch.state());
    fits('reconcile-result', await lab.orders.reconcile());
    const address = { ref: 'wire-1', address: { currency: 'usdt', network: 'tron' } };
    fits('address-input', address);
    fits('address-result', await lab.orders.createAddress(address));
    for (const read of [lab.orders.rates(), lab.orders.balances(), lab.orders.orderList(), lab.orders.addressList()]) {
      fits('service-read-result', await read);
    }
  });

  test('of every event that was posted meanwhile', async () => {
    await expect
      .poll(() => new Set(shop.received.map(({ event }) => event.type)), { timeout: 60_000 })
      .toEqual(
        new Set([
          ...['order.created', 'order.final', 'order.ended', 'order.needs_attention', 'order.attention_over'],
          ...['batch.planned', 'batch.awaits_approval', 'batch.ended'],
        ]),
      );
    for (const { event, body } of shop.received) fits(`event.${event.type}`, JSON.parse(body));
  });
});
