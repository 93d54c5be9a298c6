import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { ratesData, TERMS } from '../../sandbox/rates.js';
import {
  type Decision,
  EventRefusedError,
  NotDecidedYetError,
  NoWorkerError,
  type Rates,
  TemporalUnreachableError,
  verifyEvent,
} from '../../src/index.js';
import { selects } from '../../src/testing/query.js';
import { signedEvent, type TestEnding, testPaymentOrders } from '../../src/testing.js';
import { EVENT_SECRET } from '../support/event-receiver.js';
import { orderInput } from '../support/inputs.js';

const { orders, ends, sent, set, clear } = testPaymentOrders();
beforeEach(clear);

/** Payouts in usd to a card; the merchant pays 1 usd and 4 %. */
const RATES = {
  withdraw: {
    usd_card: {
      ...{ currency_from: 'usd', network_from: null, currency_to: 'usd', network_to: 'card', exchange_rate: '1' },
      ...{ min_amount_from: '1', max_amount_from: '100', currency_from_precision: 2, currency_to_precision: 2 },
      ...{ fee_percent_to: '4', fixed_fee_amount_to: '1', min_fee_amount_to: null, fee_percent_to_payer: 'merchant' },
      ...{ fee_percent_from: null, fixed_fee_amount_from: null, min_fee_amount_from: null },
    },
  },
} as unknown as Rates;

const refundOf = (orderId: string) => orderInput('withdraw', orderId);

// docs/backends.md shows it.
test('a refund that waits for a person is not paid twice', async () => {
  ends('r-118', { parked: 'uncertain-create' });
  const refund = orders.create('withdraw', refundOf('r-118'), { timeoutMs: 30_000 });
  await expect(refund).rejects.toBeInstanceOf(NotDecidedYetError);
  const handle = orders.order('r-118');
  const { revision } = await handle.state();
  await handle.decide({ action: 'resend', by: 'Ann', reason: 'the service has no such order', revision });
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  expect(sent).toHaveLength(1);
});

test('a payroll is checked, approved and paid, except one row', async () => {
  const rows = ['p-1', 'p-2'].map((id) => refundOf(id).order);
  expect(await orders.check('withdraw', refundOf('p-1'))).toMatchObject({ wouldBeSent: true });
  ends('p-2', { failure: 'OrderRejected' });
  const batch = await orders.batches.start({ batchId: 'payroll', startedBy: 'Ann', rows, approval: 'required' });
  const { plan } = await batch.state();
  await batch.approve({ digest: plan?.digest ?? '', by: 'Bob' });
  expect(await batch.result()).toMatchObject({ started: 2, outcomes: { completed: 1, refused: 1 } });
});

