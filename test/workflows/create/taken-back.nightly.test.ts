import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { ORDER_CALLBACK_SIGNAL } from '../../../src/contract/names.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { giveUpCreate } from '../../support/pending-activity.js';
import { operationOf } from '../../support/service-gate.js';

vi.setConfig({ testTimeout: 150_000 });

const lab = useGatedLab(undefined, {
  callbacks: false,
  quiet: true,
  pace: { settleWindowMs: { atOnce: 20_000, deposit: 20_000 } },
});
const executed = (id: string) => lab.sandbox.stats().executedByOrderId[id] ?? 0;

/** The operator gives the sending create up; then the order's own callback comes. The list is 15 s behind. */
test.each([
  ['paused', true],
  ['gave more attempts', false],
])(
  'D122: a callback takes back a create that an operator %s while it was sent: nothing is sent before absence is proven',
  async (_, pause) => {
    const orderId = newOrderId('called');
    let probes = 0;
    lab.gate.rule = ({ path, orderId: asked }) => {
      if (asked !== orderId || operationOf(path) !== 'list') return undefined;
      probes += 1;
      // The first probe fails: nothing is sent in that round.
      return probes === 1 ? { status: 503, body: '{}' } : undefined;
    };
    const marker = 'create=no-answer duplicate=c lag_ms=15000';
    const handle = await lab.orders.start('withdraw', orderInput('withdraw', orderId, { marker, resend: 'never' }));
    await vi.waitUntil(() => executed(orderId) === 1, { timeout: 60_000, interval: 20 });
    const { client, namespace } = lab.temporal;
    await giveUpCreate(client, namespace, handle.workflowId, pause);
    await client.workflow.getHandle(handle.workflowId).signal(ORDER_CALLBACK_SIGNAL, {});
    await sleep(12_000);
    expect(executed(orderId)).toBe(1);
  },
);
