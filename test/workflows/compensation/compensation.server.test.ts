import Big from 'big.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import type { DecideAction } from '../../../src/contract/order/messages.js';
import type { OrderType } from '../../../src/contract/order/types.js';
import { UA_IBAN } from '../../contract/inputs.fixture.js';
import { type Lab, openLab } from '../../support/lab.js';
import {
  atService,
  decideNow,
  executions,
  parkedFor,
  startSteered,
  TWO_CARDS,
  trueRemainder,
} from './parked-orders.fixture.js';

let lab: Lab;
beforeAll(async () => {
  // A rate of two digits: what it may be rounded by is more than the commission.
  lab = await openLab({ sandbox: { settings: { pairs: { 'exchange_withdraw usd-uah_bank_ua': { rate: '40' } } } } });
});
afterAll(() => lab?.close());

const FINISH: DecideAction[] = ['finish', 'accept'];
const EITHER: DecideAction[] = ['finish', 'revert', 'accept'];
const ACCEPT: DecideAction[] = ['accept'];
const REFUND = { network: 'tron', wallet: 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC' };

interface Partial {
  type: OrderType;
  what: string;
  marker: string;
  order?: Record<string, unknown>;
  allowed: DecideAction[];
}

const left = (what: string, fraction: string) => ({ what, marker: `left=${what} fraction=${fraction}` });
const PARTIAL: Partial[] = [
  { type: 'deposit_exchange', ...left('unexchanged', '0.37'), allowed: EITHER },
  { type: 'deposit_exchange_withdraw', ...left('unexchanged', '0.41'), allowed: EITHER },
  { type: 'deposit_exchange_withdraw', ...left('unpaid', '0.3'), allowed: EITHER },
  { type: 'deposit_exchange_withdraw', ...left('both', '0.29'), allowed: EITHER },
  { type: 'exchange', ...left('unexchanged', '0.123456'), allowed: EITHER },
  { type: 'exchange_withdraw', ...left('unexchanged', '0.55'), allowed: FINISH },
  { type: 'exchange_withdraw', ...left('unpaid', '0.61'), allowed: EITHER },
  { type: 'exchange_withdraw', ...left('both', '0.2'), allowed: EITHER },
  { type: 'withdraw', ...left('unpaid', '0.43'), allowed: FINISH },
  { type: 'withdraw', ...left('unpaid', '0.5'), what: 'a card', order: TWO_CARDS, allowed: FINISH },
];

describe.concurrent('a partial order', () => {
  test.for(PARTIAL)('$type with $what left: ask parks with $allowed, and accept ends it', async (row) => {
    const { type, order, marker, allowed } = row;
    const steered = { marker: `outcome=completed_partially ${marker}`, order, compensation: 'ask' } as const;
    const { orderId, handle } = await startSteered(lab, type, steered);
    const { attention } = await parkedFor(handle);
    expect(attention?.allowed).toEqual(allowed);
    const remainder = trueRemainder(lab, orderId);
    for (const { kind, amount, currency } of remainder) {
      const left = `${amount} ${currency}`;
      expect([`${kind} ${left}`, `${left} are left`].some((text) => attention?.reason.includes(text))).toBe(true);
    }
    await decideNow(handle, 'accept');
    expect(await handle.result()).toMatchObject({
      outcome: 'completed_partially',
      remainder,
      compensation: { policy: 'ask', status: 'none', reason: 'accepted by ann: as agreed' },
      decisions: [{ action: 'accept', by: 'ann', reason: 'as agreed' }],
    });
    expect(executions(lab, `${orderId}.r1`)).toBe(0);
  });

  test('of type deposit cannot tell what is left: report says so, the default asks for accept only', async () => {
    const marker = 'outcome=completed_partially';
    const reported = await startSteered(lab, 'deposit', { marker, compensation: 'report' });
    const result = await reported.handle.result();
    expect(result.remainder).toBeUndefined();
    expect(result.remainderUnknown).toContain('no figure says what is left');
    expect((await reported.handle.state()).attention?.allowed).toEqual([]);

    const asked = await startSteered(lab, 'deposit', { marker });
    expect((await parkedFor(asked.handle)).attention?.allowed).toEqual(ACCEPT);
    await decideNow(asked.handle, 'accept');
    expect((await asked.handle.result()).compensation).toMatchObject({ policy: 'ask', status: 'none' });
  });
});

/** Adds what titles say: the policy in words and what comes of it. */
const inWords = <T extends Ended>(rows: T[]) =>
  rows.map((row) => ({
    ...row,
    policy: row.compensation ? `policy ${row.compensation}` : 'without a policy',
    effect: row.allowed ? `asks for ${row.allowed.join(' or ')}` : 'is reported',
  }));

interface Ended extends Pick<OrderInput, 'compensation' | 'revertTo'> {
  type: OrderType;
  what: string;
  marker: string;
  allowed?: DecideAction[];
}

const clean = { what: 'nothing executed', marker: 'outcome=error' };
const afterDeposit = { what: 'the deposit credited', marker: 'outcome=error stage=after-deposit' };
const afterExchange = { what: 'the exchange done', marker: 'outcome=error stage=after-exchange' };
const afterPayout = { what: 'the payout sent', marker: 'outcome=error stage=after-payout' };
const FAILED: Ended[] = [
  { type: 'exchange', ...clean },
  { type: 'withdraw', ...clean },
  { type: 'withdraw', ...clean, compensation: 'revert' },
  { type: 'withdraw', ...clean, compensation: 'finish', allowed: FINISH },
  { type: 'withdraw', ...clean, compensation: 'ask', allowed: FINISH },
  { type: 'deposit_exchange', ...afterDeposit, allowed: EITHER },
  { type: 'deposit_exchange_withdraw', ...afterDeposit, allowed: ACCEPT },
  { type: 'exchange_withdraw', ...afterExchange, allowed: EITHER },
  { type: 'withdraw', ...afterPayout, compensation: 'finish', allowed: ACCEPT },
];

describe.concurrent('an order that ended in error', () => {
  test.for(inWords(FAILED))('$type with $what, $policy: $effect', async (row) => {
    const { type, marker, allowed, compensation } = row;
    const { orderId, handle } = await startSteered(lab, type, { marker, compensation });
    if (allowed) {
      expect((await parkedFor(handle)).attention?.allowed).toEqual(allowed);
      await decideNow(handle, 'accept');
    }
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'error', compensation: { status: 'none' } });
    expect(result.remainder ?? []).toEqual(trueRemainder(lab, orderId));
    expect(result.compensation?.policy).toBe(compensation ?? (allowed ? 'ask' : 'report'));
    expect(executions(lab, `${orderId}.r1`)).toBe(0);
  });
});