test('docs/backends.md shows a test of this file', async () => {
  const [page, own] = await Promise.all(
    ['../../docs/backends.md', './double.test.ts'].map((path) => readFile(new URL(path, import.meta.url), 'utf8')),
  );
  const [section = ''] = /^## Test your own code\n.*?\n## /ms.exec(page ?? '') ?? [];
  const examples = section.match(/^test\('.*?\n\}\);/gms) ?? [];
  expect(examples).toHaveLength(2);
  for (const example of examples) expect(own).toContain(example);
});

describe('a corrected input under the id of an order that ended without one', () => {
  const corrected = (id: string) => ({ ...refundOf(id), order: { ...refundOf(id).order, amount: '20' } });
  const AGAIN =
    /earlier run ended as InvalidOrder, so no order of ours exists\. Correct the input, then start it with --again/;

  test('is told to say `again` if only a worker found its mistake, and is paid then', async () => {
    set({ rates: RATES });
    const wrong = { ...refundOf('w-1'), order: { ...refundOf('w-1').order, amount: '0.5' } };
    await expect(orders.create('withdraw', wrong)).rejects.toMatchObject({ type: 'InvalidOrder' });
    const refused = await orders.start('withdraw', corrected('w-1')).catch((error: Error) => error);
    expect(refused).toMatchObject({ kind: 'conflict', fields: ['order.amount'], ended: 'InvalidOrder' });
    expect((refused as Error).message).toMatch(AGAIN);
    expect((refused as Error).message).not.toContain('may be paid');
    expect((await orders.check('withdraw', corrected('w-1'))).id?.reason).toMatch(AGAIN);
    const { handle } = await orders.create('withdraw', corrected('w-1'), { again: true });
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  });

  test.for([
    ['OrderRejected', 'The id stays (in code: `again: true`)'],
    ['OrderCancelled', 'use --again (in code: `again: true`)'],
    ['OrderAbsent', 'use --again (in code: `again: true`)'],
    ['OrderConflict', 'start it with its own input and --again'],
  ] as const)('is told what comes next after %s', async ([failure, next]) => {
    ends('w-2', { failure });
    await expect(orders.create('withdraw', refundOf('w-2'))).rejects.toMatchObject({ type: failure });
    const refused = await orders.start('withdraw', corrected('w-2')).catch((error: Error) => error);
    expect((refused as Error).message).toContain(`The earlier run ended as ${failure}, so no order of ours exists. `);
    expect((refused as Error).message).toContain(next);
  });

  test.for([{ outcome: 'completed' }, { parked: 'uncertain-create' }, { failure: 'OrderUnresolved' }] as const)(
    'is told that the order may be paid after %j',
    async (ending) => {
      ends('w-3', ending as TestEnding);
      await orders.start('withdraw', refundOf('w-3'));
      await expect(orders.start('withdraw', corrected('w-3'))).rejects.toThrow('but that order may be paid');
    },
  );
});

describe('the double', () => {
  test('shows the inputs that were started, and forgets them, endings and settings', async () => {
    ends('one', { failure: 'OrderRejected' });
    set({ rates: { withdraw: {} }, fault: 'answersLost' });
    await expect(orders.start('withdraw', refundOf('one'))).rejects.toBeInstanceOf(TemporalUnreachableError);
    expect(sent).toEqual([{ type: 'withdraw', input: refundOf('one') }]);
    clear();
    expect(sent).toEqual([]);
    expect(await orders.rates()).toHaveProperty('withdraw.usd_card.max_amount_from', '100000');
    const { handle } = await orders.create('withdraw', refundOf('one'));
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(sent).toHaveLength(1);
  });

  test('has accepted a start whose answer it lost: the same input attaches', async () => {
    set({ fault: 'answersLost' });
    await expect(orders.start('withdraw', refundOf('lost'))).rejects.toBeInstanceOf(TemporalUnreachableError);
    set({ fault: undefined });
    expect((await orders.start('withdraw', refundOf('lost'))).attached).toBe(true);
    expect(sent).toHaveLength(1);
  });

  test('lets orders go on that waited for a worker', async () => {
    set({ fault: 'noWorker' });
    const handle = await orders.start('withdraw', refundOf('waits'));
    const result = handle.result();
    await expect(handle.created({ timeoutMs: 60_000 })).rejects.toBeInstanceOf(NotDecidedYetError);
    set({ fault: undefined });
    expect(await result).toMatchObject({ outcome: 'completed' });
  });

  test('cancels an order that no worker has taken', async () => {
    set({ fault: 'noWorker' });
    const handle = await orders.start('withdraw', refundOf('cancelled'));
    await handle.cancel();
    set({ fault: undefined });
    await expect(handle.result()).rejects.toMatchObject({ name: 'FailedError', type: 'OrderCancelled' });
  });

  test('waits without a time limit until the test lets the order end', async () => {
    ends('open', 'open');
    const { handle } = await orders.create('withdraw', refundOf('open'));
    const result = handle.result();
    expect(await Promise.race([result, sleep(50, 'waits')])).toBe('waits');
    ends('open', { outcome: 'error', order: { error_message: 'no such card' } });
    expect(await result).toMatchObject({ outcome: 'error', order: { error_message: 'no such card' } });
  });

  test('needs no time, also with a time limit and a clock that stands still', async () => {
    vi.useFakeTimers();
    try {
      ends('open', 'open');
      const { handle } = await orders.create('withdraw', refundOf('open'), { timeoutMs: 86_400_000 });
      await expect(handle.result({ timeoutMs: 86_400_000 })).rejects.toBeInstanceOf(NotDecidedYetError);
    } finally {
      vi.useRealTimers();
    }
  });

  test('ends a wait that the caller aborts', async () => {
    ends('open', 'open');
    const { handle } = await orders.create('withdraw', refundOf('open'));
    const stop = new AbortController();
    const result = handle.result({ signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(result).rejects.toThrow('enough');
  });

  test('follows the order that a person adopted', async () => {
    ends('doubt', { parked: 'conflict', next: 'open', order: { order_uuid: 'uuid-1' } });
    const handle = await orders.start('withdraw', refundOf('doubt'));
    const [{ decision } = {}] = (await handle.state()).decisions;
    expect(decision).toMatchObject({ action: 'adopt', order_uuid: 'uuid-1', differences: ['amount'] });
    await handle.decide({ ...(decision as Decision), by: 'Ann', reason: 'it is ours' });
    expect(await handle.created()).toMatchObject({ order_uuid: 'uuid-1' });
    ends('doubt', { outcome: 'completed' });
    expect(await handle.result()).toMatchObject({ adopted: true, order: { order_uuid: 'uuid-1' } });
  });

  test('asks again about an order that the service does not show', async () => {
    ends('doubt', { parked: 'uncertain-create', order: { order_uuid: 'uuid-1' } });
    const handle = await orders.start('withdraw', refundOf('doubt'));
    const adopt = async (order_uuid: string) => {
      const { revision } = await handle.state();
      await handle.decide({ action: 'adopt', order_uuid, by: 'Ann', reason: 'it is ours', revision });
      return handle.result({ until: 'parked' });
    };
    expect(await adopt('uuid-2')).toMatchObject({
      outcome: 'parked',
      state: { attention: { code: 'uncertain-create' } },
    });
    expect(await adopt('uuid-1')).toMatchObject({ outcome: 'completed', adopted: true });
  });

  test('checks an order without a start, by its ending, by rates and by balances', async () => {
    expect(await orders.check('withdraw', refundOf('checked'))).toMatchObject({
      ...{ orderId: 'checked', account: 'default', wouldBeSent: true, reasons: [], fields: [] },
      ...{ fees: [], leaves: [{ amount: '12.5' }], atService: { state: 'none' }, id: { state: 'free' } },
    });
    ends('checked', { parked: 'over-cap', reason: '12.50 usd are above 10' });
    const { wouldBeSent, reasons } = await orders.check('withdraw', refundOf('checked'));
    expect({ wouldBeSent, reasons }).toEqual({
      wouldBeSent: false,
      reasons: ['it would wait for a person: 12.50 usd are above 10'],
    });
    set({ rates: RATES, balances: { usd: { amount: '10', balances: {} } } as never });
    const { leaves, warnings } = await orders.check('withdraw', refundOf('checked'));
    expect(leaves).toEqual([
      { currency: 'usd', amount: '14', balanceBefore: '10', balanceAfter: '-4', shortfall: '4' },
    ]);
    expect(warnings).toEqual([expect.stringContaining('4 usd are missing')]);
    expect(sent).toEqual([]);
  });

  test('has the pairs, limits and rates of the sandbox, without fees', async () => {
    const withoutFees = (entry: object) =>
      Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, name.includes('fee') ? null : value]));
    const served = Object.entries(ratesData(TERMS.values())).map(([type, pairs]) => [
      type,
      Object.fromEntries(Object.entries(pairs).map(([key, entry]) => [key, withoutFees(Object(entry))])),
    ]);
    expect(await orders.rates()).toEqual(Object.fromEntries(served));
  });

  test('leaves orders and reads of an account without workers waiting, until it has some', async () => {
    const handle = await orders.start('withdraw', { ...refundOf('one'), account: 'shop' });
    expect(handle.served).toBe(false);
    await expect(handle.created({ timeoutMs: 1_000 })).rejects.toBeInstanceOf(NotDecidedYetError);
    await expect(orders.rates('shop', undefined, { timeoutMs: 1_000 })).rejects.toBeInstanceOf(NoWorkerError);
    ends('one', { outcome: 'error' }, { account: 'shop' });
    set({ accounts: ['default', 'shop'] });
    expect(await handle.result()).toMatchObject({ outcome: 'error' });
    expect(await (await orders.start('withdraw', refundOf('one'))).result()).toMatchObject({ outcome: 'completed' });
    expect(await orders.orderStatus({ order_id: 'one' }, 'shop')).toMatchObject({ status: 'error' });
  });

  test('reports at once whether an account has a worker', async () => {
    expect((await orders.start('withdraw', refundOf('one'))).served).toBe(true);
    set({ fault: 'noWorker' });
    expect((await orders.start('withdraw', refundOf('two'))).served).toBe(false);
  });

  test('reads all ended orders, however many there are', async () => {
    for (let n = 0; n < 250; n += 1) await orders.start('withdraw', refundOf(`one-${n}`));
    const ended: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await orders.ended({ after, limit: 100 });
      if (page.orders.length === 0) break;
      ended.push(...page.orders.map(({ orderId }) => orderId));
      after = page.cursor;
    }
    expect(new Set(ended).size).toBe(250);
  });

  test('knows the funds of orders that need them, but no wait for them', async () => {
    const of = (id: string, whenShort: 'refuse' | 'wait') => ({ ...refundOf(id), whenShort });
    expect(await (await orders.start('withdraw', of('one', 'wait'))).result()).toMatchObject({ outcome: 'completed' });
    set({ balances: { usd: { amount: '10', balances: {} } } as never });
    await expect(orders.create('withdraw', of('two', 'refuse'))).rejects.toMatchObject({
      ...{ type: 'InvalidOrder', fields: [{ field: 'order.amount' }] },
    });
    await expect(orders.start('withdraw', of('three', 'wait'))).rejects.toThrow('lacks waits for funds, which start');
    const rows = [refundOf('row').order];
    const batch = orders.batches.start({ batchId: 'b', startedBy: 'ann', rows, whenShort: 'wait' });
    await expect(batch).rejects.toThrow('lacks waits for funds, which batches.start needs');
  });

  test('refuses endings and settings that do not exist, and names those that do', () => {
    const of = (ending: unknown) => () => ends('one', ending as TestEnding);
    expect(of({ parked: 'remainder' })).toThrow(/parked of the ending must be one of uncertain-create, .*"remainder"/);
    expect(of({ outcome: 'cancelled' })).toThrow('completed, completed_partially, canceled, error');
    expect(of({ failure: 'Rejected' })).toThrow('OrderRejected');
    expect(of({ outcome: 'error', remainders: [] })).toThrow('outcome, remainder, order');
    expect(of({ outcome: 'completed_partially' })).toThrow('remainder of the ending must be a list');
    expect(of({ outcome: 'error', remainder: [{ kind: 'rest' }] })).toThrow('unpaid, unexchanged');
    expect(of({ parked: 'over-cap', next: 'closed' })).toThrow("next of the ending must be 'open' or");
    expect(of('opened')).toThrow(TypeError);
    expect(() => set({ faults: 'noWorker' } as never)).toThrow('ending, fault, accounts, rates, balances');
    expect(() => set({ fault: 'down' } as never)).toThrow('noWorker, unreachable, answersLost');
    expect(() => set({ ending: { failure: 'None' } } as never)).toThrow('OrderRejected');
  });

  test('says what it does not have', async () => {
    const batch = orders.batches.plan({ startedBy: 'ann', file: { path: 'payroll.csv' } });
    await expect(batch).rejects.toThrow('lacks files of batches, which batches.plan needs');
    await expect(orders.orderList()).rejects.toThrow('lacks the read orderList, which orderList needs');
    const address = orders.createAddress({ ref: 'a', address: { currency: 'usdt', network: 'tron' } });
    await expect(address).rejects.toThrow('lacks the workflow depositAddress, which createAddress needs');
    const by = { by: 'ann', reason: 'why' };
    await expect(orders.accounts.stop('default', by)).rejects.toThrow('which accounts.stop needs');
    await expect(orders.schedules.trigger('p', { period: '2026-11' })).rejects.toThrow('which schedules.trigger needs');
    await expect(orders.export({ day: '2026-11-26' }).next()).rejects.toThrow('which export needs');
    ends('open', 'open');
    const { handle } = await orders.create('withdraw', refundOf('open'));
    await expect(handle.hold(by)).rejects.toThrow('lacks the update hold, which handle.hold needs');
    await expect(orders.order('open').hold(by)).rejects.toThrow('which handle.hold needs');
  });
});

