import Big from 'big.js';
import { describe, expect, test } from 'vitest';
import type { RevertTarget } from '../../../src/contract/order/input-and-result.js';
import type { DecideAction, Decision } from '../../../src/contract/order/messages.js';
import type { OrderType } from '../../../src/contract/order/types.js';
import { useLab } from '../../support/lab.js';
import {
  atService,
  decideNow,
  executions,
  parkedFor,
  startSteered,
  TWO_CARDS,
  trueRemainder,
} from './parked-orders.fixture.js';

const lab = useLab();

const HALF = 'outcome=completed_partially fraction=0.4';
const REVERT_TO: RevertTarget = { network: 'card', wallet: '5555555555554444' };
const EXACT = { amount: undefined, amount_to: '95.5' };
const EITHER: DecideAction[] = ['finish', 'revert', 'accept'];

const amountOf = (orderId: string) => atService(lab, orderId).order.expected_amount_from;
/** What a follow-up brought in the currency it ends in. */
const broughtBy = (orderId: string) => atService(lab, orderId).order.amount_to ?? '0';
const parkedAfter = (handle: Parameters<typeof parkedFor>[0], followUp: string, ending = 'completed') =>
  parkedFor(handle, `the follow-up ${followUp} ended ${ending}`);

/** Type, marker, the follow-up's amount in words and by the sandbox's truth, and its type. */
const REVERTED: [OrderType, marker: string, takes: 'R_F' | 'R_T' | 'net[T]', as: OrderType][] = [
  ['exchange', HALF, 'net[T]', 'exchange'],
  ['exchange_withdraw', `${HALF} left=unpaid`, 'R_T', 'exchange'],
  ['deposit_exchange_withdraw', `${HALF} left=unexchanged`, 'R_F', 'withdraw'],
];

describe.concurrent('revert by policy', () => {
  test.for(REVERTED)('%s (%s): takes %s by %s, once', async ([type, marker, takes, as]) => {
    const { orderId, handle } = await startSteered(lab, type, {
      marker,
      compensation: 'revert',
      ...(type.startsWith('deposit') && { revertTo: REVERT_TO }),
    });
    const result = await handle.result();
    const { order, truth } = atService(lab, orderId);
    // Money that never left the balance needs no revert.
    expect(result.remainder).toEqual(takes === 'net[T]' ? trueRemainder(lab, orderId) : undefined);
    expect(result).toMatchObject({
      compensation: { policy: 'revert', status: 'done', order_id: `${orderId}.r1`, outcome: 'completed' },
    });
    const amounts = { R_F: truth.unexchanged, R_T: truth.unpaid, 'net[T]': order.amount_to };
    expect(amountOf(`${orderId}.r1`)).toBe(amounts[takes]);
    expect(executions(lab, `${orderId}.r1`)).toBe(1);
    expect(executions(lab, `${orderId}.r2`)).toBe(0);
    const child = atService(lab, `${orderId}.r1`).order;
    expect(child).toMatchObject({ order_type: as, wallet_to: as === 'withdraw' ? REVERT_TO.wallet : null });
  });

  test('deposit_exchange: net[T] goes back by policy, then R_F is refunded by decision to revertTo', async () => {
    const options = { marker: HALF, compensation: 'revert', revertTo: REVERT_TO } as const;
    const { orderId, handle } = await startSteered(lab, 'deposit_exchange', options);
    const { attention } = await parkedAfter(handle, `${orderId}.r1`);
    expect(attention?.allowed).toEqual(EITHER);
    await decideNow(handle, 'revert');
    const result = await handle.result();
    expect(result).toMatchObject({
      compensation: { policy: 'revert', status: 'done', order_id: `${orderId}.r2`, outcome: 'completed' },
      decisions: [{ action: 'revert', kind: 'unexchanged', as: 'withdraw' }],
    });
    expect(amountOf(`${orderId}.r1`)).toBe(atService(lab, orderId).order.amount_to);
    expect(amountOf(`${orderId}.r2`)).toBe(atService(lab, orderId).truth.unexchanged);
    expect(result.remainder).toBeUndefined();
    expect(atService(lab, `${orderId}.r2`).order).toMatchObject({
      order_type: 'withdraw',
      wallet_to: REVERT_TO.wallet,
    });
  });
});

