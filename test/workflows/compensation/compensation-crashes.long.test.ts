import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from '@temporalio/worker';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { afterWorked, poolsLeft } from '../../../chaos/oracle/pools.js';
import type { SandboxOrder } from '../../../sandbox/index.js';
import { quoteFrom } from '../../../sandbox/quote.js';
import { CURRENCIES, type Terms } from '../../../sandbox/rates.js';
import { NoWorkerError } from '../../../src/client/errors.js';
import type { OrderHandle } from '../../../src/client/order-handle.js';
import { followUpOrderId, orderWorkflowId } from '../../../src/contract/names.js';
import type { OrderInput, OrderResult, RevertTarget } from '../../../src/contract/order/input-and-result.js';
import type { Decision } from '../../../src/contract/order/messages.js';
import type { OrderType } from '../../../src/contract/order/types.js';
import { createWorkers } from '../../../src/worker/start-worker.js';
import { BITCOIN, CARD, ETHEREUM, OTHER_CARD, SEPA_IBAN, TRON, UA_IBAN } from '../../contract/inputs.fixture.js';
import { type Lab, openLab } from '../../support/lab.js';
import { workflowBundle } from '../../support/temporal.js';
import { orders, partialPlans } from './arbitraries.fixture.js';
import { requestOf } from './cases.fixture.js';

const ORDERS = 300;
const STARTS_PER_SECOND = 15;
/** Far fewer than are open at a time: most tasks meet a worker that has to rebuild the workflow from its history. */
const CACHED = 100;
/** How long workers live before others take over; every stop leaves orders in the middle of a step. */
const WORKER_LIFE_MS = 20_000;
const SEED = Date.now();

/** Where payouts and refunds go, by network. */
const TARGETS: Record<string, Record<string, unknown>> = {
  card: { wallet: CARD },
  bank: { wallet: 'ACCOUNT-1', wallet_details: { bank_code: '123' } },
  sepa: { wallet: SEPA_IBAN, wallet_details: { recipient_email: 'a@example.com', recipient_name: 'A' } },
  bank_ua: {
    wallet: UA_IBAN,
    wallet_details: { recipient_bank: 'B', recipient_name: 'A', taxpayer_number: '12345678' },
  },
  bitcoin: { wallet: BITCOIN },
  ethereum: { wallet: ETHEREUM },
  tron: { wallet: TRON },
};
const REFUNDS: Record<string, string> = {
  usd: 'card',
  eur: 'card',
  uah: 'card',
  btc: 'bitcoin',
  eth: 'ethereum',
  usdt: 'tron',
  trx: 'tron',
};
const refundOf = (currency: string): RevertTarget => {
  const network = REFUNDS[currency] ?? '';
  return { network, wallet: '', ...TARGETS[network] };
};

interface Started {
  type: OrderType;
  input: OrderInput;
}

/** Partial orders of every type, with random pairs (and so fees and payers), amounts, leftovers and rates. */
const started: Started[] = fc
  .sample(fc.tuple(orders, partialPlans, fc.boolean()), { numRuns: ORDERS, seed: SEED })
  .map(([{ terms, asked }, plan, revert], n) => {
    const { orderType: type, networkTo } = terms;
    const { wallet: _, ...fields } = requestOf(terms, asked) as unknown as Record<string, unknown>;
    const left = plan.unexchanged === '0' ? 'unpaid' : plan.unpaid === '0' ? 'unexchanged' : 'both';
    const fraction = plan.unexchanged === '0' ? plan.unpaid : plan.unexchanged;
    const marker = `outcome=completed_partially left=${left} fraction=${fraction} paid=${plan.paid} rate=${plan.rateFactor}`;
    const cards = networkTo === 'multiple_cards' && { wallet: 'several', wallet_details: cardsOf(asked, terms) };
    const order = {
      ...fields,
      ...(networkTo && type.includes('withdraw') && (cards || TARGETS[networkTo])),
      order_id: `crash-${n}`,
      description: `[sandbox pay_ms=20 after_ms=20 ${marker}]`,
    };
    const compensation = type === 'deposit' ? 'ask' : revert ? 'revert' : 'finish';
    const revertTo = type.startsWith('deposit_') && refundOf(terms.currencyFrom);
    return { type, input: { order, compensation, ...(revertTo && { revertTo }) } as unknown as OrderInput };
  });

