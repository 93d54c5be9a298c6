import { createSecretKey } from 'node:crypto';
import { Client } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import type { OrderInput } from '../../src/contract/order/input-and-result.js';
import type { OrderCheck } from '../../src/contract/order/messages.js';
import type { OrderType } from '../../src/contract/order/types.js';
import { dataConverter } from '../../src/temporal.js';
import { orderInput } from '../support/inputs.js';
import { accountWith, newOrderId, useGatedLab } from '../support/lab.js';

/** A cap on one currency only. Tests may change the map, as a restart of the workers would. */
const caps = new Map([['eur', '50']]);
const lab = useGatedLab(undefined, { callbacks: false, limits: { caps } });

/** Checks an order with these fields instead of the usual ones. */
const check = (type: OrderType, order: object = {}, orderId = newOrderId('check'), options = {}) => {
  const input = orderInput(type, orderId);
  return lab.orders.check(type, { ...input, order: { ...input.order, ...order } } as never, options);
};

const creates = () => lab.sandbox.requests().filter(({ path }) => /\/v2\/order\/(?!status|list)/.test(path));

const FOREIGN_KEY = { id: 'theirs', key: createSecretKey(Buffer.alloc(32, 7)) };
const IBAN = 'DE89370400440532013000';
const SEPA = {
  ...{ currency: 'eur', network: 'sepa', wallet: IBAN },
  wallet_details: { recipient_email: 'anna@example.com', recipient_name: 'Anna Smith' },
};

const of = (currency: string, amount: string) => ({ currency, amount });

describe('amounts by the current rates', () => {
  // Amounts as the sandbox executes them: `sandbox/quote.ts`.
  test.for<[what: string, type: OrderType, order: object, found: Partial<OrderCheck>]>([
    [
      'a payout whose commission the merchant pays',
      'withdraw',
      { amount: '200' },
      {
        limits: { currency: 'usd', min: '1', max: '100000' },
        fees: [{ ...of('usd', '3.5'), payer: 'merchant' }],
        arrives: of('usd', '200'),
        leaves: [expect.objectContaining(of('usd', '203.5')) as never],
      },
    ],
    [
      'a payout whose commission the client pays',
      'withdraw',
      { ...SEPA, amount: '40' },
      {
        fees: [{ ...of('eur', '0.35'), payer: 'client' }],
        arrives: of('eur', '39.65'),
        leaves: [expect.objectContaining(of('eur', '40')) as never],
      },
    ],
    [
      'an exchange',
      'exchange',
      { amount: '642.50', currency_to: 'eth' },
      {
        limits: { currency: 'usd', min: '1', max: null },
        fees: [],
        leaves: [expect.objectContaining(of('usd', '642.5')) as never],
      },
    ],
    [
      'a payout after an exchange, in two currencies',
      'exchange_withdraw',
      { currency_to: 'trx', amount: '100' },
      {
        estimated: true,
        fees: [{ ...of('trx', expect.any(String) as never), payer: 'merchant' }],
        leaves: [
          expect.objectContaining(of('usd', '100')) as never,
          expect.objectContaining({ currency: 'trx', balanceBefore: '1000000000' }) as never,
        ],
      },
    ],
    [
      'a deposit, out of which the client pays',
      'deposit',
      { currency: 'trx', amount: '1000' },
      { fees: [{ ...of('trx', '6'), payer: 'client' }], arrives: of('trx', '994'), leaves: [] },
    ],
  ])('%s', async ([, type, order, found]) => {
    const report = await check(type, order);
    expect(report).toMatchObject({ ...found, fields: [], wouldBeSent: true, reasons: [], id: { state: 'free' } });
    expect(report.atService).toEqual({ state: 'none' });
  });

  test('agree with what the sandbox then executes', async () => {
    for (const [type, order] of [
      ['exchange', { amount: '642.50', currency_to: 'eth' }],
      ['exchange_withdraw', { currency_to: 'trx', amount: '321.50' }],
      ['exchange_withdraw', { currency_to: 'trx', amount: undefined, amount_to: '3000' }],
      ['withdraw', { ...SEPA, amount: '40' }],
    ] as const) {
      const orderId = newOrderId('check-quote');
      const { arrives, leaves } = await check(type, order, orderId);
      const input = orderInput(type, orderId);
      const { order: made } = await lab.orders.create(type, { ...input, order: { ...input.order, ...order } } as never);
      expect([arrives?.amount, leaves?.[0]?.amount], type).toEqual([
        made.expected_amount_to,
        made.expected_amount_from,
      ]);
    }
  });

  test('are left out with the reason where they cannot be known', async () => {
    const near = await check('exchange', { currency_from: 'eur', currency_to: 'usd', amount: '20' });
    expect(near).toMatchObject({ wouldBeSent: true, limits: { currency: 'eur', min: '1', max: null } });
    expect([near.arrives, near.fees, near.leaves]).toEqual([undefined, undefined, undefined]);
    expect(near.unknown?.join()).toContain('does not document the direction of its exchange rates');
    const client = await check('exchange_withdraw', {
      currency_to: 'btc',
      network_to: 'bitcoin',
      wallet: BITCOIN,
      amount: undefined,
      amount_to: '0.01',
    });
    expect(client.unknown?.join()).toContain("whether the client's commission is taken from amount_to");
  });
});

