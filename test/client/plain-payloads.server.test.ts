import { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { plainPayloads } from '../../src/client/plain-payloads.js';
import { PaymentOrders } from '../../src/client.js';
import { orderInput } from '../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../support/lab.js';
import { runStarterWith } from '../support/run-starter.js';
import { keyOf } from '../temporal/stored-bytes.fixture.js';

const OPEN = { marker: 'after_ms=600000' };

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ encryptionKeys: [keyOf('a')], callbacks: false });
});
afterAll(() => lab?.close());

test('`payloads` names the open workflows and schedules that a process without keys has made, and no other', async () => {
  const { connection } = lab.temporal.client;
  const without = new PaymentOrders(new Client({ connection, namespace: lab.temporal.namespace }));
  const encrypted = orderInput('withdraw', newOrderId('encrypted'), OPEN);
  const plain = orderInput('withdraw', newOrderId('plain'), OPEN);
  await lab.orders.create('withdraw', encrypted);
  const schedule = { cron: ['0 10 * * 5'], filePattern: 'x-{period}.csv', batch: { startedBy: 'ann' } };
  await lab.orders.schedules.create({ plan: 'ours', ...schedule });
  const asked = () => runStarterWith(async () => lab.orders, ['payloads', '--json']);
  expect(await plainPayloads(lab.temporal.client)).toEqual([]);
  expect(await asked()).toMatchObject({ code: 0 });

  await without.start('withdraw', plain);
  await lab.orders.order(plain.order.order_id).created();
  await without.schedules.create({ plan: 'theirs', ...schedule });
  const workflow = { kind: 'workflow', id: `order:default:${plain.order.order_id}`, at: 'workflowExecutionStarted' };
  const found = [workflow, { kind: 'schedule', id: 'default.theirs', at: 'its action' }];
  await expect.poll(() => plainPayloads(lab.temporal.client), { timeout: 20_000 }).toEqual(found);
  const { code, stdout } = await asked();
  expect([code, JSON.parse(stdout)]).toEqual([1, { plain: found }]);
});
