import { describe, expect, it, test } from 'vitest';
import type { Order, OrderType } from '../../src/contract/orders.js';
import { ORDER_TYPES } from '../../src/contract/orders.js';
import { FINAL_STATUSES } from '../../src/contract/status.js';
import { type Figures, figures } from '../../src/workflows/compensation/figures.js';
import { COMPENSATION_TABLE, type Row, rowOf } from '../../src/workflows/compensation/table.js';
import { type CaseFacts, caseOf } from './cases.js';

/** What the policies `finish` and `revert` do on a row: start by themselves, ask, or end like `report`. */
type Effect = 'auto' | 'ask: finish or accept' | 'ask: accept' | 'report' | 'none';

function effects(row: Row): { finish: Effect; revert: Effect; byDefault: string } {
  const asks: Effect = row.finish === 'never' ? 'ask: accept' : 'ask: finish or accept';
  const of = (permission: Row['revert']): Effect =>
    row.nothingLeft ? 'none' : permission === 'auto' || permission === 'report' ? permission : asks;
  return { finish: of(row.finish), revert: of(row.revert), byDefault: row.byDefault };
}

interface Expected extends CaseFacts {
  type: OrderType;
  status: string;
  what: string;
  name: string;
  finish: Effect;
  revert: Effect;
  byDefault: 'report' | 'ask';
}

const ended = { finish: 'none', revert: 'none', byDefault: 'report' } as const;
const person = { finish: 'ask: accept', revert: 'ask: accept', byDefault: 'ask' } as const;
const decided = { finish: 'ask: finish or accept', revert: 'ask: finish or accept', byDefault: 'ask' } as const;
const NEVER_CAME = 'the deposit never came';
const DEPOSIT = 'a deposit that the service holds or credited';
const CONTRADICTION = 'a contradiction: the status does not fit what moved';
const contradiction = { name: CONTRADICTION, ...person };
const held = { name: DEPOSIT, ...person };
const CARDS = 'a partial payout to several cards (which one is missing is not documented)';
const AT_HOME = 'not executed: all of it is still on the balance';
const NOT_DOCUMENTED = 'canceled although it starts with our own money (not documented)';
const byAmount = { amount: '100', amount_to: undefined };
const bothCards = {
  amount: '30',
  network: 'multiple_cards',
  wallet_details: [{ amount: '30', wallet: '4111111111111111' }],
};
const came: Partial<Order> = { amount_from: '0.01' };

