import { expect, test } from 'vitest';
import { shortfall } from '../../src/activities/order/balances.js';
import type { CreateRequest } from '../../src/contract/order/request.js';
import type { Balances, Rates } from '../../src/contract/service-objects.js';
import { withoutFigures, withoutWallets } from '../../src/contract/shown-json.js';

test.each([
  ['4111 1111 1111 1111'],
  ['5234-1234-1234-1234'],
  ['3712-345678-12345'],
  ['6212 3412 3412 3412 341'],
  ['DE89 3704 0044 0532 0130 00'],
  ['ua21-3223-1300-0002-6007-2335-6600-1'],
  ['4111111111111111'],
])('--json shows no number that somebody typed into a description: %s', (typed) => {
  expect(withoutWallets({ description: `rent, ${typed}, of 2026-11-22` })).toEqual({
    description: 'rent, ****, of 2026-11-22',
  });
});

test('--json shows the words, dates and amounts of a description', () => {
  const description = 'invoice 2026-11, 12 500.00 usd, for the flat 4711 in 1010 Vienna';
  expect(withoutWallets({ description })).toEqual({ description });
});

test('--json shows in full where a client has to pay', () => {
  const order = { deposit_address: 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC', deposit_memo: '4111111111111111' };
  expect(withoutWallets({ state: { order } })).toEqual({ state: { order } });
});

test('sentences about the balance lose its figures, and others keep theirs', () => {
  const request = { ...{ order_id: 'b-117', currency: 'usd', network: 'card' }, amount: '12.50', wallet: '' };
  const balances = { usd: { currency: 'usd', wallet_uuid: 'w', amount: '5.25', overdraft: '0', updated_at: '' } };
  const entry = { order_type: 'withdraw', currency_from: 'usd', currency_to: 'usd' };
  const rates = { withdraw: { usd_card: entry } } as unknown as Rates;
  const reason = shortfall(balances as unknown as Balances, rates, 'withdraw', request as CreateRequest);
  expect(reason).toContain('5.25');
  const fields = [{ field: 'order.amount', reason }];
  const shown = JSON.stringify(withoutFigures({ fields, detail: `order "b-117": ${reason}`, at: new Date(0) }));
  expect(shown).not.toContain('5.25');
  expect(shown).toContain('b-117');
  expect(shown).toContain('1970-01-01');
  expect(withoutFigures(['-2.5 usd are missing', 'pay 3 usd now'])).toEqual(['… usd are missing', 'pay 3 usd now']);
});