const BITCOIN = '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa';

describe('an order that would not be sent', () => {
  test.for<[what: string, type: OrderType, order: object, field: string, reason: string]>([
    ['below the minimum', 'withdraw', { amount: '0.50' }, 'order.amount', 'below min_amount_from, 1 usd'],
    ['above the maximum', 'withdraw', { amount: '100001' }, 'order.amount', 'above max_amount_from, 100000 usd'],
    ['with too many places', 'withdraw', { amount: '12.505' }, 'order.amount', '3 decimals, usd allows 2'],
    ['of an unknown pair', 'deposit', { network: 'ton' }, 'order.network', 'is not offered'],
  ])('%s', async ([, type, order, field, reason]) => {
    const report = await check(type, order);
    expect(report).toMatchObject({ wouldBeSent: false, fields: [{ field, reason: expect.stringContaining(reason) }] });
    expect(report.reasons).toEqual([expect.stringContaining(`${field}: `)]);
  });

  test('of bad input names every field as a start does, and nothing else is looked up', async () => {
    const before = lab.sandbox.requests().length;
    const report = await check('withdraw', { amount: '0', network: '', wallet: '4111111111111112' });
    const names = report.fields.map(({ field }) => field);
    expect(names).toEqual(expect.arrayContaining(['order.amount', 'order.network']));
    expect(Object.keys(report).toSorted()).toEqual(['account', 'fields', 'orderId', 'reasons', 'wouldBeSent']);
    expect(report.wouldBeSent).toBe(false);
    expect(JSON.stringify(report)).not.toContain('4111111111111112');
    expect(lab.sandbox.requests()).toHaveLength(before);
  });

  test('above a cap says what a person would be asked', async () => {
    const report = await check('withdraw', { ...SEPA, amount: '50.01' });
    const reason = '50.01 eur is above the cap of 50 eur for one order';
    expect(report).toMatchObject({ wouldBeSent: false, wouldPark: { code: 'over-cap', reason } });
    expect(report.reasons).toEqual([`it would wait for a person: ${reason}`]);
    const { handle } = await startOf('withdraw', { ...SEPA, amount: '50.01' });
    await expect
      .poll(() => handle.state(), { timeout: 60_000 })
      .toMatchObject({ attention: { code: 'over-cap', reason } });
    await handle.cancel();
  });

  test('after its latest time to send', async () => {
    const input = { ...orderInput('withdraw', newOrderId('check')), latestSend: '2020-01-01T00:00:00Z' };
    const report = await lab.orders.check('withdraw', input);
    expect(report).toMatchObject({ wouldBeSent: false, notNow: 'its latest send time 2020-01-01T00:00:00Z is over' });
  });
});

/** Starts an order with these fields. */
async function startOf(type: OrderType, order: object = {}, orderId = newOrderId('check-start'), more = {}) {
  const input = orderInput(type, orderId, more);
  const handle = await lab.orders.start(type, { ...input, order: { ...input.order, ...order } } as never);
  return { orderId, handle };
}

