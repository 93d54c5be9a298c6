import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { ORDERS_TASK_QUEUE } from '../../../src/contract/names.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId } from '../../support/lab.js';
import { rogueAt } from '../../temporal/rogue.fixture.js';
import { keyOf } from '../../temporal/stored-bytes.fixture.js';
import { attentionSays, executedAtBoth, openTwoAccounts, PLACES } from './two-accounts.fixture.js';

/* Orders that were stopped and are started again where the worker has another account's key by now. */

const SETTLE_MS = 2_500;
const UNKNOWN = /where its create went is not known/;

test.each(['completed', 'terminated'] as const)(
  '%s, then started by something without the payload keys, which hides nothing of what was sent before it',
  async (end) => {
    const encryption = { encryptionKeys: [keyOf('a')], encryptionRequired: true };
    const { lab, other, workAt } = await openTwoAccounts(SETTLE_MS, encryption);
    await workAt(PLACES.first);
    const input = orderInput('withdraw', newOrderId('foreign'));
    const first = await lab.orders.start('withdraw', input);
    await vi.waitFor(() => expect(lab.sandbox.stats().executedByOrderId[first.orderId]).toBe(1), 60_000);
    if (end === 'completed') await first.result();
    else await lab.temporal.client.workflow.getHandle(first.workflowId).terminate('by mistake');
    const { workflowId } = first;
    await rogueAt(lab).client.workflow.start('withdraw', { workflowId, taskQueue: ORDERS_TASK_QUEUE, args: [input] });
    await expect(lab.orders.order(first.orderId).result()).rejects.toThrow('payload not encrypted');
    await workAt(PLACES.otherKey);
    const again = await lab.orders.start('withdraw', input, { again: true });
    await attentionSays(again, UNKNOWN);
    await sleep(SETTLE_MS);
    const executed = executedAtBoth({ lab, other }, first.orderId);
    expect(executed, 'executed at the first and at the second account').toEqual([1, 0]);
  },
);
