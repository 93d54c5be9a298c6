import { expect, test } from 'vitest';
import { useLab } from '../../support/lab.js';
import { decideNow, executions, parkedFor, startSteered, TWO_CARDS } from '../compensation/parked-orders.fixture.js';

const lab = useLab();

const PARTIAL = 'outcome=completed_partially fraction=0.4';
const [PAID, LEFT] = TWO_CARDS.wallet_details.map(({ wallet }) => wallet) as [string, string];

test('cards named for less than the minimum leave the order open: the amount may be a typing error', async () => {
  const { orderId, handle } = await startSteered(lab, 'withdraw', { marker: PARTIAL, order: TWO_CARDS });
  const { attention } = await parkedFor(handle);
  await decideNow(handle, 'finish', { wallet_details: [{ amount: '0.5', wallet: LEFT }] });
  const again = await parkedFor(handle, 'below the minimum');
  expect(again.attention?.allowed).toEqual(attention?.allowed);

  await decideNow(handle, 'accept');
  const { compensation, decisions } = await handle.result();
  expect(compensation).toMatchObject({ status: 'none' });
  expect(decisions).toHaveLength(2);
  expect(executions(lab, `${orderId}.r1`)).toBe(0);
});

test('a card number in the words of whoever accepts an order reaches neither its reason nor a report', async () => {
  const { handle } = await startSteered(lab, 'withdraw', { marker: PARTIAL, compensation: 'ask' });
  const { revision } = await parkedFor(handle);
  await handle.decide({ action: 'accept', by: 'ann', reason: `paid by hand to ${PAID}`, revision });
  const { compensation } = await handle.result();
  expect(compensation?.reason).toBe('accepted by ann: paid by hand to ****');
});
