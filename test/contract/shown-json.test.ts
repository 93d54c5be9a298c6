import { expect, test } from 'vitest';
import { withoutWallets } from '../../src/contract/shown-json.js';

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
