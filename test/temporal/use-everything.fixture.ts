import { expect, vi } from 'vitest';
import type { OrderInput } from '../../src/contract/order/input-and-result.js';
import { ORDER_TYPES, type OrderType } from '../../src/contract/order/types.js';
import { cardNumber } from '../support/batch-files.js';
import { orderInput } from '../support/inputs.js';
import { newOrderId } from '../support/lab.js';
import { type BatchLab, startRows, testRows, untilState } from '../workflows/batch/batches.fixture.js';
import { newAddress, receive, started } from '../workflows/receipts.fixture.js';

const AMOUNT = '1173.19';
const RECEIPT = '2346.38';
const TOO_MUCH = '99999999.01';
const DESCRIPTION = 'a gift for aunt Ann';
const EMAIL = 'aunt.ann@example.com';
const REFUND_WALLET = '5555555555554444';
const BY = 'olga-of-the-night-shift';
const FILES = 'aunts-{period}.csv';
const ROWS = 3;

const wallets = ORDER_TYPES.flatMap((type) => {
  const { order } = orderInput(type, 'x');
  return 'wallet' in order ? [order.wallet] : [];
});

/** What is nobody's business and must be somewhere after `useEverything`, as long as nothing is encrypted. */
export const SECRETS: readonly string[] = [
  ...new Set([AMOUNT, RECEIPT, TOO_MUCH, DESCRIPTION, EMAIL, REFUND_WALLET, BY, FILES, 'max_amount_from', ...wallets]),
  ...Array.from({ length: ROWS }, (_, row) => cardNumber(row + 1)),
];

/** An order with everything that is nobody's business. */
function secretInput<T extends OrderType>(type: T, marker: string, options: Partial<OrderInput<T>> = {}) {
  const input = orderInput(type, newOrderId(type.replaceAll('_', '-')), options as object);
  const description = `${DESCRIPTION} [sandbox pay_ms=20 after_ms=20 ${marker}]`;
  const order = { ...input.order, amount: AMOUNT, description, client_info: { client_email: EMAIL } };
  return { ...input, order } as OrderInput<T>;
}

/** An order of every type to its end, asked at every step. */
async function completeAll({ orders }: BatchLab): Promise<void> {
  const ends = ORDER_TYPES.map(async (type) => {
    const { handle } = await orders.create(type, secretInput(type, ''));
    expect(await handle.final()).toMatchObject({ status: 'completed' });
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(await handle.state()).toMatchObject({ phase: 'done', order: { user_order_id: handle.orderId } });
  });
  await Promise.all(ends);
}

/** A partial order that a person refunds by a follow-up, and a refused order. */
async function decideAndRefuse({ orders }: BatchLab): Promise<void> {
  const input = secretInput('deposit_exchange_withdraw', 'outcome=completed_partially left=unexchanged', {
    compensation: 'ask',
  });
  const parked = await orders.start('deposit_exchange_withdraw', input);
  await vi.waitUntil(async () => (await parked.state()).phase === 'parked', { timeout: 60_000, interval: 50 });
  const { revision } = await parked.state();
  const revertTo = { network: 'card', wallet: REFUND_WALLET };
  await parked.decide({ action: 'revert', by: BY, reason: DESCRIPTION, revision, revertTo });
  expect(await parked.result()).toMatchObject({ compensation: { status: 'done' }, decisions: [{ by: BY }] });
  const tooMuch = secretInput('withdraw', '');
  const refused = await orders.start('withdraw', { ...tooMuch, order: { ...tooMuch.order, amount: TOO_MUCH } });
  await expect(refused.result()).rejects.toThrow('above max_amount_from, 100000 usd');
}

/** An approved batch, a schedule, a receipt on a permanent address, a read and a reconciliation. */
async function useTheRest(lab: BatchLab): Promise<void> {
  const { orders } = lab;
  const batch = await startRows(lab, testRows('row', ROWS), { approval: 'required' });
  const { plan } = await untilState(batch, ({ phase }) => phase === 'awaitingApproval');
  await batch.approve({ digest: plan?.digest ?? '', by: BY });
  expect(await batch.result()).toMatchObject({ outcomes: { completed: ROWS } });
  await orders.schedules.create({ plan: 'aunts', cron: ['0 10 * * 5'], filePattern: FILES, batch: { startedBy: BY } });
  const { handle } = receive(lab, await newAddress(lab), '', RECEIPT);
  expect(await (await started(handle)).result()).toMatchObject({ outcome: 'completed' });
  expect(await orders.balances()).toHaveProperty('usd');
  await orders.reconcile();
}

/** Does everything once that makes Temporal store something. Resolves when all has ended. */
export async function useEverything(lab: BatchLab): Promise<void> {
  await Promise.all([completeAll(lab), decideAndRefuse(lab), useTheRest(lab)]);
}