const CANCELED = { what: 'canceled', marker: 'outcome=canceled' };
const NEVER_CAME: Ended[] = [
  { type: 'deposit', ...CANCELED },
  { type: 'deposit', what: 'in error', marker: 'outcome=error', compensation: 'ask' },
  { type: 'deposit_exchange_withdraw', ...CANCELED, compensation: 'revert', revertTo: REFUND },
];

describe.concurrent('a deposit that never came', () => {
  test.for(inWords(NEVER_CAME))('$type $what, $policy: nothing is left, it ends as none', async (row) => {
    const { type, what, marker, compensation, revertTo } = row;
    const { handle } = await startSteered(lab, type, { marker, compensation, revertTo });
    const result = await handle.result();
    const outcome = what === 'canceled' ? 'canceled' : 'error';
    expect(result).toMatchObject({ outcome, compensation: { policy: compensation ?? 'report', status: 'none' } });
    expect([result.remainder, result.remainderUnknown, result.decisions]).toEqual([undefined, undefined, undefined]);
  });
});

describe.concurrent('a cancellation', () => {
  test('of our own money is not documented: reported, and a person is told', async () => {
    const { orderId, handle } = await startSteered(lab, 'withdraw', { marker: 'outcome=canceled' });
    expect(await handle.result()).toMatchObject({
      outcome: 'canceled',
      remainder: trueRemainder(lab, orderId),
      compensation: { policy: 'report', status: 'none' },
    });
    expect((await handle.state()).attention?.reason).toContain('not documented');
  });

  test('after money moved asks, whatever was wanted, and moves nothing', async () => {
    const marker = 'outcome=canceled stage=after-exchange';
    const { orderId, handle } = await startSteered(lab, 'exchange', { marker, compensation: 'finish' });
    expect((await parkedFor(handle, 'contradiction')).attention?.allowed).toEqual(ACCEPT);
    await decideNow(handle, 'accept');
    expect((await handle.result()).compensation).toMatchObject({ policy: 'finish', status: 'none' });
    expect(executions(lab, `${orderId}.r1`)).toBe(0);
  });
});

