import { expect, vi } from 'vitest';
import { afterWorked, poolsLeft } from '../../chaos/oracle/pools.js';
import type { Way } from '../../chaos/ways.js';
import type { OrderHandle } from '../../src/client/order-handle.js';
import { followUpOrderId } from '../../src/contract/names.js';
import { decideOn, isOvertaken, waysOut } from './decisions.fixture.js';
import { atService, executedTwice, type Known, type Model, possibleFailures, type Real } from './model.fixture.js';

/** Ends every fault, then decides on every parked order until all have ended. Fails on one that stays open. */
export async function healAndOperate(model: Model, real: Real, limitMs: number): Promise<void> {
  real.lab.sandbox.set({ faults: {}, serverDown: false });
  await Promise.all([...model].map(([id, known]) => operate(known, real.lab.orders.order(id), real, limitMs)));
  await Promise.all(real.leaving.splice(0));
}

async function operate(known: Known, handle: OrderHandle, { lab }: Real, limitMs: number): Promise<void> {
  let resends = 0;
  let last = 'nothing';
  const ended = async () => {
    if (!(await handle.isOpen())) return true;
    const state = await handle.state().catch((error: unknown) => {
      if (!isOvertaken(error)) throw error;
    });
    last = JSON.stringify({ ...state, order: state?.order?.status });
    if (state?.phase !== 'parked') return false;
    const ways = waysOut(lab, handle.orderId, state);
    const way = choose(ways, resends);
    // Nobody could ever end such an order.
    if (!way) throw new Error(`${handle.orderId} is parked without a way out: ${last}`);
    if (way.action === 'close-absent') known.closedAbsent = true;
    if ((await decideOn(handle, state, way)) && way.action === 'resend') resends += 1;
    return false;
  };
  await vi.waitUntil(ended, { timeout: limitMs, interval: 200 }).catch((error: Error) => {
    throw new Error(`${handle.orderId} (${JSON.stringify(known.plan)}) is open: ${last}`, { cause: error });
  });
}

/** `resend` for what is absent, `accept` for what is left, else whatever there is. */
function choose(ways: Way[], resends: number): Way | undefined {
  const by = (action: Way['action']) => ways.find((way) => way.action === action);
  return (resends < 3 ? by('resend') : by('close-absent')) ?? by('accept') ?? ways[0];
}

/** Compares every order's end with the service's books and with what the model holds possible. */
export async function verify(model: Model, real: Real): Promise<void> {
  expect(executedTwice(real)).toEqual([]);
  for (const [id, known] of model) await verifyOrder(known, real.lab.orders.order(id), real);
  expect(strangers(model, real)).toEqual([]);
}

async function verifyOrder(known: Known, handle: OrderHandle, { lab }: Real): Promise<void> {
  const about = `${handle.orderId} ${JSON.stringify(known.plan)}`;
  const found = atService(lab, handle.orderId);
  const end = await handle.result().then(
    (result) => ({ outcome: result.outcome, uuid: result.order.order_uuid }),
    (error: { type?: string; name: string }) => ({ failure: error.type ?? error.name }),
  );
  if ('failure' in end) {
    // Closed as absent although a callback had claimed the order: the close is in doubt.
    const inDoubt = known.closedAbsent ? ['UnresolvedError'] : [];
    expect([...possibleFailures(known), ...inDoubt], about).toContain(end.failure);
    expect(found, `${about}: exists`).toEqual([]);
    return;
  }
  const [at] = found.map(({ order }) => order);
  expect(end, about).toEqual({ outcome: at?.status, uuid: at?.order_uuid });
  expect(end.outcome, about).toBe(known.plan.outcome);
  verifyMoney(handle.orderId, lab);
}

/** Every follow-up took no more of a currency than the order and the follow-ups before it had left there. */
function verifyMoney(orderId: string, lab: Real['lab']): void {
  const [parent] = atService(lab, orderId);
  if (!parent) return;
  let pools = poolsLeft(parent);
  for (let n = 1; ; n += 1) {
    const [followUp] = atService(lab, followUpOrderId(orderId, n));
    if (!followUp) return;
    pools = afterWorked(parent.order, pools, followUp);
  }
}

/** Orders at the service that belong to none of the started ones. */
function strangers(model: Model, { lab, prefix }: Real): string[] {
  const ids = lab.sandbox.orders().map(({ order }) => order.user_order_id);
  return ids.filter((id) => id.startsWith(prefix) && !model.has(id.replace(/\.r\d+$/, '')));
}