describe('list queries', () => {
  const row = {
    WorkflowId: "order:a:it's",
    ExecutionStatus: 'Running',
    PaymentNeedsAttention: true,
    StartTime: new Date(5_000),
  };

  test.each([
    ["WorkflowId = 'order:a:it\\'s'", true],
    ["WorkflowId STARTS_WITH 'order:a:' AND ExecutionStatus IN ('Running', 'Failed')", true],
    ["ExecutionStatus NOT IN ('Running')", false],
    ["(ExecutionStatus = 'Failed' OR PaymentNeedsAttention = true) AND CloseTime IS NULL", true],
    ["StartTime >= '1970-01-01T01:00:05+01:00' AND StartTime <= '1970-01-01T00:00:05Z'", true],
    ["StartTime > '1970-01-01T00:00:05Z'", false],
    ["CloseTime > '1970-01-01T00:00:00Z'", false],
  ])('%s', (query, is) => {
    expect(selects(query, row)).toBe(is);
  });

  test.each([
    ['', ''],
    ['a comparison that it does not know', "WorkflowId LIKE 'a'"],
    ['an order', "WorkflowId = 'a' ORDER BY StartTime"],
    ['a missing bracket', "(WorkflowId = 'a'"],
    ['a text without an end', "WorkflowId = 'a"],
  ])('refuse %s', (_, query) => {
    expect(() => selects(query, row)).toThrow('lacks the list query');
  });
});