/** One card that gets all of the payout. */
function cardsOf(asked: { amount: string } | { amountTo: string }, terms: Terms) {
  return [{ amount: 'amount' in asked ? quoteFrom(asked.amount, terms).received : asked.amountTo, wallet: CARD }];
}

let lab: Lab;
let results: Map<string, OrderResult>;
let worked: Map<string, SandboxOrder>;
let workersStarted = 0;

/** Stops all workers and starts others, again and again until told to end. */
async function crashWorkers(isOver: () => boolean): Promise<void> {
  const target = { connection: lab.temporal.nativeConnection, namespace: lab.temporal.namespace };
  while (!isOver()) {
    const code = { workflowBundle: workflowBundle(), maxCachedWorkflows: CACHED };
    const workers = await createWorkers(lab.config, target, code);
    const running = workers.map((worker) => worker.run());
    workersStarted += 1;
    for (let livedMs = 0; livedMs < WORKER_LIFE_MS && !isOver(); livedMs += 250) await sleep(250);
    for (const worker of workers) worker.shutdown();
    await Promise.all(running);
  }
}

/** Decides on every parked order until all have ended: what is offered first, after two follow-ups `accept`. */
async function operate(open: Map<string, OrderHandle>, isOver: () => boolean): Promise<void> {
  while (open.size > 0 && !isOver()) {
    const { orders: parked } = await lab.orders.list({ status: 'parked', limit: ORDERS });
    await Promise.all(parked.map(({ orderId }) => decideOnce(lab.orders.order(orderId)).catch(ignoreRestarts)));
    await sleep(1_000);
  }
}

/** A decision may meet a worker that just ended, or an order that just moved on: the next round sees it again. */
function ignoreRestarts(error: unknown): void {
  const { name } = error as Error;
  const expected = error instanceof NoWorkerError || name === 'RefusedError' || name === 'NotDecidedYetError';
  if (!expected) throw error;
}

async function decideOnce(handle: OrderHandle): Promise<void> {
  const { phase, revision, attention } = await handle.state();
  if (phase !== 'parked' || !attention) return;
  await handle.decide(
    { by: 'ann', reason: 'crash test', revision, ...wayOf(attention.reason, handle.orderId) },
    { timeoutMs: 10_000 },
  );
}