const EXPECTED: Expected[] = [
  ...ORDER_TYPES.map((type) => ({ type, status: 'completed', what: 'nothing', name: 'completed', ...ended })),
  ...(['deposit', 'deposit_exchange', 'deposit_exchange_withdraw'] as const).flatMap((type) =>
    ['canceled', 'error'].map((status) => ({ type, status, what: 'nothing came', name: NEVER_CAME, ...ended })),
  ),
  { type: 'deposit', status: 'error', what: 'an amount', order: { amount_from: '100' }, ...held },
  {
    type: 'deposit',
    status: 'canceled',
    what: 'a hash',
    order: { blockchain_deposit_hash: 'ab' },
    ...held,
  },
  { type: 'deposit', status: 'error', what: 'changes', changes: [['usd', '1']], ...held },
  { type: 'deposit', status: 'completed_partially', what: 'any', ...held },
  {
    type: 'deposit_exchange',
    status: 'completed_partially',
    what: 'R_F',
    changes: [['btc', '0.004']],
    name: 'not exchanged in full',
    finish: 'auto',
    revert: 'ask: finish or accept',
    byDefault: 'report',
  },
  {
    type: 'deposit_exchange',
    status: 'error',
    what: 'R_F',
    order: came,
    changes: [['btc', '0.01']],
    name: 'ended in error after the deposit was credited',
    ...decided,
  },
  {
    type: 'deposit_exchange_withdraw',
    status: 'completed_partially',
    what: 'R_T',
    changes: [['usd', '200']],
    name: 'exchanged, but not paid out in full',
    ...decided,
  },
  {
    type: 'deposit_exchange_withdraw',
    status: 'completed_partially',
    what: 'R_F',
    changes: [['btc', '0.004']],
    name: 'the deposit was neither exchanged nor paid out in full',
    ...decided,
  },
  {
    type: 'deposit_exchange_withdraw',
    status: 'error',
    what: 'the deposit',
    order: came,
    changes: [['btc', '0.01']],
    ...contradiction,
  },
  {
    type: 'exchange',
    status: 'completed_partially',
    what: 'R_F',
    changes: [['usd', '-4']],
    name: 'not exchanged in full',
    finish: 'auto',
    revert: 'ask: finish or accept',
    byDefault: 'report',
  },
  {
    type: 'exchange',
    status: 'error',
    what: 'all of it',
    name: AT_HOME,
    finish: 'ask: finish or accept',
    revert: 'report',
    byDefault: 'report',
  },
  {
    type: 'exchange',
    status: 'error',
    what: 'changes',
    changes: [
      ['usd', '-4'],
      ['btc', '0.00006'],
    ],
    ...contradiction,
  },
  {
    type: 'exchange_withdraw',
    status: 'completed_partially',
    what: 'R_T',
    request: byAmount,
    changes: [
      ['usd', '-100'],
      ['eth', '0.02'],
    ],
    name: 'exchanged, but not paid out in full',
    ...decided,
  },
  {
    type: 'exchange_withdraw',
    status: 'completed_partially',
    what: 'R_F, which never left the balance',
    request: byAmount,
    changes: [['usd', '-40']],
    name: 'neither exchanged nor paid out in full',
    finish: 'ask: finish or accept',
    revert: 'report',
    byDefault: 'ask',
  },
  {
    type: 'exchange_withdraw',
    status: 'error',
    what: 'all of it',
    request: byAmount,
    name: AT_HOME,
    finish: 'ask: finish or accept',
    revert: 'report',
    byDefault: 'report',
  },
  {
    type: 'exchange_withdraw',
    status: 'error',
    what: 'R_T',
    request: byAmount,
    changes: [
      ['usd', '-100'],
      ['eth', '0.03'],
    ],
    name: 'ended in error after the exchange',
    ...decided,
  },
  {
    type: 'exchange_withdraw',
    status: 'error',
    what: 'R_T although a payout has a hash',
    request: byAmount,
    order: { blockchain_withdrawal_hash: 'ab' },
    changes: [
      ['usd', '-100'],
      ['eth', '0.03'],
    ],
    ...contradiction,
  },
  {
    type: 'withdraw',
    status: 'completed_partially',
    what: 'R_T',
    changes: [['usd', '-5.5']],
    name: 'paid out in part',
    finish: 'auto',
    revert: 'report',
    byDefault: 'ask',
  },
  {
    type: 'withdraw',
    status: 'error',
    what: 'all of it',
    name: AT_HOME,
    finish: 'ask: finish or accept',
    revert: 'report',
    byDefault: 'report',
  },
  { type: 'withdraw', status: 'error', what: 'at above 0', order: { amount_to: '3' }, ...contradiction },
  {
    type: 'withdraw',
    status: 'error',
    what: 'a hash',
    order: { blockchain_withdrawal_hash: 'ab' },
    ...contradiction,
  },
  { type: 'withdraw', status: 'error', what: 'changes', changes: [['usd', '-3']], ...contradiction },
  {
    type: 'withdraw',
    status: 'completed_partially',
    what: 'a card',
    request: bothCards,
    changes: [['usd', '-20']],
    name: CARDS,
    ...person,
  },
  ...(['exchange_withdraw', 'deposit_exchange_withdraw'] as const).map((type) => ({
    type,
    status: 'completed_partially',
    what: 'R_F and R_T',
    request: { amount: '10', amount_to: undefined },
    changes: [
      [type === 'exchange_withdraw' ? 'usd' : 'btc', type === 'exchange_withdraw' ? '-4' : '0.004'],
      [type === 'exchange_withdraw' ? 'eth' : 'usd', '1'],
    ] as [string, string][],
    name: 'left in two places',
    ...person,
  })),
  ...(['exchange', 'exchange_withdraw', 'withdraw'] as const).flatMap((type) => [
    {
      type,
      status: 'canceled',
      what: 'all of it',
      name: NOT_DOCUMENTED,
      finish: 'ask: accept' as const,
      revert: 'report' as const,
      byDefault: 'report' as const,
    },
    {
      type,
      status: 'canceled',
      what: 'changes',
      changes: [['usd', '-1']] as [string, string][],
      ...contradiction,
    },
  ]),
  ...(['deposit_exchange', 'deposit_exchange_withdraw'] as const).map((type) => ({
    type,
    status: 'canceled',
    what: 'changes',
    changes: [['btc', '0.01']] as [string, string][],
    ...contradiction,
  })),
];

describe('the compensation table', () => {
  test.for(EXPECTED)(
    '$type $status with $what left: $name',
    ({ type, status, name, finish, revert, byDefault, ...facts }) => {
      const c = caseOf(type, status, facts);
      const row = rowOf(c, figures(c));
      expect({ name: row.name, ...effects(row) }).toEqual({ name, finish, revert, byDefault });
    },
  );

  it('has no row that these examples leave out', () => {
    expect(new Set(EXPECTED.map(({ name }) => name))).toEqual(new Set(COMPENSATION_TABLE.map(({ name }) => name)));
  });

  it('raises attention for undocumented cancellations alone, and has no figure for deposits alone', () => {
    expect(COMPENSATION_TABLE.filter((row) => row.attention).map((row) => row.name)).toEqual([NOT_DOCUMENTED]);
    expect(COMPENSATION_TABLE.filter((row) => row.untold).map((row) => row.name)).toEqual([DEPOSIT]);
  });

  it('lets money move by itself on partial orders only', () => {
    const nothing: Figures = {};
    const rows = ORDER_TYPES.flatMap((type) =>
      [...FINAL_STATUSES, 'on_hold']
        .filter((status) => status !== 'completed_partially')
        .flatMap((status) => [
          rowOf(caseOf(type, status), nothing),
          rowOf(caseOf(type, status, { changes: [['usd', '-1']] }), nothing),
        ]),
    );
    expect(rows.filter((row) => row.finish === 'auto' || row.revert === 'auto')).toEqual([]);
  });
});
