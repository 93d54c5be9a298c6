import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OrderType } from '../../../src/contract/order/types.js';
import { UA_IBAN } from '../../contract/inputs.fixture.js';
import { type Lab, openLab } from '../../support/lab.js';
import { decideNow, executions, parkedFor, startSteered, trueRemainder } from './parked-orders.fixture.js';

/** A rate of two digits: what it may be rounded by is more than the commissions below. */
const COARSE = { rate: '40' };

let lab: Lab;
beforeAll(async () => {
  const pairs = {
    'exchange_withdraw usd-uah_bank_ua': COARSE,
    'deposit_exchange usd_card-uah': COARSE,
  };
  lab = await openLab({ sandbox: { settings: { pairs } } });
});
afterAll(() => lab?.close());

const BANK = {
  network_to: 'bank_ua',
  wallet: UA_IBAN,
  wallet_details: { recipient_bank: 'Bank', recipient_name: 'Ann', taxpayer_number: '1234567890' },
};
const payout = (amount: string) => ({
  currency_from: 'usd',
  currency_to: 'uah',
  amount,
  amount_to: undefined,
  ...BANK,
});
const deposit = { currency_from: 'usd', network_from: 'card', currency_to: 'uah', amount: '360' };

interface Kept {
  title: string;
  type: OrderType;
  order: Record<string, unknown>;
  marker: string;
  /** What is left, and what the quoted commission added to it. */
  left: string;
  before: string;
}

/* The other payouts are in `quoted-fees.test.ts`. */
const KEPT: Kept[] = [
  {
    title: '8640 of 14400',
    type: 'exchange_withdraw',
    order: payout('360'),
    marker: 'left=unpaid fraction=0.6',
    left: '8640',
    before: '8683.20',
  },
  {
    title: 'an underpaid deposit',
    type: 'deposit_exchange',
    order: deposit,
    marker: 'left=unexchanged fraction=0.5 paid=0.9',
    left: '162',
    before: '162.90',
  },
];

test.for(KEPT)(
  '$title ($type): policy finish asks a person and does not pay $before',
  async ({ type, order, marker, left }) => {
    const steered = { marker: `outcome=completed_partially fees=quoted ${marker}`, order };
    const { orderId, handle } = await startSteered(lab, type, { ...steered, compensation: 'finish' });
    const { attention } = await parkedFor(handle, 'balance');
    expect(attention?.reason).toMatch(/as the balances say|no balance change shows the commission/);
    expect(attention?.allowed).toEqual(['accept']);
    expect(trueRemainder(lab, orderId).map(({ amount }) => amount)).toEqual([left]);
    expect(executions(lab, `${orderId}.r1`)).toBe(0);
    await decideNow(handle, 'accept');
    expect((await handle.result()).compensation).toMatchObject({ policy: 'finish', status: 'none' });
  },
);

test('the same payout with the commission that was charged is paid on: 8640', async () => {
  const marker = 'outcome=completed_partially left=unpaid fraction=0.6';
  const steered = { marker, order: payout('360'), compensation: 'finish' } as const;
  const { orderId, handle } = await startSteered(lab, 'exchange_withdraw', steered);
  expect(await handle.result()).toMatchObject({
    remainder: [{ kind: 'unpaid', currency: 'uah', amount: '8640' }],
    compensation: { status: 'done', order_id: `${orderId}.r1` },
  });
  const [followUp] = lab.sandbox.orders().filter(({ order }) => order.user_order_id === `${orderId}.r1`);
  expect(followUp?.order.expected_amount_from).toBe('8640');
});