/** The first way that the attention offers; cards are named, and what two follow-ups left is accepted. */
function wayOf(reason: string, orderId: string): Pick<Decision, 'action' | 'kind' | 'as' | 'wallet_details'> {
  const offer = /(finish|revert)( unexchanged| unpaid)? as (\w+) \(([\d.]+) \w+(, needs wallet_details)?/.exec(reason);
  const [, action, kind, as, amount = '', cards] = offer ?? [];
  if (!action || reason.includes(followUpOrderId(orderId, 2)) || reason.includes('cannot be sent'))
    return { action: 'accept' };
  return {
    action,
    as,
    ...(kind && { kind: kind.trim() }),
    ...(cards && { wallet_details: [{ amount, wallet: OTHER_CARD }] }),
  } as Pick<Decision, 'action' | 'kind' | 'as' | 'wallet_details'>;
}

beforeAll(async () => {
  const balances = Object.fromEntries(Object.keys(CURRENCIES).map((currency) => [currency, '1000000000000000']));
  const settings = {
    balances,
    // Of the follow-ups: their parents have markers.
    outcomes: { completed: 0.85, completed_partially: 0.1, error: 0.05 },
    durationsMs: { pay: 0, execute: 100 },
    faults: { 'create.502-after': 0.05 },
  };
  lab = await openLab({ workers: false, callbacks: false, sandbox: { settings, timeScale: 1 } });
  results = new Map();
  const open = new Map<string, OrderHandle>();
  let over = false;
  const crashing = crashWorkers(() => over);
  try {
    for (const { type, input } of started) {
      const handle = await lab.orders.start(type, input);
      open.set(handle.orderId, handle);
      await sleep(1_000 / STARTS_PER_SECOND);
    }
    const ends = [...open.values()].map(async (handle) => {
      results.set(handle.orderId, await handle.result());
      open.delete(handle.orderId);
    });
    await Promise.all([...ends, operate(open, () => over)]);
  } finally {
    over = true;
    await crashing;
  }
  worked = new Map(lab.sandbox.orders().map((item) => [item.order.user_order_id, item]));
}, 240_000);
afterAll(() => lab?.close());

/** The follow-ups of an order as the sandbox has them, oldest first. */
function followUpsOf(orderId: string): SandboxOrder[] {
  const first = worked.get(followUpOrderId(orderId, 1));
  const more = [2, 3, 4].flatMap((n) => worked.get(followUpOrderId(orderId, n)) ?? []);
  return first ? [first, ...more] : [];
}

describe(`${ORDERS} partial orders whose workers crash (seed ${SEED})`, () => {
  test('all end, although their workers did not last', () => {
    expect(results.size).toBe(ORDERS);
    expect(workersStarted).toBeGreaterThan(1);
  });

  // A worker that takes over after a crash rebuilds an order from its history. Replaying a whole history does that for a
  // crash at every single step of it, and fails where the rebuilt order would have gone on differently.
  test('a crash at any step changes nothing: every history is replayed without a difference', async () => {
    const handles = [...results.keys()].map((orderId) =>
      lab.temporal.client.workflow.getHandle(orderWorkflowId('default', orderId)),
    );
    const recorded = await Promise.all(
      handles.map(async (handle) => ({ workflowId: handle.workflowId, history: await handle.fetchHistory() })),
    );
    let replayed = 0;
    const replays = Worker.runReplayHistories({ workflowBundle: workflowBundle() }, recorded);
    for await (const { workflowId, error } of replays) {
      expect(error, workflowId).toBeUndefined();
      replayed += 1;
    }
    expect(replayed).toBe(ORDERS);
  }, 60_000);

  test('no order and no follow-up was executed twice', () => {
    const { executedByOrderId } = lab.sandbox.stats();
    expect(Object.entries(executedByOrderId).filter(([, times]) => times !== 1)).toEqual([]);
    expect(worked.size).toBe(lab.sandbox.orders().length);
  });

  test('promise 4: no follow-up asks for more of a currency than was left of it', () => {
    let followUps = 0;
    for (const { input } of started) {
      const parent = worked.get(input.order.order_id);
      if (!parent) throw new Error('not worked');
      let pools = poolsLeft(parent);
      for (const followUp of followUpsOf(input.order.order_id)) {
        followUps += 1;
        pools = afterWorked(parent.order, pools, followUp);
      }
    }
    // A third on average, of orders that are drawn.
    expect(followUps).toBeGreaterThan(ORDERS / 4);
  });

  test('what each result says was left is what the sandbox knows', () => {
    for (const [orderId, { remainder, remainderUnknown, compensation, order }] of results) {
      // Follow-ups change what is left.
      if (remainderUnknown || compensation?.order_id) continue;
      const truth = worked.get(orderId)?.truth ?? { unexchanged: '?', unpaid: '?' };
      const told = {
        unexchanged: '0',
        unpaid: '0',
        ...Object.fromEntries((remainder ?? []).map((r) => [r.kind, r.amount])),
      };
      expect(told, `${orderId} ${order.order_type}`).toEqual(truth);
    }
  });
});
