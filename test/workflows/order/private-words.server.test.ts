import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import type { DecideAction } from '../../../src/contract/order/messages.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { parkedFor } from '../compensation/parked-orders.fixture.js';
import { serviceView } from '../create/service-view.fixture.js';

// The orders wait most of the time, and not for each other.
vi.setConfig({ maxConcurrency: 20 });

/** No order has it; its look-up takes long enough to be seen. */
const CHOSEN = '0d6ae69e-0000-4000-8000-000000000001';

const lab = useGatedLab(
  async ({ body }) => {
    if (body.includes(CHOSEN)) await sleep(2_000);
    return undefined;
  },
  { callbacks: false },
);

const CARD = '4111111111111111';
const NAMES = [['an e-mail', 'anna.miller@example.com'] as const, ['a card number', CARD] as const];

/** A create that is answered with 500 and not executed: the order parks. */
const startAbsent = (label: string) =>
  lab.orders.start(
    'withdraw',
    orderInput('withdraw', newOrderId(label), { marker: 'create=500-before duplicate=c', resend: 'never' }),
  );

async function decideAs(by: string, handle: OrderHandle, action: DecideAction, more: object = {}): Promise<void> {
  const { revision } = await handle.state();
  await handle.decide({ action, by, reason: 'as agreed', revision, ...more });
}

/** What the Temporal UI shows. */
const detailsOf = async ({ workflowId }: OrderHandle): Promise<string> =>
  (
    await lab.temporal.client.workflow
      .getHandle(workflowId)
      .query<{ currentDetails: string }>('__temporal_workflow_metadata')
  ).currentDetails;

describe.concurrent('the name of who decides', () => {
  test.for(NAMES)('%s: is masked in the failure of an order closed as absent', async ([, by]) => {
    const handle = await startAbsent('closed');
    await parkedFor(handle);
    await decideAs(by, handle, 'close-absent');
    const error = await handle.result().catch((failure: Error) => failure);
    expect(error).toMatchObject({
      type: 'OrderAbsent',
      message: expect.stringMatching(/was closed by (anna\.)?\*{4}/),
    });
    expect(JSON.stringify([error, String(error)])).not.toContain(by);
  });

  test.for(NAMES)('%s: is masked in the failure of an order closed beside somebody else’s', async ([, by]) => {
    const input = orderInput('withdraw', newOrderId('foreign'), { marker: 'create=500-before duplicate=c' });
    const handle = await lab.orders.start('withdraw', input);
    await vi.waitFor(() => expect(serviceView(lab, handle.orderId).creates).toBe(1), 60_000);
    await (await serviceOf(lab.sandbox)).createOrder('withdraw', { ...input.order, amount: '99' });
    await parkedFor(handle, 'amount');
    await decideAs(by, handle, 'close-absent');
    const error = await handle.result().catch((failure: Error) => failure);
    expect(error).toMatchObject({
      name: 'UnresolvedError',
      subject: 'order',
      message: expect.stringMatching(/closed by (anna\.)?\*{4}/),
    });
    expect(JSON.stringify([error, String(error)])).not.toContain(by);
  });

  test.for(NAMES)('%s: is masked in why an order needs a person again', async ([, by]) => {
    const handle = await startAbsent('adopted');
    await parkedFor(handle, 'no such order');
    await decideAs(by, handle, 'adopt', { order_uuid: CHOSEN });
    const lookedUp = /a look-up of the order that (anna\.)?\*{4} chose/;
    await vi.waitFor(async () => expect((await handle.state()).waitingFor).toMatch(lookedUp), 10_000);
    expect(await detailsOf(handle)).toMatch(lookedUp);
    const { attention } = await parkedFor(handle, 'which');
    expect(attention?.reason).toMatch(/which (anna\.)?\*{4} chose, is not shown by the service/);
    expect(await detailsOf(handle)).not.toContain(by);
    await decideAs('ann', handle, 'close-absent');
    await expect(handle.result()).rejects.toMatchObject({
      message: expect.stringMatching(/closed (as absent )?by ann/),
    });
  });
});

describe.concurrent('a wallet in the wrong field of a raw start', () => {
  test.for([
    ['currency', { currency: CARD }, {}],
    ['batchId', {}, { batchId: CARD }],
  ] as const)('%s, %j %j: is in no search attribute, and nothing is sent', async ([field, order, options]) => {
    const orderId = newOrderId('misplaced');
    const input = orderInput('withdraw', orderId);
    const handle = await lab.temporal.client.workflow.start('withdraw', {
      workflowId: `order:default:${orderId}`,
      taskQueue: 'payment-orders',
      args: [{ order: { ...input.order, wallet: '5555555555554444', ...order }, ...options }],
    });
    const { cause } = (await handle.result().catch((error: { cause: unknown }) => error)) as { cause: Error };
    expect(cause).toMatchObject({ type: 'InvalidOrder', message: expect.stringContaining(`${field}: `) });
    expect(cause.message).not.toMatch(/4111/);
    const { searchAttributes } = await handle.describe();
    expect(searchAttributes).toMatchObject({ PaymentAccount: ['default'], PaymentOrderStatus: ['none'] });
    expect(JSON.stringify(searchAttributes)).not.toMatch(/4111/);
    expect(lab.requestsOf(orderId)).toEqual([]);
  });
});
