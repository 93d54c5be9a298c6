import { describe, expect, it } from 'vitest';
import { startDifferences } from '../../../src/contract/differences/starts.js';
import { recoveredStart } from '../../../src/contract/order/followers.js';
import type { OrderInput } from '../../../src/contract/order/input-and-result.js';
import type { CardPart } from '../../../src/contract/order/request.js';
import type { OrderType } from '../../../src/contract/order/types.js';
import type { Order } from '../../../src/contract/service-objects.js';
import {
  BITCOIN,
  CARDS_REQUEST,
  ETHEREUM,
  inputOf,
  OTHER_CARD,
  orderFor,
  REQUESTS,
  SEPA_IBAN,
  TRON,
} from '../inputs.fixture.js';

const base: OrderInput = { order: CARDS_REQUEST };
const differences = (other: unknown, mine: unknown = base) =>
  startDifferences('withdraw', mine as OrderInput, { workflowType: 'withdraw', input: other as OrderInput });

describe('startDifferences', () => {
  it.each([
    ['the same', base],
    ['the defaults written out', { ...base, account: 'default', resend: 'once' }],
    ['an earlier run that may have sent', { ...base, sentUntil: '2026-11-27T10:00:00Z' }],
    ['another key order', { order: Object.fromEntries(Object.entries(CARDS_REQUEST).reverse()) }],
    ['blanks for absent fields', { order: { ...CARDS_REQUEST, description: '', wallet_memo: null, client_info: {} } }],
    ['an amount written otherwise (row 8)', { order: { ...CARDS_REQUEST, amount: '0.300' } }],
  ])('finds none in %s', (_what, other) => {
    expect(differences(other)).toEqual([]);
    expect(differences(base, other)).toEqual([]);
  });

  it('finds none in one instant written otherwise, and one in another instant', () => {
    const until = (latestSend: string) => ({ ...base, latestSend });
    for (const same of ['2026-11-29T12:00:00.000Z', '2026-11-29T13:00:00+01:00', '2026-11-29T12:00:00+00:00'])
      expect(differences(until(same), until('2026-11-29T12:00:00Z'))).toEqual([]);
    expect(differences(until('2026-11-29T12:00:00+01:00'), until('2026-11-29T12:00:00Z'))).toEqual(['latestSend']);
    expect(differences(until('2026-11-29T12:00:00Z'))).toEqual(['latestSend']);
  });

  it.each([
    ['bitcoin', BITCOIN, BITCOIN.toUpperCase()],
    ['ethereum', ETHEREUM, ETHEREUM.toLowerCase()],
    ['sepa', SEPA_IBAN, 'de89 3704 0044 0532 0130 00'],
  ])('finds none in the same %s wallet written otherwise', (network, wallet, written) => {
    const to = (target: string) => ({
      order: { ...REQUESTS.withdraw, network, wallet: target },
      revertTo: { network, wallet: target },
    });
    expect(differences(to(wallet), to(written))).toEqual([]);
    const refund = { ...to(wallet), revertTo: { network: 'tron', wallet: TRON.toLowerCase() } };
    expect(differences(refund, { ...refund, revertTo: { network: 'tron', wallet: TRON } })).toEqual([
      'revertTo.wallet',
    ]);
  });

  it('finds none in the cards of several written otherwise', () => {
    const wallet_details = (CARDS_REQUEST.wallet_details as CardPart[]).map(({ amount, wallet }) => ({
      amount,
      wallet: wallet.replace(/(.{4})/g, '$1-'),
    }));
    expect(differences({ order: { ...CARDS_REQUEST, wallet_details } })).toEqual([]);
  });

  const [first, second] = CARDS_REQUEST.wallet_details as object[];
  it.each<[string[], unknown]>([
    [['order.amount'], { order: { ...CARDS_REQUEST, amount: '0.31' } }],
    [
      ['order.wallet_details[1].amount'],
      { order: { ...CARDS_REQUEST, wallet_details: [first, { ...second, amount: '0.21' }] } },
    ],
    [['order.wallet_details'], { order: { ...CARDS_REQUEST, wallet_details: null } }],
    [['order.client_info'], { order: { ...CARDS_REQUEST, client_info: { client_id: '1' } } }],
    [['compensation'], { ...base, compensation: 'report' }],
    [['revertTo'], { ...base, revertTo: { network: 'card', wallet: OTHER_CARD } }],
    [['latestSend'], { ...base, latestSend: '2026-11-27T18:00:00Z' }],
    [['reference'], { ...base, reference: 'r-1' }],
    [['metadata'], { ...base, metadata: { team: 'a' } }],
  ])('names %j', (fields, other) => {
    expect(differences(other)).toEqual(fields);
    expect(differences(base, other)).toEqual(fields);
  });

  it.each([null, undefined, 'x', [], { order: 5 }])('tells an order from %o that was never validated', (other) => {
    expect(differences(other, inputOf('deposit'))).toContain('order');
  });
});

describe('startDifferences from a run that was rebuilt from the order list', () => {
  const asked = inputOf('withdraw');
  const shown = (fields: Partial<Order>): OrderInput => {
    const item = { ...orderFor('withdraw', REQUESTS.withdraw, fields), balance_changes: [] };
    return recoveredStart('default', item)?.input ?? asked;
  };
  const differ = (run: OrderInput, mine: OrderInput = asked) =>
    startDifferences('withdraw', mine, { workflowType: 'withdraw', input: run });

  it('finds none where the list showed what is asked for, masked or not', () => {
    expect(differ(shown({}))).toEqual([]);
    expect(differ(shown({ wallet_to: '411111******1111' }))).toEqual([]);
    expect(differ(shown({}), shown({}))).toEqual([]);
  });

  it('finds none in a reference and metadata, which such a run cannot have', () => {
    expect(differ(shown({}), { ...asked, reference: 'r-1', metadata: { a: 'b' } })).toEqual([]);
  });

  it.each<[string, Partial<Order>]>([
    ['wallet', { wallet_to: '5555555555554444' }],
    ['order_id', { user_order_id: 'another' }],
  ])('names %s where the order shows another one', (field, fields) => {
    expect(differ(shown(fields))).toEqual([`order.${field}`]);
  });

  it.each([[null], [5], ['text'], [[]], [{ wallet_to: { a: [] }, expected_amount_to: 5 }]])(
    'is no crash where the listed order is %j',
    (listed) => {
      const run = { ...shown({}), recovered: { order_uuid: 'u-1', listed } } as unknown as OrderInput;
      expect(differ(run).length).toBeGreaterThan(0);
    },
  );

  it('names the type once, and nothing else of an unknown one', () => {
    const run = { workflowType: 'withdraw', input: shown({}) };
    const others = startDifferences('exchange_withdraw', inputOf('exchange_withdraw'), run);
    expect(others.filter((field) => field === 'order_type')).toEqual(['order_type']);
    expect(startDifferences('payout' as OrderType, asked, run)).toEqual(['order_type']);
  });
});
