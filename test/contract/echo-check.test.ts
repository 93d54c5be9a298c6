import { describe, expect, it } from 'vitest';
import { echoDifferences } from '../../src/contract/echo-check.js';
import { type CreateRequests, ORDER_TYPES, type Order, type OrderType } from '../../src/contract/orders.js';
import { BITCOIN, CARD, CARDS_REQUEST, ETHEREUM, OTHER_CARD, orderFor, REQUESTS, SEPA_IBAN } from './fixtures.js';

const differences = (type: OrderType, changes: Partial<Order>, request: CreateRequests[OrderType] = REQUESTS[type]) =>
  echoDifferences(type, request, orderFor(type, request, changes));

describe('echoDifferences', () => {
  it.each(ORDER_TYPES)('takes the documented order of a %s for ours', (type) => {
    expect(differences(type, {})).toEqual([]);
  });

  it.each(ORDER_TYPES)('names type and id of a foreign %s', (type) => {
    expect(differences(type, { order_type: 'other', user_order_id: 'x' })).toEqual(['order_type', 'order_id']);
  });

  const foreign: [OrderType, Partial<Order>, string][] = [
    ['deposit', { currency_from: 'eur' }, 'currency'],
    ['deposit', { network_from: 'sepa' }, 'network'],
    ['deposit', { network_from: null }, 'network'],
    ['deposit', { expected_amount_from: '100.01' }, 'amount'],
    ['deposit_exchange', { currency_from: 'eth' }, 'currency_from'],
    ['deposit_exchange', { network_from: 'lightning' }, 'network_from'],
    ['deposit_exchange', { currency_to: 'eur' }, 'currency_to'],
    ['deposit_exchange', { expected_amount_from: '0.1' }, 'amount'],
    ['deposit_exchange_withdraw', { network_to: 'bank' }, 'network_to'],
    ['deposit_exchange_withdraw', { wallet_to: OTHER_CARD }, 'wallet'],
    ['deposit_exchange_withdraw', { strict_withdrawal_amount: true }, 'amount'],
    ['exchange', { currency_to: 'eth' }, 'currency_to'],
    ['exchange', { expected_amount_from: '1' }, 'amount'],
    ['exchange_withdraw', { expected_amount_to: '0.51' }, 'amount_to'],
    ['exchange_withdraw', { strict_withdrawal_amount: false }, 'amount_to'],
    ['exchange_withdraw', { wallet_to: null }, 'wallet'],
    ['exchange_withdraw', { wallet_memo_to: '7' }, 'wallet_memo'],
    ['exchange_withdraw', { wallet_to_details: { bank_code: '1' } }, 'wallet_details'],
    ['withdraw', { currency_to: 'eur' }, 'currency'],
    ['withdraw', { network_to: 'bank' }, 'network'],
    ['withdraw', { wallet_to: BITCOIN }, 'wallet'],
    ['withdraw', { expected_amount_from: '25.51', expected_amount_to: '25.49' }, 'amount'],
  ];
  it.each(foreign)('finds a foreign %s by %o', (type, changes, field) => {
    expect(differences(type, changes)).toEqual([field]);
  });

  const ours: [OrderType, Partial<Order>][] = [
    ['deposit', { expected_amount_from: '100' }],
    ['deposit', { expected_amount_from: '100.0000', amount_from: '99', network_to: null }],
    ['deposit_exchange', { amount_from: '5', amount_to: '6', expected_amount_to: '7' }],
    ['exchange_withdraw', { expected_amount_to: '0.500', expected_amount_from: '1' }],
    ['exchange_withdraw', { wallet_to: ETHEREUM.toLowerCase() }],
    ['exchange_withdraw', { wallet_memo_to: '', wallet_to_details: {} }],
    ['withdraw', { expected_amount_from: '26', expected_amount_to: '25.5' }],
    ['withdraw', { expected_amount_from: '25.5', expected_amount_to: '25', network_from: 'card' }],
    ['withdraw', { wallet_to: '411111******1111' }],
    ['withdraw', { wallet_to: '****1111' }],
    ['withdraw', { wallet_to_details: [] }],
  ];
  it.each(ours)('takes a %s with %o for ours', (type, changes) => {
    expect(differences(type, changes)).toEqual([]);
  });

  it.each(['555555******4444', '411111******1112', '4111111111111111*1111111', '411112*1111', '41*2*11'])(
    'compares a masked card %s on what is visible',
    (wallet_to) => {
      expect(differences('withdraw', { wallet_to })).toEqual(['wallet']);
    },
  );

  it.each(['', null, undefined])('takes memo %o of the request for absent', (wallet_memo) => {
    const request = { ...REQUESTS.withdraw, wallet_memo };
    expect(differences('withdraw', { wallet_memo_to: null }, request)).toEqual([]);
    expect(differences('withdraw', { wallet_memo_to: '1' }, request)).toEqual(['wallet_memo']);
  });

  it('compares details whatever the order of their keys, masked values on what is visible', () => {
    const wallet_details = { recipient_email: 'jane@example.com', recipient_name: 'Jane' };
    const request = { ...REQUESTS.withdraw, network: 'sepa', wallet: SEPA_IBAN, wallet_details };
    const echo = (wallet_to_details: unknown) => differences('withdraw', { wallet_to_details }, request);
    expect(echo({ recipient_name: 'Jane', recipient_email: 'j***@example.com', bank_code: null })).toEqual([]);
    expect(echo({ recipient_name: 'John', recipient_email: 'jane@example.com' })).toEqual(['wallet_details']);
    expect(echo({ ...wallet_details, iban: 'x' })).toEqual(['wallet_details']);
    expect(echo(null)).toEqual(['wallet_details']);
  });

  it('compares the amounts of cards numerically', () => {
    const echo = (first: unknown, second: unknown) => {
      const parts = [
        { wallet: '411111******1111', amount: first },
        { wallet: OTHER_CARD, amount: second },
      ];
      return differences('withdraw', { wallet_to_details: parts }, CARDS_REQUEST);
    };
    expect(echo('0.10', 0.2)).toEqual([]);
    expect(echo('0.2', '0.1')).toEqual(['wallet_details']);
    expect(echo('0.1', '*')).toEqual(['wallet_details']);
    expect(differences('withdraw', { wallet_to_details: [{ wallet: CARD, amount: '0.1' }] }, CARDS_REQUEST)).toEqual([
      'wallet_details',
    ]);
  });

  it('goes no deeper into an answer than the request does', () => {
    const deep = JSON.parse(`${'[{"amount":'.repeat(2_000)}1${'}]'.repeat(2_000)}`);
    expect(differences('withdraw', { wallet_to_details: deep }, CARDS_REQUEST)).toEqual(['wallet_details']);
  });
});
