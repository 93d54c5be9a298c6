import { describe, expect, it } from 'vitest';
import type { OrderInput } from '../../src/contract/orders.js';
import { orderInputDifferences } from '../../src/contract/same-input.js';
import { CARDS_REQUEST, inputOf, inputWith, OTHER_CARD } from './fixtures.js';

const base: OrderInput = { order: CARDS_REQUEST };
const differences = (other: unknown, mine: unknown = base) =>
  orderInputDifferences(mine as OrderInput, other as OrderInput);

describe('orderInputDifferences', () => {
  it.each([
    ['the same', base],
    ['the defaults written out', { ...base, account: 'default', resend: 'once' }],
    ['another batch', { ...base, batchId: 'b' }],
    ['another key order', { order: Object.fromEntries(Object.entries(CARDS_REQUEST).reverse()) }],
    ['blanks for absent fields', { order: { ...CARDS_REQUEST, description: '', wallet_memo: null, client_info: {} } }],
    ['an amount written otherwise (row 8)', { order: { ...CARDS_REQUEST, amount: '0.300' } }],
  ])('finds none in %s', (_what, other) => {
    expect(differences(other)).toEqual([]);
    expect(differences(base, other)).toEqual([]);
  });

  const [first, second] = CARDS_REQUEST.wallet_details as object[];
  it.each<[string[], unknown]>([
    [['order.amount'], { order: { ...CARDS_REQUEST, amount: '0.31' } }],
    [
      ['order.wallet_details[1].amount'],
      { order: { ...CARDS_REQUEST, wallet_details: [first, { ...second, amount: '0.21' }] } },
    ],
    [['order.wallet_details[1]'], { order: { ...CARDS_REQUEST, wallet_details: [first] } }],
    [['order.wallet_details'], { order: { ...CARDS_REQUEST, wallet_details: null } }],
    [['order.client_info'], { order: { ...CARDS_REQUEST, client_info: { client_id: '1' } } }],
    [['account'], { ...base, account: 'eu' }],
    [['compensation'], { ...base, compensation: 'report' }],
    [['revertTo'], { ...base, revertTo: { network: 'card', wallet: OTHER_CARD } }],
    [['resend'], { ...base, resend: 'never' }],
  ])('names %j', (fields, other) => {
    expect(differences(other)).toEqual(fields);
    expect(differences(base, other)).toEqual(fields);
  });

  it('names the field of a refund', () => {
    const mine = inputWith('exchange', {}, { revertTo: { network: 'card', wallet: OTHER_CARD } });
    expect(differences({ ...mine, revertTo: { network: 'bank', wallet: OTHER_CARD } }, mine)).toEqual([
      'revertTo.network',
    ]);
  });

  it.each([null, undefined, 'x', [], { order: 5 }])('tells an order from %o that was never validated', (other) => {
    expect(differences(other, inputOf('deposit'))).toContain('order');
  });
});