describe('the balance', () => {
  test('is shown before and after; a shortfall is a warning unless the order says what to do', async () => {
    lab.sandbox.set({ balances: { usd: '100', eur: '100000000' } });
    const [enough, short] = [await check('withdraw', { amount: '50' }), await check('withdraw', { amount: '120.50' })];
    lab.sandbox.set({ balances: { usd: '100000000' } });
    expect(enough.leaves).toEqual([{ ...of('usd', '51.5'), balanceBefore: '100', balanceAfter: '48.5' }]);
    expect(short.leaves).toEqual([
      { ...of('usd', '122.81'), balanceBefore: '100', balanceAfter: '-22.81', shortfall: '22.81' },
    ]);
    expect(enough.warnings).toBeUndefined();
    expect(short).toMatchObject({ wouldBeSent: true, warnings: [expect.stringContaining('22.81 usd are missing')] });
  });

  test.for<[NonNullable<OrderInput['whenShort']>, object]>([
    ['refuse', { fields: [{ field: 'order.amount', reason: expect.stringContaining('is less than 122.81 usd') }] }],
    ['ask', { wouldPark: { code: 'short-of-funds', reason: expect.stringContaining('is less than 122.81 usd') } }],
    ['wait', { notNow: expect.stringContaining('it would wait for funds: the balance of 100 usd') }],
    ['overtake', { notNow: expect.stringContaining('it would wait for funds: the balance of 100 usd') }],
  ])('that is short: whenShort %s says what a start would do', async ([whenShort, expected]) => {
    const input = orderInput('withdraw', newOrderId('short'));
    const checkOf = (amount: string) =>
      lab.orders.check('withdraw', { ...input, whenShort, order: { ...input.order, amount } });
    lab.sandbox.set({ balances: { usd: '100' } });
    const [enough, short] = [await checkOf('50'), await checkOf('120.50')];
    lab.sandbox.set({ balances: { usd: '100000000' } });
    expect(enough).toMatchObject({ wouldBeSent: true, reasons: [] });
    expect(short).toMatchObject({ wouldBeSent: false, leaves: [{ shortfall: '22.81' }], ...expected });
    expect(short.warnings).toBeUndefined();
  });
});

describe('the id', () => {
  test('of an open order: the same input attaches, another one is a conflict', async () => {
    const { orderId, handle } = await startOf('withdraw', { description: '[sandbox after_ms=60000]' });
    await handle.created();
    const same = await check('withdraw', { description: '[sandbox after_ms=60000]' }, orderId);
    expect(same).toMatchObject({
      wouldBeSent: false,
      id: { state: 'same' },
      atService: { state: 'same', status: 'processing' },
    });
    const other = await check('withdraw', { amount: '13' }, orderId);
    expect(other).toMatchObject({
      id: { state: 'conflict', fields: expect.arrayContaining(['order.amount']) },
      atService: { state: 'conflict', fields: expect.arrayContaining(['amount']) },
      wouldPark: { code: 'conflict' },
      wouldBeSent: false,
    });
  });

  test('of an ended order is used up, and `again` is judged as a start judges it', async () => {
    const { orderId, handle } = await startOf('withdraw');
    await handle.result();
    expect(await check('withdraw', {}, orderId)).toMatchObject({
      wouldBeSent: false,
      id: { state: 'ended', reason: expect.stringContaining('ended completed') },
    });
    const again = await check('withdraw', {}, orderId, { again: true });
    expect(again.id).toMatchObject({ state: 'ended', reason: expect.stringContaining('is refused') });
    const refused = await startOf('withdraw', { amount: '0.50' });
    await handle.result();
    await refused.handle.result().catch(() => undefined);
    expect(await check('withdraw', {}, refused.orderId, { again: true })).toMatchObject({
      wouldBeSent: true,
      id: { state: 'ended' },
    });
  });

  test.for([
    ['/v2/order/status', 503, { atService: { state: 'unknown', reason: expect.stringContaining('HTTP 503') } }, false],
    ['/v2/order/status', 404, { atService: { state: 'none' } }, true],
    ['/v2/balances', 503, { unknown: ['the balance could not be read'], leaves: [{ balanceBefore: null }] }, true],
  ] as const)('where %s answers %i', async ([path, status, found, wouldBeSent]) => {
    lab.gate.rule = (request) => (request.path === path ? { status } : undefined);
    const report = await check('withdraw');
    lab.gate.rule = () => undefined;
    expect(report).toMatchObject({ ...found, wouldBeSent, id: { state: 'free' } });
  });

  test('of a run that cannot be read is unknown, never free', async () => {
    const { client, namespace } = lab.temporal;
    const { connection } = client;
    const orderId = newOrderId('check');
    const other = new Client({
      connection,
      namespace,
      dataConverter: dataConverter({ encryptionKeys: [FOREIGN_KEY] }),
    });
    const run = await other.workflow.start('withdraw', {
      ...{ taskQueue: 'nobody', workflowId: `order:default:${orderId}`, args: [orderInput('withdraw', orderId)] },
    });
    const report = await check('withdraw', {}, orderId);
    await run.terminate();
    expect(report).toMatchObject({ wouldBeSent: false, id: { state: 'unknown', reason: expect.any(String) } });
  });
});

