import { describe, expect, it, test } from 'vitest';
import { ORDER_TYPES, type OrderType } from '../../../src/contract/order/types.js';
import { FINAL_STATUSES } from '../../../src/contract/service-objects.js';
import { type Figures, figures } from '../../../src/workflows/compensation/figures.js';
import * as moves from '../../../src/workflows/compensation/moves.js';
import { COMPENSATION_TABLE, moveByPolicy, type Row, rowOf } from '../../../src/workflows/compensation/table.js';
import { type CaseFacts, caseOf } from './cases.fixture.js';

/** One kind of ending with the row it belongs to. Ways are written as the test writes a row's own. */
interface Expected extends CaseFacts {
  type: OrderType;
  status: string;
  what: string;
  name: string;
  finish: string;
  revert: string;
  byDefault: string;
}

const DEPOSIT = 'a deposit that the service holds or credited';
const NOT_DOCUMENTED = 'canceled although it starts with our own money (not documented)';
const NEVER_CAME = 'the deposit never came';
const AT_HOME = 'not executed: all of it is still on the balance';
const BOTH = 'left in two places';
const CARDS = 'a partial payout to several cards (which one is missing is not documented)';
const CONTRADICTION = 'a contradiction: the status does not fit what moved';

/** What the policies do on each row, and the policy that holds where none is given. */
const WAYS: Record<string, readonly [finish: string, revert: string, byDefault: 'report' | 'ask']> = {
  completed: ['none', 'none', 'report'],
  [NEVER_CAME]: ['none', 'none', 'report'],
  [DEPOSIT]: ['ask', 'ask', 'ask'],
  [CARDS]: ['decide PAY', 'ask', 'ask'],
  [BOTH]: ['decide PAY, decide EXCHANGE_AND_PAY, decide EXCHANGE_TO_PAY', 'decide EXCHANGE_BACK, decide REFUND', 'ask'],
  'the deposit was not exchanged in full': ['auto EXCHANGE', 'auto UNDO_EXCHANGE, decide REFUND', 'report'],
  'ended in error after the deposit was credited': ['decide EXCHANGE', 'decide REFUND', 'ask'],
  'the deposit was exchanged, but not paid out in full': ['auto PAY', 'decide EXCHANGE_BACK, decide REFUND', 'ask'],
  'the deposit was neither exchanged nor paid out in full': [
    'auto EXCHANGE_AND_PAY, decide PAY',
    'auto REFUND, decide EXCHANGE_BACK',
    'ask',
  ],
  'the deposit for an exact payout was neither exchanged nor paid out in full': [
    'decide EXCHANGE_TO_PAY, decide PAY',
    'auto REFUND, decide EXCHANGE_BACK',
    'ask',
  ],
  'not exchanged in full': ['auto EXCHANGE', 'auto UNDO_EXCHANGE', 'report'],
  [AT_HOME]: ['decide PAY, decide EXCHANGE, decide EXCHANGE_AND_PAY, decide EXCHANGE_TO_PAY', 'report', 'report'],
  'exchanged, but not paid out in full': ['auto PAY', 'auto EXCHANGE_BACK', 'ask'],
  'neither exchanged nor paid out in full': ['auto EXCHANGE_AND_PAY, decide PAY', 'report', 'ask'],
  'an exact payout neither exchanged nor paid out in full': ['decide EXCHANGE_TO_PAY, decide PAY', 'report', 'ask'],
  'ended in error after the exchange': ['decide PAY', 'decide EXCHANGE_BACK', 'ask'],
  'paid out in part': ['auto PAY', 'report', 'ask'],
  [NOT_DOCUMENTED]: ['ask', 'report', 'report'],
  [CONTRADICTION]: ['ask', 'ask', 'ask'],
};

const on = (name: string, type: OrderType, status: string, what: string, facts: CaseFacts = {}): Expected => {
  const [finish = '', revert = '', byDefault = ''] = WAYS[name] ?? [];
  return { type, status, what, name, finish, revert, byDefault, ...facts };
};
const partial = (name: string, type: OrderType, what: string, changes: string, facts: CaseFacts = {}): Expected =>
  on(name, type, 'completed_partially', what, { changes, ...facts });

const byAmount = { request: { amount: '100', amount_to: undefined } };
const bothCards = {
  amount: '30',
  network: 'multiple_cards',
  wallet_details: [{ amount: '30', wallet: '4111111111111111' }],
};
const cameWhole: CaseFacts = { order: { amount_from: '0.01' }, changes: 'btc 0.01' };
const exchangedWhole: CaseFacts = { ...byAmount, changes: 'usd -100, eth 0.03' };
const hash: CaseFacts = { order: { blockchain_withdrawal_hash: 'ab' } };
const DEPOSITS = ['deposit', 'deposit_exchange', 'deposit_exchange_withdraw'] as const;

