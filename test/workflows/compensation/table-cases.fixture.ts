import { ORDER_TYPES, type OrderType } from '../../../src/contract/order/types.js';
import type { Order } from '../../../src/contract/service-objects.js';
import type { CaseFacts } from './cases.fixture.js';

/** One kind of ending with the row it belongs to. Ways are written as the test writes a row's own. */
export interface Expected extends CaseFacts {
  type: OrderType;
  status: string;
  what: string;
  name: string;
  finish: string;
  revert: string;
  byDefault: 'report' | 'ask';
}

const ended = { finish: 'none', revert: 'none', byDefault: 'report' } as const;
const person = { finish: 'ask', revert: 'ask', byDefault: 'ask' } as const;
const NEVER_CAME = 'the deposit never came';
export const DEPOSIT = 'a deposit that the service holds or credited';
const CONTRADICTION = 'a contradiction: the status does not fit what moved';
const contradiction = { name: CONTRADICTION, ...person };
const held = { name: DEPOSIT, ...person };
const CARDS = 'a partial payout to several cards (which one is missing is not documented)';
const WHOLE_AGAIN = 'decide PAY, decide EXCHANGE, decide EXCHANGE_AND_PAY, decide EXCHANGE_TO_PAY';
const AT_HOME = 'not executed: all of it is still on the balance';
export const NOT_DOCUMENTED = 'canceled although it starts with our own money (not documented)';
const byAmount = { amount: '100', amount_to: undefined };
const bothCards = {
  amount: '30',
  network: 'multiple_cards',
  wallet_details: [{ amount: '30', wallet: '4111111111111111' }],
};
const came: Partial<Order> = { amount_from: '0.01' };

/** Every row of the compensation rules, most of them from several sides. */
export const EXPECTED: Expected[] = [
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
    name: 'the deposit was not exchanged in full',
    finish: 'auto EXCHANGE',
    revert: 'auto UNDO_EXCHANGE, decide REFUND',
    byDefault: 'report',
  },
  {
    type: 'deposit_exchange',
    status: 'error',
    what: 'R_F',
    order: came,
    changes: [['btc', '0.01']],
    name: 'ended in error after the deposit was credited',
    finish: 'decide EXCHANGE',
    revert: 'decide REFUND',
    byDefault: 'ask',
  },
  {
    type: 'deposit_exchange_withdraw',
    status: 'completed_partially',
    what: 'R_T',
    changes: [['usd', '200']],
    name: 'the deposit was exchanged, but not paid out in full',
    finish: 'auto PAY',
    revert: 'decide EXCHANGE_BACK, decide REFUND',
    byDefault: 'ask',
  },
  {
    type: 'deposit_exchange_withdraw',
    status: 'completed_partially',
    what: 'R_F',
    changes: [['btc', '0.004']],
    name: 'the deposit was neither exchanged nor paid out in full',
    finish: 'auto EXCHANGE_AND_PAY, decide PAY',
    revert: 'auto REFUND, decide EXCHANGE_BACK',
    byDefault: 'ask',
  },
  {
    type: 'deposit_exchange_withdraw',
    status: 'completed_partially',
    what: 'R_F of an exact payout',
    request: { amount: undefined, amount_to: '100' },
    changes: [['btc', '0.004']],
    name: 'the deposit for an exact payout was neither exchanged nor paid out in full',
    finish: 'decide EXCHANGE_TO_PAY, decide PAY',
    revert: 'auto REFUND, decide EXCHANGE_BACK',
    byDefault: 'ask',
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
    finish: 'auto EXCHANGE',
    revert: 'auto UNDO_EXCHANGE',
    byDefault: 'report',
  },
  {
    type: 'exchange',
    status: 'error',
    what: 'all of it',
    name: AT_HOME,
    finish: WHOLE_AGAIN,
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
    finish: 'auto PAY',
    revert: 'auto EXCHANGE_BACK',
    byDefault: 'ask',
  },
  {
    type: 'exchange_withdraw',
    status: 'completed_partially',
    what: 'R_F, which never left the balance',
    request: byAmount,
    changes: [['usd', '-40']],
    name: 'neither exchanged nor paid out in full',
    finish: 'auto EXCHANGE_AND_PAY, decide PAY',
    revert: 'report',
    byDefault: 'ask',
  },
  {
    type: 'exchange_withdraw',
    status: 'completed_partially',
    what: 'R_F of an exact payout',
    order: { expected_amount_from: '1600' },
    changes: [['usd', '-1000']],
    name: 'an exact payout neither exchanged nor paid out in full',
    finish: 'decide EXCHANGE_TO_PAY, decide PAY',
    revert: 'report',
    byDefault: 'ask',
  },
  {
    type: 'exchange_withdraw',
    status: 'error',
    what: 'all of it',
    request: byAmount,
    name: AT_HOME,
    finish: WHOLE_AGAIN,
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
    finish: 'decide PAY',
    revert: 'decide EXCHANGE_BACK',
    byDefault: 'ask',
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
    finish: 'auto PAY',
    revert: 'report',
    byDefault: 'ask',
  },
  {
    type: 'withdraw',
    status: 'error',
    what: 'all of it',
    name: AT_HOME,
    finish: WHOLE_AGAIN,
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
    finish: 'decide PAY',
    revert: 'ask',
    byDefault: 'ask',
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
    finish: 'decide PAY, decide EXCHANGE_AND_PAY, decide EXCHANGE_TO_PAY',
    revert: 'decide EXCHANGE_BACK, decide REFUND',
    byDefault: 'ask' as const,
  })),
  ...(['exchange', 'exchange_withdraw', 'withdraw'] as const).flatMap((type) => [
    {
      type,
      status: 'canceled',
      what: 'all of it',
      name: NOT_DOCUMENTED,
      finish: 'ask',
      revert: 'report',
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
