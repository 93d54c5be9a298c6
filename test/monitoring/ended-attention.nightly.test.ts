import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { expect, test, vi } from 'vitest';
import { searchAttribute } from '../../src/contract/names.js';
import { countVisible } from '../../src/monitoring/visibility.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';

const lab = useLab();

/** The lines of the metric after two rounds of counts. */
async function counted(): Promise<string> {
  const registry = new Registry();
  const stop = countVisible(lab.temporal.client, registry, 1_000);
  await sleep(4_000);
  stop();
  const text = await registry.metrics();
  expect(text).toMatch(/payment_orders_counted_timestamp_seconds \d/);
  return text
    .split('\n')
    .filter((line) => line.startsWith('payment_orders_attention{'))
    .join('\n');
}

test('a reconciliation that found what a person has to look at, perhaps a double payment, is counted, so that somebody is called', async () => {
  const order = await lab.orders.start(
    'withdraw',
    orderInput('withdraw', newOrderId('lost'), { marker: 'after_ms=3600000' }),
  );
  await order.created();
  await lab.temporal.client.workflow.getHandle(order.workflowId).terminate('a mistake');
  await lab.orders.reconcile();
  const query = `${searchAttribute.attentionReason.name} = 'disagreement' AND ${searchAttribute.needsAttention.name} = true`;
  // The list does show it.
  await vi.waitFor(async () => expect((await lab.temporal.client.workflow.count(query)).count).toBe(1), 20_000);
  expect(await counted()).toContain('payment_orders_attention{reason="disagreement",account="default"} 1');
  // One that looks at another time contradicts nothing of it.
  const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3_600_000).toISOString();
  expect(await lab.orders.reconcile({ from: daysAgo(21), to: daysAgo(20) })).toMatchObject({ seen: 0 });
  await sleep(2_000);
  expect(await counted()).toContain('payment_orders_attention{reason="disagreement",account="default"} 1');
});

test('an order that ended in a way that a person has to ask the service about is counted', async () => {
  const input = orderInput('withdraw', newOrderId('canceled'), { marker: 'outcome=canceled' });
  const order = await lab.orders.start('withdraw', input);
  await order.result();
  const { typedSearchAttributes } = await lab.temporal.client.workflow.getHandle(order.workflowId).describe();
  const reason = typedSearchAttributes.get(searchAttribute.attentionReason);
  expect(typedSearchAttributes.get(searchAttribute.needsAttention)).toBe(true);
  await sleep(2_000);
  expect(await counted()).toContain(`payment_orders_attention{reason="${reason}",account="default"} 1`);
});