/** Every row of the compensation rules, most of them from several sides. */
const EXPECTED: Expected[] = [
  ...ORDER_TYPES.map((type) => on('completed', type, 'completed', 'nothing')),
  ...DEPOSITS.flatMap((type) => ['canceled', 'error'].map((status) => on(NEVER_CAME, type, status, 'nothing came'))),
  on(DEPOSIT, 'deposit', 'error', 'an amount', { order: { amount_from: '100' } }),
  on(DEPOSIT, 'deposit', 'canceled', 'a hash', { order: { blockchain_deposit_hash: 'ab' } }),
  on(DEPOSIT, 'deposit', 'error', 'changes', { changes: 'usd 1' }),
  on(DEPOSIT, 'deposit', 'completed_partially', 'any'),
  partial('the deposit was not exchanged in full', 'deposit_exchange', 'R_F', 'btc 0.004'),
  on('ended in error after the deposit was credited', 'deposit_exchange', 'error', 'R_F', cameWhole),
  partial('the deposit was exchanged, but not paid out in full', 'deposit_exchange_withdraw', 'R_T', 'usd 200'),
  partial('the deposit was neither exchanged nor paid out in full', 'deposit_exchange_withdraw', 'R_F', 'btc 0.004'),
  partial(
    'the deposit for an exact payout was neither exchanged nor paid out in full',
    'deposit_exchange_withdraw',
    'R_F of an exact payout',
    'btc 0.004',
    { request: { amount: undefined, amount_to: '100' } },
  ),
  on(CONTRADICTION, 'deposit_exchange_withdraw', 'error', 'the deposit', cameWhole),
  partial('not exchanged in full', 'exchange', 'R_F', 'usd -4'),
  on(AT_HOME, 'exchange', 'error', 'all of it'),
  on(CONTRADICTION, 'exchange', 'error', 'changes', { changes: 'usd -4, btc 0.00006' }),
  partial('exchanged, but not paid out in full', 'exchange_withdraw', 'R_T', 'usd -100, eth 0.02', byAmount),
  partial('neither exchanged nor paid out in full', 'exchange_withdraw', 'R_F', 'usd -40', byAmount),
  partial('an exact payout neither exchanged nor paid out in full', 'exchange_withdraw', 'R_F', 'usd -1000', {
    order: { expected_amount_from: '1600' },
  }),
  on(AT_HOME, 'exchange_withdraw', 'error', 'all of it', byAmount),
  on('ended in error after the exchange', 'exchange_withdraw', 'error', 'R_T', exchangedWhole),
  on(CONTRADICTION, 'exchange_withdraw', 'error', 'R_T although a payout has a hash', { ...exchangedWhole, ...hash }),
  partial('paid out in part', 'withdraw', 'R_T', 'usd -5.5'),
  on(AT_HOME, 'withdraw', 'error', 'all of it'),
  on(CONTRADICTION, 'withdraw', 'error', 'at above 0', { order: { amount_to: '3' } }),
  on(CONTRADICTION, 'withdraw', 'error', 'a hash', hash),
  on(CONTRADICTION, 'withdraw', 'error', 'changes', { changes: 'usd -3' }),
  partial(CARDS, 'withdraw', 'a card', 'usd -20', { request: bothCards }),
  partial(BOTH, 'exchange_withdraw', 'R_F and R_T', 'usd -4, eth 1', {
    request: { amount: '10', amount_to: undefined },
  }),
  partial(BOTH, 'deposit_exchange_withdraw', 'R_F and R_T', 'btc 0.004, usd 1', { request: { amount: '10' } }),
  ...(['exchange', 'exchange_withdraw', 'withdraw'] as const).flatMap((type) => [
    on(NOT_DOCUMENTED, type, 'canceled', 'all of it'),
    on(CONTRADICTION, type, 'canceled', 'changes', { changes: 'usd -1' }),
  ]),
  ...(['deposit_exchange', 'deposit_exchange_withdraw'] as const).map((type) =>
    on(CONTRADICTION, type, 'canceled', 'changes', { changes: 'btc 0.01' }),
  ),
];

/** Moves by name, as the expectations below write them. */
const NAMES = new Map(Object.entries(moves).map(([name, move]) => [move as unknown, name]));

/** Each way in words: what a policy ends as, or what it does by itself and what is left to decisions. */
function written(row: Row): { finish: string; revert: string; byDefault: string } {
  const wayOf = (way: Row['finish']): string => {
    if (row.nothingLeft) return 'none';
    if (typeof way === 'string') return way;
    const byPolicy = way.byPolicy ? [`auto ${NAMES.get(way.byPolicy)}`] : [];
    return [...byPolicy, ...way.byDecision.map((move) => `decide ${NAMES.get(move)}`)].join(', ');
  };
  return { finish: wayOf(row.finish), revert: wayOf(row.revert), byDefault: row.byDefault };
}

describe('the compensation table', () => {
  test.for(EXPECTED)(
    '$type $status with $what left: $name',
    ({ type, status, name, finish, revert, byDefault, ...facts }) => {
      const c = caseOf(type, status, facts);
      const row = rowOf(c, figures(c));
      expect({ name: row.name, ...written(row) }).toEqual({ name, finish, revert, byDefault });
    },
  );

  it('has no row that these examples leave out', () => {
    expect(new Set(EXPECTED.map(({ name }) => name))).toEqual(new Set(COMPENSATION_TABLE.map(({ name }) => name)));
  });

  it('raises attention for undocumented cancellations alone, and has no figure for deposits alone', () => {
    expect(COMPENSATION_TABLE.filter((row) => row.attention).map((row) => row.name)).toEqual([NOT_DOCUMENTED]);
    expect(COMPENSATION_TABLE.filter((row) => row.leftUnknown).map((row) => row.name)).toEqual([DEPOSIT]);
  });

  it('lets money move by itself on partial orders only', () => {
    const nothing: Figures = {};
    const rows = ORDER_TYPES.flatMap((type) =>
      [...FINAL_STATUSES, 'on_hold']
        .filter((status) => status !== 'completed_partially')
        .flatMap((status) => [
          rowOf(caseOf(type, status), nothing),
          rowOf(caseOf(type, status, { changes: 'usd -1' }), nothing),
        ]),
    );
    expect(rows.filter((row) => moveByPolicy(row, 'finish') ?? moveByPolicy(row, 'revert'))).toEqual([]);
  });
});
