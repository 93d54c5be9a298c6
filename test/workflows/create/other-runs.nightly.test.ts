import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { serviceOf } from '../../../scripts/service-of.js';
import { OrderHandle } from '../../../src/client/order-handle.js';
import { lookUpAfterEnd } from '../../../src/client/start-options.js';
import type { CreateRequests } from '../../../src/contract/order/request.js';
import { resetTo, resettableEvents, runOf } from '../../reliability/reset.fixture.js';
import { orderInput } from '../../support/inputs.js';
import { newOrderId, useGatedLab } from '../../support/lab.js';
import { listOf, operationOf } from '../../support/service-gate.js';
import { decideNow, parkedFor } from '../compensation/parked-orders.fixture.js';

vi.setConfig({ testTimeout: 200_000 });

/* An order was shown to another run, or named by a callback after its end. Its id shows nothing any more. */

const WINDOW_MS = 3_000;
const lab = useGatedLab(undefined, {
  pace: { settleWindowMs: { atOnce: WINDOW_MS, deposit: WINDOW_MS } },
  sandbox: { settings: { duplicateMode: 'c' } },
});

let orderId: string;
beforeEach(() => {
  orderId = newOrderId('other-runs');
});
afterEach(() => {
  lab.gate.rule = () => undefined;
});

const SILENT = 'callback=drop after_ms=60000';
const executed = () => lab.sandbox.stats().executedByOrderId[orderId] ?? 0;
const uuid = () => lab.sandbox.orders().find(({ order }) => order.user_order_id === orderId)?.order.order_uuid ?? '';
const input = (marker = SILENT) => orderInput('withdraw', orderId, { marker });
const start = (marker?: string) => lab.orders.start('withdraw', input(marker));
const startAgain = (more: object = {}) => lab.orders.start('withdraw', { ...input(), ...more }, { again: true });
const afterEnd = () =>
  new OrderHandle(lab.temporal.client, 'default', orderId, { workflowId: `after-end:order:default:${orderId}` });

/** Look-ups by our id show every order but this one; `alsoByUuid`: so do those by its uuid. */
function hide(alsoByUuid = true): void {
  const id = orderId;
  lab.gate.rule = ({ path, body }) => {
    const operation = operationOf(path);
    const others = lab.sandbox.orders().filter(({ order }) => order.user_order_id !== id);
    if (operation === 'list') return listOf(body, others);
    const isAbout = body.includes(id) || (alsoByUuid && body.includes(uuid() || 'nothing'));
    return operation === 'status' && isAbout ? { status: 400, body: '{}' } : undefined;
  };
}

/** A create that was executed behind a 400, and believed to be refused. */
async function rejected(): Promise<void> {
  hide();
  const handle = await start(`create=400-after ${SILENT}`);
  await expect(handle.result()).rejects.toMatchObject({ type: 'OrderRejected' });
  await vi.waitFor(async () => expect(await handle.isOpen()).toBe(false), 60_000);
  expect(executed()).toBe(1);
}

/** Without the other runs' orders, it would be sent beside the later orders that are shown. */
async function isHidden(handle: OrderHandle): Promise<void> {
  await parkedFor(handle, 'does not show orders that it confirmed', 60_000);
  expect(executed()).toBe(1);
}

test('a callback came after a refused order ended: a person is asked before it is sent again', async () => {
  await rejected();
  expect(await lab.sandbox.sendCallback(uuid())).toBe(200);
  await sleep(2 * WINDOW_MS);
  const { attention } = await parkedFor(await startAgain(), 'a callback came for it', 60_000);
  expect(attention?.allowed).toContain('resend');
  expect(executed()).toBe(1);
});

test('a callback with an invented order came before it started: a person may send it', async () => {
  const INVENTED = '0f3a1c7e-0000-4000-8000-000000000001';
  await lookUpAfterEnd(lab.temporal.client, `order:default:${orderId}`, { order_uuid: INVENTED });
  lab.sandbox.set({ faults: { 'create.503-before': 1 } });
  const handle = await start();
  await vi.waitUntil(() => lab.gate.about(orderId, 'create').length > 0, { timeout: 30_000 });
  const run = await runOf(lab, handle);
  await resetTo(lab, run, (await resettableEvents(lab, run))[0] ?? '');
  await parkedFor(handle, 'a callback came for it', 120_000);
  expect(executed()).toBe(0);
  lab.sandbox.set({ faults: {} });
  await decideNow(handle, 'resend');
  await vi.waitUntil(() => executed() === 1, { timeout: 30_000 });
});

test('an operator was shown the order after its end, and many callbacks came since: a person is asked before it is sent again', async () => {
  await rejected();
  lab.gate.rule = () => undefined;
  expect(await lab.sandbox.sendCallback(uuid())).toBe(200);
  const { attention } = await parkedFor(afterEnd(), 'OrderRejected');
  expect(attention?.reason).toContain(uuid());
  await decideNow(afterEnd(), 'accept');
  const { client } = lab.temporal;
  const isClosed = async () => !(await afterEnd().isOpen());
  await vi.waitUntil(isClosed, { timeout: 60_000 });
  for (let n = 0; n < 20; n += 1) {
    await lookUpAfterEnd(client, `order:default:${orderId}`, {});
    await vi.waitUntil(isClosed, { timeout: 60_000, interval: 50 });
  }
  hide();
  await isHidden(await startAgain());
});

test('the service showed another order under the id before: a person is asked before it is sent again', async () => {
  const { order } = input();
  await (await serviceOf(lab.sandbox)).createOrder('withdraw', order as CreateRequests['withdraw']);
  const wrong = { ...input(), order: { ...order, amount: '13.37' } } as ReturnType<typeof input>;
  const first = await lab.orders.start('withdraw', wrong);
  await expect(first.result()).rejects.toMatchObject({ type: 'OrderConflict' });
  hide();
  await isHidden(await startAgain());
});

test.each(['terminated', 'reset to before its create'])(
  'an order that was accepted is %s: it is adopted',
  async (how) => {
    const handle = await start();
    const { order_uuid } = await handle.created();
    hide(false);
    if (how === 'terminated') {
      await lab.temporal.client.workflow.getHandle(handle.workflowId).terminate('by mistake');
      await startAgain({ sentUntil: new Date().toISOString() });
    } else {
      const run = await runOf(lab, handle);
      await resetTo(lab, run, (await resettableEvents(lab, run))[0] ?? '');
    }
    expect(await lab.orders.order(orderId).created({ timeoutMs: 90_000 })).toMatchObject({ order_uuid });
    expect(executed()).toBe(1);
  },
);
