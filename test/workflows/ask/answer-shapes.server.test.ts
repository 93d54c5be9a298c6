import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import { factsOf, ORDER_TYPES, type OrderType } from '../../../src/contract/order/types.js';
import { orderInput } from '../../support/inputs.js';
import { type Lab, newOrderId, openLab } from '../../support/lab.js';

/** Ways to write an answer otherwise than documented that leave no doubt about what it says; sandbox/shape-faults.ts. */
const SHAPES = [
  'signed-amounts',
  'amounts-as-numbers',
  'nulls-as-text',
  'nulls-as-lists',
  'nulls-as-objects',
  'null-dates',
  'texts-for-integers',
  'numbers-for-flags',
  'uuid-underscores',
  'extra-fields',
] as const;

/** All answers about an order have the shape, from its create to its end. */
const everywhere = (shape: string) =>
  `create=${shape} times=all status=${shape} status_times=all list=${shape} list_times=all`;

const PARTIAL = 'outcome=completed_partially fraction=0.4 left=unpaid';
const LEAVES = { exchange_withdraw: 'usdt', withdraw: 'usd' } as Partial<Record<OrderType, string>>;

async function resultOf(lab: Lab, type: OrderType, marker: string, options?: Pick<OrderInput, 'whenShort'> | false) {
  const orderId = newOrderId(type.replaceAll('_', '-'));
  const handle = await lab.orders.start(
    type,
    orderInput(type, orderId, { marker, compensation: 'report', ...options }),
  );
  const result = await handle.result();
  expect(lab.sandbox.stats().executedByOrderId[orderId]).toBe(1);
  expect(lab.sandbox.stats().createsByOrderId[orderId]).toBe(1);
  return { result, orderId };
}

describe('an order of every type, with every answer about it', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await openLab();
  });
  afterAll(() => lab?.close());

  describe.concurrent.each(SHAPES)('as %s', (shape) => {
    test.concurrent.each(ORDER_TYPES)('%s completes, created once', async (type) => {
      const { result } = await resultOf(lab, type, everywhere(shape));
      expect(result).toMatchObject({ outcome: 'completed', adopted: false, compensation: { status: 'none' } });
    });

    test.concurrent.each(Object.entries(LEAVES))('a partial %s says what is left', async (type, currency) => {
      const { result, orderId } = await resultOf(lab, type as OrderType, `${PARTIAL} ${everywhere(shape)}`);
      const truth = lab.sandbox.orders().find(({ order }) => order.user_order_id === orderId)?.truth.unpaid;
      expect(result.remainder).toEqual([{ kind: 'unpaid', currency, amount: truth }]);
    });
  });
});

describe.each(['some-malformed', 'all-malformed', 'many-pairs'])(
  'an order of every type, with rates answered as %s',
  (fault) => {
    let lab: Lab;
    beforeAll(async () => {
      const faults = { [`rates.${fault}`]: 1, ...(fault !== 'many-pairs' && { [`balances.${fault}`]: 1 }) };
      lab = await openLab({ sandbox: { settings: { faults } } });
    });
    afterAll(() => lab?.close());

    test.concurrent.each(ORDER_TYPES)('%s completes: what cannot be read is not taken for missing', async (type) => {
      const { movesMoneyAtOnce } = factsOf(type);
      const { result } = await resultOf(lab, type, 'after_ms=0', movesMoneyAtOnce && { whenShort: 'refuse' });
      expect(result.outcome).toBe('completed');
    });
  },
);

describe('a receipt that nobody named', () => {
  let lab: Lab;
  beforeAll(async () => {
    const faults = { 'status.unnamed-as-null': 1, 'list.unnamed-as-null': 1 };
    lab = await openLab({ sandbox: { settings: { receiptOrderId: 'empty', faults } } });
  });
  afterAll(() => lab?.close());

  test('is followed to its end although its user_order_id is null', async () => {
    const { address } = await lab.orders.createAddress({ ref: 'r-1', address: { currency: 'usdt', network: 'tron' } });
    const { order } = lab.sandbox.receiveDeposit({ addressUuid: address.uuid, amount: '20' });
    const received = lab.orders.received(order.order_uuid);
    await expect.poll(() => received.isOpen().catch(() => undefined), { timeout: 60_000 }).not.toBe(undefined);
    expect(await received.result()).toMatchObject({ outcome: 'completed', order: { user_order_id: '' } });
  });
});
