import { describe, expect, test } from 'vitest';
import { compare, type OurEnd, type OurWord, unevenChanges } from '../../../src/activities/reconcile/compare.js';
import type { ReconcileClass } from '../../../src/contract/reconcile/reconcile.js';
import type { OrderListItem } from '../../../src/contract/service-objects.js';
import { change, ourEnd, seenOrder } from './cases.fixture.js';

const HOUR_MS = 3_600_000;
const clock = { atMs: 100 * HOUR_MS, openTooLongMs: 24 * HOUR_MS };
const ended = (changes?: Partial<OurEnd>): OurWord => ({ kind: 'ended', end: ourEnd(changes) });
const running = (startedHoursAgo: number, known?: OurEnd): OurWord => ({
  kind: 'running',
  startedAtMs: clock.atMs - startedHoursAgo * HOUR_MS,
  ...(known && { known }),
});
const undecided = (looksAgain: boolean): OurWord => ({
  kind: 'running',
  startedAtMs: clock.atMs - HOUR_MS,
  undecided: { looksAgain },
});
const OPEN = { status: 'processing', balance_changes: [] };
const DELAYED = { created_at: '2026-11-20 10:00:00', start_order_at: '2026-11-21 16:00:00' };

describe('an order of both sides', () => {
  test.each<[string, Partial<OrderListItem>, OurWord, ReconcileClass]>([
    ['the same end, amounts spelled differently', {}, ended(), 'equal'],
    ['another status', { status: 'error' }, ended(), 'verdictDiffers'],
    ['a status that is not final any more', { status: 'processing' }, ended(), 'verdictDiffers'],
    ['another amount', { amount_to: '98.49' }, ended(), 'amountDiffers'],
    ['a commission that was not there', { amount_from_fee: '1' }, ended(), 'amountDiffers'],
    ['another order under our id', { order_uuid: 'uuid-2' }, ended(), 'duplicate'],
    ['final, and our workflow waits', {}, running(1), 'woken'],
    ['final, and our workflow waits for a decision about it', {}, undecided(false), 'undecided'],
    ['not final, and our workflow waits for a decision', OPEN, undecided(false), 'open'],
    ['final, and our workflow knows it', {}, running(1, ourEnd()), 'equal'],
    ['final, and our workflow knows another end', {}, running(1, ourEnd({ outcome: 'error' })), 'verdictDiffers'],
    ['not final for an hour', OPEN, running(1), 'open'],
    ['not final for exactly the limit', OPEN, running(24), 'open'],
    ['not final for longer', OPEN, running(24.1), 'openTooLong'],
    ['not final, but delayed by 30 h', { ...OPEN, ...DELAYED }, running(50), 'open'],
    ['not final long after its delay', { ...OPEN, ...DELAYED }, running(55), 'openTooLong'],
    ['an unknown status', { ...OPEN, status: 'frozen' }, running(1), 'open'],
    ['refused, but there', {}, { kind: 'noOrder', failure: 'OrderRejected' }, 'verdictDiffers'],
    ['a conflict, and there', {}, { kind: 'noOrder', failure: 'OrderConflict' }, 'foreign'],
    ['terminated', {}, { kind: 'unresolved', how: 'terminated' }, 'unresolved'],
  ])('%s', (_, theirs, ours, name) => {
    expect(compare(seenOrder(theirs), ours, clock).class).toBe(name);
  });

  test('is woken only where it waits', () => {
    expect(compare(seenOrder(), running(1), clock).wake).toBe(true);
    expect(compare(seenOrder(), running(1, ourEnd()), clock).wake).toBeUndefined();
    expect(compare(seenOrder(), undecided(true), clock).wake).toBe(true);
    expect(compare(seenOrder(), undecided(false), clock).wake).toBeUndefined();
  });

  test('shows both amounts where they differ', () => {
    const { detail } = compare(seenOrder({ amount_to: '98' }), ended(), clock);
    expect(detail).toBe('amount_to 98 at the service, 98.5 here');
  });
});

const F = { currency_from: 'usd', currency_to: 'btc', amount_from: '100', amount_to: '0.5' };
const exchanged = { ...F, amount_from_fee: '2', amount_to_fee: null };
const paidOut = { ...F, amount_from_fee: '2', amount_to_fee: '0.01' };

describe('balance changes of an order that ended', () => {
  test.each<[string, Partial<OrderListItem>]>([
    ['withdraw', { balance_changes: [change('usd', '-100')] }],
    ['withdraw', { balance_changes: [change('usd', '-98.50'), change('usd', '-1.50')] }],
    ['deposit', { amount_to: '98', amount_from_fee: '2', amount_to_fee: null, balance_changes: [change('usd', '98')] }],
    [
      'deposit',
      {
        amount_to: '100',
        amount_from_fee: '2',
        amount_to_fee: null,
        balance_changes: [change('usd', '100'), change('usd', '-2')],
      },
    ],
    ['exchange', { ...exchanged, balance_changes: [change('usd', '-100'), change('btc', '0.5')] }],
    [
      'deposit_exchange',
      { ...exchanged, balance_changes: [change('usd', '98'), change('usd', '-98'), change('btc', '0.5')] },
    ],
    [
      'exchange_withdraw',
      { ...paidOut, balance_changes: [change('usd', '-100'), change('btc', '0.5'), change('btc', '-0.51')] },
    ],
    [
      'deposit_exchange_withdraw',
      {
        ...paidOut,
        balance_changes: [change('usd', '98'), change('usd', '-98'), change('btc', '0.51'), change('btc', '-0.51')],
      },
    ],
    ['something_new', { balance_changes: [change('usd', '-3')] }],
    ['withdraw', { balance_changes: [] }],
  ])('fit a completed %s', (type, fields) => {
    expect(unevenChanges(seenOrder({ order_type: type, ...fields }), true)).toBeUndefined();
  });

  test.each<[string, Partial<OrderListItem>, string]>([
    ['withdraw', { balance_changes: [change('usd', '-90')] }, '-90 usd'],
    ['exchange', { ...exchanged, balance_changes: [change('usd', '-60'), change('btc', '0.5')] }, '-60 usd'],
    [
      'exchange_withdraw',
      { ...paidOut, balance_changes: [change('usd', '-100'), change('btc', '0.5'), change('btc', '-0.4')] },
      '0.1 btc',
    ],
  ])('that leave something of a completed %s are found', (type, fields, left) => {
    expect(unevenChanges(seenOrder({ order_type: type, ...fields }), true)).toContain(left);
  });

  test('that came after an order was canceled with nothing are found', () => {
    const late = seenOrder({ status: 'canceled', order_type: 'deposit', balance_changes: [change('usd', '50')] });
    expect(unevenChanges(late, true)).toContain('50 usd');
    // What it left was told by its own result.
    expect(unevenChanges(late, false)).toBeUndefined();
    expect(unevenChanges({ ...late, status: 'completed_partially' }, true)).toBeUndefined();
  });
});
