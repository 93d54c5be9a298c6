import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { Accounts } from '../../src/client/accounts.js';
import { BatchHandle } from '../../src/client/batch/batch-handle.js';
import { Batches } from '../../src/client/batch/batches.js';
import { Schedules } from '../../src/client/batch/schedules.js';
import type { WaitOptions } from '../../src/client/bounded.js';
import { OrderHandle } from '../../src/client/order-handle.js';
import { RemoteRun } from '../../src/client/remote-run.js';
import { PaymentOrders } from '../../src/client.js';
import { payout, useClient } from './client.fixture.js';

const fixture = useClient({ withWorker: false });

const rows = [{ order_id: 'o-1', currency: 'usd', network: 'card', amount: '1', wallet: '4111111111111111' }];
const batch = { batchId: 'waits', rows, startedBy: 'ann' };
const by = { by: 'bob', reason: 'x' };
const decision = { ...by, action: 'accept', revision: 1 } as const;
const decidable = { orderId: 'waits', workflowId: 'order:default:waits', since: new Date(), decision };
const plan = { account: 'default', does: [], orders: [decidable], amounts: {}, withoutAmount: 0, left: [], more: 0 };
const upload = { account: 'default', sha256: 'ab'.repeat(32), format: 'ndjson', parts: 1 } as const;
const monthly = {
  plan: 'monthly',
  cron: ['0 0 1 * *'],
  filePattern: '{period}.csv',
  batch: { startedBy: 'ann' },
} as const;

type Call = (orders: PaymentOrders, wait: WaitOptions) => Promise<unknown>;
const NOT_YET = 'NotDecidedYetError';
const NOBODY = 'NoWorkerError';
/** The call needs no worker: it ends in time. */
const ENDS = undefined;

