import Big from 'big.js';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { STARTING_BALANCES } from '../../sandbox/ledger.js';
import { serviceOf } from '../../scripts/service-of.js';
import { ORDER_TYPES, type OrderType } from '../../src/contract/order/types.js';
import { apiKey, runApi } from '../api/api.fixture.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { runStarterWith } from '../support/run-starter.js';
import { bookOf } from './books.fixture.js';

const COUNT = 1_000;
const ENDINGS = [
  'outcome=completed',
  'outcome=completed fees=quoted',
  'outcome=completed rate=0.98',
  'outcome=completed paid=0.9',
  'outcome=completed_partially left=unexchanged',
  'outcome=completed_partially left=unpaid',
  'outcome=completed_partially left=both fraction=0.37',
  'outcome=canceled',
  'outcome=canceled stage=after-deposit',
  'outcome=error',
  'outcome=error stage=after-exchange',
  'outcome=error stage=after-payout',
];

const lab = useLab({ sandbox: { settings: { requestsPerSecond: null } } });

const today = () => new Date().toISOString().slice(0, 10);

/** Orders as they were created at the service directly. */
async function createDirectly(count: number): Promise<void> {
  const service = await serviceOf(lab.sandbox);
  const run = newOrderId('direct');
  const createOne = (n: number) => {
    const type = ORDER_TYPES[n % ORDER_TYPES.length] ?? 'withdraw';
    const marker = `${ENDINGS[Math.floor(n / ORDER_TYPES.length) % ENDINGS.length]} pay_ms=1 after_ms=1`;
    return service.createOrder(type, orderInput<OrderType>(type, `${run}-${n}`, { marker }).order);
  };
  for (let at = 0; at < count; at += 20) {
    await Promise.all(Array.from({ length: Math.min(20, count - at) }, (_, n) => createOne(at + n)));
  }
}

const netOf = (changes: readonly { currency: string; amount_change: string }[]): Record<string, string> => {
  const sums: Record<string, Big> = {};
  for (const { currency, amount_change: amount } of changes) {
    sums[currency] = (sums[currency] ?? new Big(0)).plus(amount);
  }
  return Object.fromEntries(Object.entries(sums).map(([currency, sum]) => [currency, sum.toFixed()]));
};

test(`the book of ${COUNT} orders agrees with the ledger to the last digit, by library, command line and API`, async () => {
  const started = await Promise.all(
    ORDER_TYPES.flatMap((type) =>
      ['outcome=completed', 'outcome=completed_partially', 'outcome=error'].map(async (marker) => {
        const input = orderInput(type, newOrderId('ours'), { marker, reference: 'INV-7', compensation: 'report' });
        return lab.orders.start(type, input);
      }),
    ),
  );
  await createDirectly(COUNT - started.length);
  await Promise.all(started.map((handle) => handle.result()));
  lab.sandbox.finishAll();
  const before = lab.sandbox.requests().length;
  const book = await bookOf(lab.orders.export({ from: today() }));
  const requests = lab.sandbox.requests().length - before;
  // All were created within seconds: halving the days costs most of them.
  expect(requests).toBeLessThan(100);
  const truth = new Map(lab.sandbox.orders().map((one) => [one.order.order_uuid, one]));
  expect(truth.size).toBeGreaterThanOrEqual(COUNT);
  expect(book.end).toMatchObject({ kind: 'end', orders: truth.size, parts: 0, late: 0, missing: 0, differences: 0 });
  expect(new Set(book.orders.map(({ order_uuid: uuid }) => uuid)).size).toBe(truth.size);
  for (const line of book.orders) {
    const { order, balance_changes: changes } = truth.get(line.order_uuid) ?? {};
    expect(line).toMatchObject({
      ...{ order_id: order?.user_order_id, status: order?.status, amount_from: order?.amount_from },
      ...{ amount_to: order?.amount_to, amount_from_fee: order?.amount_from_fee, amount_to_fee: order?.amount_to_fee },
    });
    expect(netOf(line.balance_changes)).toEqual(netOf(changes ?? []));
  }
  const ledger = lab.sandbox.ledger();
  const moved = netOf(book.orders.flatMap(({ balance_changes: changes }) => changes));
  for (const { currency, opening, total, closing, difference } of book.sums) {
    expect(new Big(opening).eq(STARTING_BALANCES[currency] ?? 'x')).toBe(true);
    expect(closing).toBe(new Big(ledger[currency] ?? 'x').toFixed());
    expect(total).toBe(moved[currency]);
    expect(difference).toBe('0');
  }
  expect(book.sums.map(({ currency }) => currency)).toEqual(Object.keys(moved).sort());
  const ours = book.orders.filter(({ reference }) => reference === 'INV-7');
  expect(ours).toHaveLength(started.length);
  expect(ours.every(({ ended }) => ended !== undefined)).toBe(true);

  const argv = ['order', 'export', '--from', today()];
  const { code, stdout, stderr } = await runStarterWith(async () => lab.orders, [...argv, '--ndjson']);
  const typed = stdout.trimEnd().split('\n');
  expect([code, typed.length]).toEqual([0, book.all.length]);
  expect(stderr).toContain('orders read, created until');
  expect(JSON.parse(typed.at(-1) ?? '')).toMatchObject({ orders: truth.size, missing: 0, differences: 0 });
  const csv = await runStarterWith(async () => lab.orders, argv);
  const rows = parse(csv.stdout, { columns: true }) as Record<string, string>[];
  const sumOf = (text: string) => text.split('; ').flatMap((part) => (part ? [part.split(' ')] : []));
  const byRow = netOf(
    rows.flatMap(({ balance_changes: text = '' }) =>
      sumOf(text).map(([currency = '', amount_change = '']) => ({ currency, amount_change })),
    ),
  );
  expect(byRow).toEqual(moved);

  const keys = [apiKey('reader', { verbs: ['read'], accounts: ['default'] }), apiKey('starter', { verbs: ['start'] })];
  const api = await runApi(lab.orders, { keys });
  const answer = await api.call('GET', `/v1/books?from=${today()}`, undefined, 'reader');
  expect(answer.status).toBe(200);
  expect(parse(answer.body, { columns: true })).toHaveLength(rows.length);
  const headers = { authorization: 'Bearer reader' };
  const stream = await fetch(`${api.url}/v1/books?from=${today()}&format=ndjson`, { headers });
  expect((await stream.text()).trimEnd().split('\n')).toHaveLength(book.all.length);
  expect((await api.call('GET', `/v1/books?from=${today()}`, undefined, 'starter')).status).toBe(403);
  expect((await api.call('GET', `/v1/books?from=${today()}&account=other`, undefined, 'reader')).status).toBe(403);
  const bad = await api.call('GET', '/v1/books?day=2026-02-30', undefined, 'reader');
  expect(bad).toMatchObject({ status: 422, body: { fields: [{ field: 'day' }] } });
});
