import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { orderInput } from '../../support/inputs.js';
import { accountWith, type Lab, newOrderId, openLab, useLab } from '../../support/lab.js';
import { serviceView } from './service-view.fixture.js';

/** Look-ups show an order this long after it was made: longer than the Retry-After of 1 s, shorter than the settle window. */
const LAG_MS = 2_500;

// A callback of the executed order would hold its second send back, too.
const lab = useLab({
  callbacks: false,
  pace: { settleWindowMs: { atOnce: 4_000, deposit: 4_000 } },
  sandbox: { settings: { duplicateMode: 'c', visibilityLagMs: LAG_MS } },
});

describe('a create that is executed although its answer sounds like a refusal', () => {
  test.concurrent.for([
    ['withdraw', '429-after'],
    ['exchange', '429-after'],
    ['deposit', '429-after'],
    ['withdraw', '503-after'],
  ] as const)('%s, %s: is settled over the window, found, and never sent again', async ([type, fault]) => {
    const orderId = newOrderId('executed');
    const handle = await lab.orders.start(type, orderInput(type, orderId, { marker: `create=${fault}` }));
    const { outcome, adopted } = await handle.result();
    expect({ outcome, adopted, ...serviceView(lab, orderId) }).toEqual({
      ...{ outcome: 'completed', adopted: true },
      ...{ creates: 1, executed: 1, blindCreates: 0 },
    });
  });
});

describe('where the service guarantees that a 429 is never executed', () => {
  let trusting: Lab;
  beforeAll(async () => {
    trusting = await openLab({ workers: false });
    await trusting.startWorkers(accountWith(trusting, { notExecutedStatuses: [429] }));
  });
  afterAll(() => trusting?.close());

  test('it is sent again at once: nothing is settled', async () => {
    const orderId = newOrderId('at-once');
    const input = orderInput('withdraw', orderId, { marker: 'create=429', resend: 'never' });
    expect(await (await trusting.orders.start('withdraw', input)).result()).toMatchObject({ outcome: 'completed' });
    // Probe, create; one look-up (list and status); probe, create.
    expect(
      trusting
        .requestsOf(orderId)
        .slice(0, 6)
        .map((path) => path.split('/').at(-1)),
    ).toEqual(['list', 'withdraw', 'list', 'status', 'list', 'withdraw']);
  });

  // Behind the others: their requests would wait as well.
  test('a create waits for a minute at most, and as nothing was sent the order can still be cancelled', async () => {
    const orderId = newOrderId('huge');
    const { workflowId } = await trusting.orders.start(
      'withdraw',
      orderInput('withdraw', orderId, { marker: 'create=429-huge' }),
    );
    const handle = trusting.temporal.client.workflow.getHandle(workflowId);
    const nextTryAtMs = async () => {
      const { raw } = await handle.describe();
      return Number(raw.pendingActivities?.[0]?.scheduledTime?.seconds ?? 0) * 1_000;
    };
    await expect.poll(nextTryAtMs, { timeout: 60_000 }).toBeGreaterThan(Date.now() + 5_000);
    expect(await nextTryAtMs()).toBeLessThanOrEqual(Date.now() + 60_000);
    await handle.cancel();
    await expect(trusting.orders.order(orderId).result()).rejects.toMatchObject({ type: 'OrderCancelled' });
    expect(serviceView(trusting, orderId)).toEqual({ creates: 1, executed: 0, blindCreates: 0 });
  });
});

test("resend: 'never' holds after a 429, too: a person is asked", async () => {
  const orderId = newOrderId('never');
  const input = orderInput('withdraw', orderId, { marker: 'create=429', resend: 'never' });
  const handle = await lab.orders.start('withdraw', input);
  await expect.poll(async () => (await handle.state()).phase, { timeout: 60_000 }).toBe('parked');
  expect((await handle.state()).attention?.allowed).toEqual(['resend', 'close-absent', 'adopt']);
  expect(serviceView(lab, orderId)).toEqual({ creates: 1, executed: 0, blindCreates: 0 });
});