/** Each method by its name, with the error that it throws in time if Temporal runs, but no worker. */
const CALLS: Readonly<Record<string, readonly [Call, string | undefined]>> = {
  'PaymentOrders.start': [(orders, wait) => orders.start('withdraw', payout('started'), wait), ENDS],
  'PaymentOrders.create': [(orders, wait) => orders.create('withdraw', payout('created'), wait), NOT_YET],
  'PaymentOrders.check': [(orders, wait) => orders.check('withdraw', payout('checked'), wait), NOBODY],
  'PaymentOrders.isServed': [(orders, wait) => orders.isServed('default', wait), ENDS],
  'PaymentOrders.list': [(orders, wait) => orders.list({}, wait), ENDS],
  'PaymentOrders.all': [(orders, wait) => orders.all({}, wait).next(), ENDS],
  'PaymentOrders.ended': [(orders, wait) => orders.ended(wait), ENDS],
  'PaymentOrders.planDecisions': [
    (orders, wait) => orders.planDecisions({ ...by, code: 'uncertain-create', action: 'accept' }, wait),
    ENDS,
  ],
  'PaymentOrders.decideAll': [(orders, wait) => orders.decideAll({ ...plan, digest: '' }, wait), ENDS],
  'PaymentOrders.rates': [(orders, wait) => orders.rates('default', {}, wait), NOBODY],
  'PaymentOrders.balances': [(orders, wait) => orders.balances('default', wait), NOBODY],
  'PaymentOrders.orderStatus': [(orders, wait) => orders.orderStatus({ order_id: 'x' }, 'default', wait), NOBODY],
  'PaymentOrders.orderList': [(orders, wait) => orders.orderList({}, 'default', wait), NOBODY],
  'PaymentOrders.addressList': [(orders, wait) => orders.addressList({}, 'default', wait), NOBODY],
  'PaymentOrders.createAddress': [
    (orders, wait) => orders.createAddress({ ref: 'c-1', address: { currency: 'usdt', network: 'tron' } }, wait),
    'FailedError',
  ],
  'PaymentOrders.export': [(orders, wait) => orders.export({ day: '2026-11-25' }, wait).next(), NOBODY],
  'PaymentOrders.reconcile': [(orders, wait) => orders.reconcile({}, wait), NOT_YET],
  'OrderHandle.isOpen': [(orders, wait) => orders.order('waits').isOpen(wait), ENDS],
  'OrderHandle.attentionAfterEnd': [(orders, wait) => orders.order('waits').attentionAfterEnd(wait), ENDS],
  'OrderHandle.state': [(orders, wait) => orders.order('waits').state(wait), NOBODY],
  'OrderHandle.created': [(orders, wait) => orders.order('waits').created(wait), NOT_YET],
  'OrderHandle.final': [(orders, wait) => orders.order('waits').final(wait), NOT_YET],
  'OrderHandle.result': [(orders, wait) => orders.order('waits').result(wait), NOT_YET],
  'OrderHandle.decide': [(orders, wait) => orders.order('waits').decide(decision, wait), NOBODY],
  'OrderHandle.cancel': [(orders, wait) => orders.order('started').cancel(wait), ENDS],
  'OrderHandle.hold': [(orders, wait) => orders.order('waits').hold(by, wait), NOBODY],
  'Accounts.stop': [(orders, wait) => orders.accounts.stop('default', by, wait), NOBODY],
  'Accounts.resume': [(orders, wait) => orders.accounts.resume('other', by, wait), 'RefusedError'],
  'Accounts.state': [(orders, wait) => orders.accounts.state('default', wait), ENDS],
  'Accounts.stopped': [(orders, wait) => orders.accounts.stopped(undefined, wait), ENDS],
  'BatchHandle.isOpen': [(orders, wait) => orders.batches.handle('waits').isOpen(wait), ENDS],
  'BatchHandle.state': [(orders, wait) => orders.batches.handle('waits').state(wait), NOBODY],
  'BatchHandle.approve': [
    (orders, wait) => orders.batches.handle('waits').approve({ digest: '', by: 'b' }, wait),
    NOBODY,
  ],
  'BatchHandle.pause': [(orders, wait) => orders.batches.handle('waits').pause(by, wait), NOBODY],
  'BatchHandle.resume': [(orders, wait) => orders.batches.handle('waits').resume(by, wait), NOBODY],
  'BatchHandle.stop': [(orders, wait) => orders.batches.handle('waits').stop(by, wait), NOBODY],
  'BatchHandle.result': [(orders, wait) => orders.batches.handle('waits').result(wait), NOT_YET],
  'BatchHandle.rows': [(orders, wait) => orders.batches.handle('waits').rows(wait), ENDS],
  'BatchHandle.allRows': [(orders, wait) => orders.batches.handle('waits').allRows(wait).next(), ENDS],
  'BatchHandle.report': [(orders, wait) => orders.batches.handle('waits').report(wait), NOT_YET],
  'Batches.upload': [(orders, wait) => orders.batches.upload(Buffer.from('{}'), { format: 'ndjson', ...wait }), NOBODY],
  'Batches.uploadPart': [(orders, wait) => orders.batches.uploadPart(upload, 1, Buffer.from('{}'), wait), NOBODY],
  'Batches.plan': [(orders, wait) => orders.batches.plan(batch, wait), NOBODY],
  'Batches.start': [(orders, wait) => orders.batches.start({ rows, startedBy: 'ann' }, wait), NOBODY],
  'Schedules.create': [(orders, wait) => orders.schedules.create({ ...monthly, cron: [...monthly.cron] }, wait), ENDS],
  'Schedules.trigger': [(orders, wait) => orders.schedules.trigger('none', { period: '2026-01-01' }, wait), ENDS],
};

/** Sends nothing, or is a step of the others. */
const OTHERS = ['constructor', 'client', 'close', 'order', 'received', 'handle', 'run', 'afterEnd'];
const STEPS = ['ask', 'tell', 'wait', 'within', 'orParked', 'signedRun', 'chosen'];

const LIMIT_MS = 700;
/** What a call may take longer. */
const SLACK_MS = 1_000;

/** Calls at the same time. More only wait for the processor. */
const AT_ONCE = 8;

/** Runs every call, and returns how long each took and what came of it. */
async function outcomes(orders: PaymentOrders, wait: () => WaitOptions) {
  const run = async ([name, [call]]: [string, readonly [Call, unknown]]) => {
    const startedAt = performance.now();
    const ended = await call(orders, wait()).then(
      () => undefined,
      (error: unknown) => error,
    );
    return [name, { ended, ms: performance.now() - startedAt }] as const;
  };
  const all = Object.entries(CALLS);
  const ended = [];
  for (let from = 0; from < all.length; from += AT_ONCE) {
    ended.push(...(await Promise.all(all.slice(from, from + AT_ONCE).map(run))));
  }
  return new Map(ended);
}

type Outcomes = Awaited<ReturnType<typeof outcomes>>;