describe('what workers are set to, or cannot read', () => {
  const replaced = async (change: Parameters<typeof lab.replaceWorkers>[0], act: () => Promise<OrderCheck>) => {
    await lab.replaceWorkers({ caps, ...change });
    return act().finally(() => lab.replaceWorkers({ caps }));
  };

  test('a wallet of a wrong format is a warning with formatChecks "warn", and bad input without', async () => {
    const order = { wallet: '4111111111111112' };
    const warned = await replaced(accountWith(lab, { formatChecks: 'warn' }), () =>
      check('withdraw', order, undefined, { formatChecks: 'warn' }),
    );
    expect(warned).toMatchObject({
      wouldBeSent: true,
      fields: [],
      warnings: [expect.stringContaining('order.wallet')],
    });
    expect(JSON.stringify(warned)).not.toContain(order.wallet);
    expect(await check('withdraw', order)).toMatchObject({ fields: [{ field: 'order.wallet' }] });
    // The account decides, as it does at a start.
    const refused = await check('withdraw', order, undefined, { formatChecks: 'warn' });
    expect(refused).toMatchObject({ wouldBeSent: false, fields: [{ field: 'order.wallet' }] });
  });

  test('after a restore nothing is sent yet', async () => {
    const report = await replaced({ restoredAtMs: Date.now() + 60_000 }, () => check('withdraw'));
    expect(report).toMatchObject({ wouldBeSent: false, notNow: expect.stringContaining('Temporal was restored') });
  });

  test('without rates limits and amounts are unknown, and the order would be sent unchecked', async () => {
    lab.gate.rule = ({ path }) => (path === '/v2/rates' ? { status: 503 } : undefined);
    const report = await replaced({}, () => check('withdraw'));
    lab.gate.rule = () => undefined;
    expect(report.unknown).toEqual([expect.stringContaining('rates were not to be had')]);
    expect(report).toMatchObject({ wouldBeSent: true, id: { state: 'free' } });
    expect([report.limits, report.fees, report.arrives, report.leaves]).toEqual(Array(4).fill(undefined));
  });
});

test('a dry run sends no create and leaves the id to a later start', async () => {
  const orderId = newOrderId('check-then-start');
  const before = creates().length;
  expect(await check('withdraw', {}, orderId)).toMatchObject({ wouldBeSent: true });
  expect(lab.requestsOf(orderId)).toEqual(['/v2/order/status']);
  expect(creates()).toHaveLength(before);
  await expect(lab.orders.order(orderId).isOpen()).rejects.toMatchObject({ kind: 'unknown' });
  const { handle } = await startOf('withdraw', {}, orderId);
  expect(handle.attached).toBe(false);
  expect((await handle.result()).outcome).toBe('completed');
  expect(creates()).toHaveLength(before + 1);
});