const STRICT = { amount: undefined, amount_to: '95.5' };
const DIFFERENT = [
  { type: 'deposit', what: 'an overpaid deposit', marker: 'paid=1.2' },
  { type: 'deposit_exchange_withdraw', what: 'an underpaid deposit', marker: 'paid=0.8' },
  { type: 'exchange_withdraw', what: 'a strict payout at a worse rate', marker: 'rate=0.98', order: STRICT },
  { type: 'exchange_withdraw', what: 'a strict payout at a better rate', marker: 'rate=1.015', order: STRICT },
] as const;

describe.concurrent('a completed order', () => {
  test.for(DIFFERENT)('tells the difference of $what ($type)', async (row) => {
    const { type, marker } = row;
    const order = 'order' in row ? row.order : undefined;
    const { orderId, handle } = await startSteered(lab, type, { marker, order });
    const result = await handle.result();
    const { order: final } = atService(lab, orderId);
    const off = (actual: string | null, expected: string) => new Big(actual ?? '0').minus(expected).toFixed();
    const from = off(final.amount_from, final.expected_amount_from);
    const to = off(final.amount_to, final.expected_amount_to);
    expect(to).not.toBe('0');
    expect(result).toMatchObject({ outcome: 'completed', compensation: { policy: 'report', status: 'none' } });
    expect(result.difference).toEqual({ ...(from !== '0' && { from }), to });
    expect(result.remainder).toBeUndefined();
  });

  test('that did what was asked shows no difference, and ends as none under every policy', async () => {
    const { handle } = await startSteered(lab, 'withdraw', { marker: 'outcome=completed', compensation: 'ask' });
    const result = await handle.result();
    expect(result.compensation).toEqual({ policy: 'ask', status: 'none' });
    expect(result.difference).toBeUndefined();
  });
});

describe.concurrent('a payout of 14,400 uah of which 60 % are unpaid', () => {
  const order = {
    ...{ currency_from: 'usd', currency_to: 'uah', amount: '360', amount_to: undefined, network_to: 'bank_ua' },
    wallet: UA_IBAN,
    wallet_details: { recipient_bank: 'Bank', recipient_name: 'Ann', taxpayer_number: '1234567890' },
  };
  const marker = 'outcome=completed_partially left=unpaid fraction=0.6';

  test('that still shows its quoted commission asks a person, and 8683.20 are not paid', async () => {
    const steered = { marker: `${marker} fees=quoted`, order, compensation: 'finish' } as const;
    const { orderId, handle } = await startSteered(lab, 'exchange_withdraw', steered);
    expect((await parkedFor(handle, 'as the balances say')).attention?.allowed).toEqual(ACCEPT);
    expect(trueRemainder(lab, orderId)).toMatchObject([{ amount: '8640' }]);
    await decideNow(handle, 'accept');
    expect((await handle.result()).compensation).toMatchObject({ policy: 'finish', status: 'none' });
    expect(executions(lab, `${orderId}.r1`)).toBe(0);
  });
});