const late = (all: Outcomes) =>
  [...all].filter(([, { ms }]) => ms > LIMIT_MS + SLACK_MS).map(([name, { ms }]) => `${name}: ${Math.round(ms)} ms`);

const names = (all: Outcomes) =>
  Object.fromEntries([...all].map(([name, { ended }]) => [name, (ended as Error)?.name]));

const ordersAt = (address: string) =>
  new PaymentOrders(new Client({ connection: Connection.lazy({ address }), namespace: fixture.namespace.namespace }));

/** Address that accepts connections and never answers, and one that nobody listens on. */
async function silentAddresses() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { hanging: `127.0.0.1:${(server.address() as AddressInfo).port}`, unreachable: '127.0.0.1:1' };
}

const gone = new Error('the caller went away');

describe('the limits of a call', () => {
  beforeAll(async () => {
    await fixture.orders.start('withdraw', payout('waits'));
    await fixture.orders.batches.start(batch);
  });

  it('hold for every method: none is missing here', () => {
    const classes = { PaymentOrders, OrderHandle, Accounts, BatchHandle, Batches, Schedules };
    const methods = Object.entries(classes).flatMap(([name, one]) => {
      const inherited = one.prototype instanceof RemoteRun ? Object.getOwnPropertyNames(RemoteRun.prototype) : [];
      const all = new Set([...inherited, ...Object.getOwnPropertyNames(one.prototype)]);
      return [...all].filter((method) => ![...OTHERS, ...STEPS].includes(method)).map((method) => `${name}.${method}`);
    });
    expect(Object.keys(CALLS).toSorted()).toEqual(methods.toSorted());
  });

  it('are kept while Temporal does not answer', async () => {
    for (const [which, address] of Object.entries(await silentAddresses())) {
      const orders = ordersAt(address);
      const timedOut = await outcomes(orders, () => ({ timeoutMs: LIMIT_MS }));
      expect(late(timedOut), which).toEqual([]);
      const expected = Object.keys(CALLS).map((name) => [name, 'TemporalUnreachableError']);
      expect(names(timedOut), which).toEqual({ ...Object.fromEntries(expected), 'PaymentOrders.decideAll': undefined });
      const aborts = await outcomes(orders, () => {
        const controller = new AbortController();
        setTimeout(() => controller.abort(gone), LIMIT_MS);
        return { signal: controller.signal };
      });
      expect(late(aborts), which).toEqual([]);
      expect(
        [...aborts].filter(([, { ended }]) => ended !== gone).map(([name]) => name),
        which,
      ).toEqual([]);
    }
  });

  it('are kept without a worker, and the error says so', async () => {
    const timedOut = await outcomes(fixture.orders, () => ({ timeoutMs: LIMIT_MS }));
    expect(late(timedOut)).toEqual([]);
    const expected = Object.entries(CALLS).map(([name, [, error]]) => [name, error]);
    const { 'Schedules.create': created, ...ended } = names(timedOut);
    expect({ ...ended, 'Schedules.create': undefined }).toEqual({
      ...Object.fromEntries(expected),
      'Schedules.trigger': 'UnknownIdError',
    });
    // Planning the file of its next run takes most of the limit.
    expect([undefined, 'NoWorkerError']).toContain(created);
    // With time for Temporal to take the start and to say who polls, whatever else runs on the machine.
    const says = ['PaymentOrders.create', 'OrderHandle.result', 'BatchHandle.result'].map(async (method) => {
      const call = CALLS[method]?.[0] as Call;
      await expect(call(fixture.orders, { timeoutMs: 5_000 })).rejects.toThrow('No worker serves account "default"');
    });
    await Promise.all(says);
  });

  it('of a signal that has aborted let nothing out', async () => {
    const all = await outcomes(fixture.orders, () => ({ signal: AbortSignal.abort(gone) }));
    expect([...all].filter(([, { ended }]) => ended !== gone).map(([name]) => name)).toEqual([]);
  });

  it('leave no listener on a signal that lives longer', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    signal.addEventListener = new Proxy(signal.addEventListener, {
      apply: (add, self, given) => {
        listeners += 1;
        return Reflect.apply(add, self, given);
      },
    });
    signal.removeEventListener = new Proxy(signal.removeEventListener, {
      apply: (remove, self, given) => {
        listeners -= 1;
        return Reflect.apply(remove, self, given);
      },
    });
    await outcomes(fixture.orders, () => ({ signal, timeoutMs: LIMIT_MS }));
    expect(listeners).toBe(0);
  });
});