test('a signed event is one that a receiver takes, unless it is old or was changed', () => {
  const { body, headers } = signedEvent(EVENT_SECRET, 'order.ended', { order_id: 'r-117', outcome: 'completed' });
  const event = { type: 'order.ended', data: { account: 'default', order_id: 'r-117', outcome: 'completed' } };
  expect(verifyEvent(body, headers, EVENT_SECRET)).toMatchObject(event);
  expect(() => verifyEvent(body.replace('r-117', 'r-118'), headers, EVENT_SECRET)).toThrow(EventRefusedError);
  const old = signedEvent(EVENT_SECRET, 'order.ended', {}, new Date(Date.now() - 301_000));
  expect(() => verifyEvent(old.body, old.headers, EVENT_SECRET)).toThrow(EventRefusedError);
  expect(() => signedEvent('a secret', 'test')).toThrow(TypeError);
});

test('its code needs neither a worker nor a test runner', async () => {
  const packages = new Set<string>();
  const files = [new URL('../../src/testing.ts', import.meta.url).href];
  // The loop also visits what it appends. The library itself is not part of it.
  for (const file of files) {
    const text = await readFile(new URL(file), 'utf8');
    for (const [, name = ''] of text.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)'/gms)) {
      const target = new URL(name.replace(/\.js$/, '.ts'), file).href;
      if (!name.startsWith('.')) packages.add(name);
      else if (!target.endsWith('/src/index.ts') && !files.includes(target)) files.push(target);
    }
  }
  const needed = [...packages].filter(
    (name) => !name.startsWith('node:') && !/^@temporalio\/(client|common|proto)\b/.test(name),
  );
  expect(needed.sort()).toEqual(['big.js', 'lossless-json']);
});
