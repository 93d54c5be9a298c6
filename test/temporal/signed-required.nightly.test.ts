import type { Payload } from '@temporalio/common';
import { beforeAll, expect, test, vi } from 'vitest';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { signed } from '../../src/client/signing.js';
import { DECIDE_UPDATE } from '../../src/contract/names.js';
import type { Decision } from '../../src/contract/order/messages.js';
import { KEYS, testApprovers } from '../support/approvers.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { plain, type Rogue, rogueAt, updatesIn } from './rogue.fixture.js';
import { keyOf } from './stored-bytes.fixture.js';

vi.setConfig({ testTimeout: 150_000 });

/** Parks, and once it is sent again parks once more. */
const PARKED_TWICE = { marker: 'create=500-before times=2', resend: 'never' } as const;
const WHY = { action: 'resend', by: 'Ann Smith', reason: 'absent' } as const;

const lab = useLab({
  encryptionKeys: [keyOf('a')],
  encryptionRequired: true,
  limits: { approvers: testApprovers() },
});
let rogue: Rogue;
beforeAll(() => {
  rogue = rogueAt(lab);
});

const decide = (workflowId: string, args: Payload[]) => rogue.update(workflowId, DECIDE_UPDATE, args);

const createsOf = (orderId: string): number =>
  lab.requestsOf(orderId).filter((path) => path.endsWith('/order/withdraw')).length;

/** What the parked order asks, once it asks something newer than `before`. */
const untilParked = async (order: OrderHandle, before = 0): Promise<number> => {
  const isAsked = async () => {
    const { phase, revision } = await order.state();
    return phase === 'parked' && revision > before && revision;
  };
  return (await vi.waitUntil(isAsked, { timeout: 60_000, interval: 100 })) as number;
};

const started = (label: string): Promise<OrderHandle> =>
  lab.orders.start('withdraw', orderInput('withdraw', newOrderId(label), PARKED_TWICE));

/** The decision with Ann's own signature for this very run. */
async function signedByAnn(order: OrderHandle, revision: number): Promise<Decision> {
  const { namespace } = lab.temporal;
  const { runId } = await lab.temporal.client.workflow.getHandle(order.workflowId).describe();
  const run = { namespace, account: 'default', workflowId: order.workflowId, runId };
  return signed({ ...WHY, revision }, KEYS.ann, { update: 'decide', run });
}

test('a parked order is decided by the signed and encrypted decision for it alone: once, and by none that was seen before', async () => {
  const [order, other] = await Promise.all([started('signed'), started('other')]);
  const [first, same] = await Promise.all([untilParked(order), untilParked(other)]);
  expect(first).toBe(same);

  // With the key of the installation, and nobody's signature.
  await expect(order.decide({ ...WHY, revision: first })).rejects.toThrow('unsigned');
  await expect(order.decide({ ...WHY, revision: first }, { signer: KEYS.zed })).rejects.toThrow('no person');
  // With a person's genuine signature, and none of the keys of the installation.
  expect(await decide(order.workflowId, [plain(await signedByAnn(order, first))])).toBe('refused');
  expect(await order.state()).toMatchObject({ phase: 'parked', revision: first });
  expect(createsOf(order.orderId)).toBe(1);

  await order.decide({ ...WHY, revision: first }, { signer: KEYS.ann });
  const second = await untilParked(order, first);
  expect(createsOf(order.orderId)).toBe(2);
  const [seen = []] = updatesIn(await rogue.historyOf(order.workflowId), DECIDE_UPDATE);
  expect(seen).toHaveLength(1);
  expect(Buffer.from(seen[0]?.data ?? []).toString('latin1')).not.toContain('Ann Smith');
  expect(await decide(order.workflowId, seen)).toBe('refused');
  expect(await decide(other.workflowId, seen)).toBe('refused');
  expect(await order.state()).toMatchObject({ phase: 'parked', revision: second });
  expect(await other.state()).toMatchObject({ phase: 'parked', revision: first });

  await order.decide({ ...WHY, revision: second }, { signer: KEYS.ann });
  expect(await order.result()).toMatchObject({ outcome: 'completed', decisions: [WHY, WHY] });
  expect([createsOf(order.orderId), createsOf(other.orderId)]).toEqual([3, 1]);
  expect(lab.sandbox.stats().executedByOrderId[order.orderId]).toBe(1);
});