describe.concurrent('by decision', () => {
  test('an exchanged deposit is exchanged back, and what that brought is refunded', async () => {
    const marker = `${HALF} left=unpaid`;
    const { orderId, handle } = await startSteered(lab, 'deposit_exchange_withdraw', { marker });
    await parkedFor(handle);
    await decideNow(handle, 'revert', { as: 'exchange' });
    const { attention } = await parkedAfter(handle, `${orderId}.r1`);
    expect(attention?.reason).toContain(`unexchanged ${broughtBy(`${orderId}.r1`)} usd`);
    await decideNow(handle, 'revert', { revertTo: REVERT_TO });
    expect(await handle.result()).toMatchObject({
      compensation: { status: 'done', order_id: `${orderId}.r2` },
      decisions: [
        { action: 'revert', kind: 'unpaid', as: 'exchange' },
        { action: 'revert', kind: 'unexchanged', as: 'withdraw', revertTo: { network: 'card', wallet: '****4444' } },
      ],
    });
    expect(amountOf(`${orderId}.r2`)).toBe(broughtBy(`${orderId}.r1`));
    expect(atService(lab, `${orderId}.r2`).order.wallet_to).toBe(REVERT_TO.wallet);
  });

  test.for(['exchange_withdraw', 'deposit_exchange_withdraw'] as const)(
    '%s left in two places is finished one at a time, each exactly',
    async (type) => {
      const { orderId, handle } = await startSteered(lab, type, {
        marker: `${HALF} left=both`,
        compensation: 'finish',
      });
      expect((await parkedFor(handle)).attention?.allowed).toEqual(EITHER);
      const { truth } = atService(lab, orderId);
      await expect(decideNow(handle, 'finish')).rejects.toThrow('which way to finish? Name kind or as; possible: ');
      await decideNow(handle, 'finish', { kind: 'unpaid' });
      const { attention } = await parkedAfter(handle, `${orderId}.r1`);
      expect(attention?.reason).not.toContain('unpaid');
      await decideNow(handle, 'finish', { kind: 'unexchanged', as: 'exchange_withdraw' });
      const result = await handle.result();
      expect(result.remainder).toBeUndefined();
      expect(result).toMatchObject({
        compensation: { policy: 'finish', status: 'done', order_id: `${orderId}.r2` },
      });
      expect([amountOf(`${orderId}.r1`), amountOf(`${orderId}.r2`)]).toEqual([truth.unpaid, truth.unexchanged]);
    },
  );

  test('the second of two remainders may be left: the compensation is done, with who left it', async () => {
    const { orderId, handle } = await startSteered(lab, 'exchange_withdraw', { marker: `${HALF} left=both` });
    await parkedFor(handle);
    await decideNow(handle, 'finish', { kind: 'unpaid' });
    await parkedAfter(handle, `${orderId}.r1`);
    await decideNow(handle, 'accept');
    const { compensation, remainder } = await handle.result();
    expect(remainder).toEqual([expect.objectContaining({ kind: 'unexchanged' })]);
    expect(compensation).toEqual({
      policy: 'ask',
      status: 'done',
      order_id: `${orderId}.r1`,
      outcome: 'completed',
      reason: 'accepted by ann: as agreed',
    });
  });

  test('the rest of an exact payout is exchanged, then paid, never beyond what was asked', async () => {
    const marker = `${HALF} left=unexchanged`;
    const { orderId, handle } = await startSteered(lab, 'exchange_withdraw', { marker, order: EXACT });
    expect((await parkedFor(handle)).attention?.allowed).toEqual(['finish', 'accept']);
    await decideNow(handle, 'finish');
    await parkedAfter(handle, `${orderId}.r1`);
    await decideNow(handle, 'finish', { as: 'withdraw' });
    expect((await handle.result()).compensation).toMatchObject({ status: 'done', order_id: `${orderId}.r2` });
    expect(amountOf(`${orderId}.r1`)).toBe(atService(lab, orderId).truth.unexchanged);
    const paid = [orderId, `${orderId}.r2`].map((id) => new Big(broughtBy(id)));
    const total = paid.reduce((all, amount) => all.plus(amount));
    expect(total.lte('95.5') && total.gt('94'), `paid ${total}`).toBe(true);
  });

  test('the cards that are still to be paid are named, and get no more than is left', async () => {
    const { orderId, handle } = await startSteered(lab, 'withdraw', {
      marker: HALF,
      order: TWO_CARDS,
      compensation: 'finish',
    });
    const { decisions } = await parkedFor(handle);
    expect(decisions).toContainEqual(expect.objectContaining({ amount: '5', needs: 'wallet_details' }));
    const cards = [{ amount: '4.5', wallet: '5555555555554444' }];
    await expect(decideNow(handle, 'finish')).rejects.toThrow('at most 5 usd');
    const tooMuch = [{ amount: '5.01', wallet: '5555555555554444' }];
    await expect(decideNow(handle, 'finish', { wallet_details: tooMuch })).rejects.toThrow('add up to 5.01');
    await decideNow(handle, 'finish', { wallet_details: cards });
    // Half a dollar is left, and may be left.
    await parkedAfter(handle, `${orderId}.r1`);
    await decideNow(handle, 'accept');
    expect(await handle.result()).toMatchObject({
      compensation: { status: 'done', order_id: `${orderId}.r1` },
      decisions: [
        { action: 'finish', kind: 'unpaid', as: 'withdraw', wallet_details: [{ amount: '4.5', wallet: '****4444' }] },
        { action: 'accept' },
      ],
    });
    expect(atService(lab, `${orderId}.r1`).order).toMatchObject({
      wallet_to_details: cards,
      network_to: 'multiple_cards',
    });
  });

  test('an order is shown to a person if its cards got more than it paid', async () => {
    const order = { network_to: 'multiple_cards', currency_from: 'eur', currency_to: 'usd', amount: '90' };
    const cards = ['4111111111111111', '5555555555554444'].map((wallet) => ({ amount: '3000', wallet }));
    const { handle } = await startSteered(lab, 'exchange_withdraw', {
      marker: '',
      order: { ...order, wallet: 'several', wallet_details: cards },
    });
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(await handle.state()).toMatchObject({
      attention: {
        code: 'undocumented-end',
        reason: expect.stringContaining('wallet_to_transactions add up to 6000 usd, and amount_to is '),
      },
    });
  });

  test('a refund to a mistyped wallet is not sent, and can be decided again; no wallet is shown', async () => {
    const marker = `${HALF} left=unexchanged`;
    const { orderId, handle } = await startSteered(lab, 'deposit_exchange_withdraw', { marker });
    await parkedFor(handle);
    await decideNow(handle, 'revert', { revertTo: { network: 'card', wallet: '5555555555554445' } });
    const { attention } = await parkedFor(handle, 'the follow-up cannot be sent: order.wallet');
    expect(JSON.stringify(attention)).not.toContain('5555555555554445');
    await decideNow(handle, 'revert', { revertTo: REVERT_TO });
    const result = await handle.result();
    expect(result).toMatchObject({ compensation: { status: 'done', order_id: `${orderId}.r1` } });
    expect(JSON.stringify(result.decisions)).not.toContain('555555555555');
    expect(executions(lab, `${orderId}.r1`)).toBe(1);
  });

  const REFUSED: [why: string, fields: object][] = [
    ['revertTo must be', { as: 'withdraw' }],
    ['which way to revert? Name kind or as; possible: revert as exchange', {}],
    ['no such way to revert', { kind: 'unpaid' }],
    ['and one wallet', { as: 'withdraw', revertTo: { network: 'multiple_cards', wallet: 'x' } }],
    ['revertTo must be', { as: 'withdraw', revertTo: { ...REVERT_TO, amount: '1' } }],
    ['this way refunds nothing', { as: 'exchange', revertTo: REVERT_TO }],
    ['pays to no several cards', { as: 'exchange', wallet_details: [] }],
    ['revert does not take order_uuid', { as: 'exchange', order_uuid: 'u-1' }],
    ['accept does not take kind', { action: 'accept', kind: 'unpaid' }],
  ];
  test('a decision that does not say what to do is refused with what it may say, and nothing changes', async () => {
    const { orderId, handle } = await startSteered(lab, 'deposit_exchange', { marker: HALF, compensation: 'ask' });
    const before = await parkedFor(handle);
    for (const [why, fields] of REFUSED) {
      const decision = { action: 'revert', by: 'ann', reason: 'no', revision: before.revision, ...fields } as Decision;
      const error = await handle.decide(decision).then(String, (reason: Error) => reason.message);
      expect(error).toContain(why);
      expect(error).not.toContain('5555');
    }
    expect(await handle.state()).toEqual(before);
    await decideNow(handle, 'accept');
    await handle.result();
    expect(executions(lab, `${orderId}.r1`)).toBe(0);
  });
});
