import { describe, expect, test } from 'vitest';
import { withoutWallets } from '../../src/contract/shown-json.js';
import { validateBatchInput } from '../../src/validation/batch-input.js';
import {
  BITCOIN,
  CARD,
  inputWith,
  OTHER_CARD,
  REQUESTS,
  SEPA_IBAN,
  TRON,
  UA_IBAN,
} from '../contract/inputs.fixture.js';
import { accepts, errorsOf, payout as payoutTo, refuses } from './refusals.fixture.js';

const marked = (marks: object) => inputWith('withdraw', {}, marks as Record<string, unknown>);
const OWN_TRON = { ...payoutTo('tron', TRON) };

describe('a reference', () => {
  accepts(
    0,
    'withdraw',
    ...['r', 'INV-2026/11:0042#3', 'x'.repeat(64), 'a.b_c', `o${OTHER_CARD}`].map((reference) => marked({ reference })),
  );
  for (const reference of ['', 'x'.repeat(65), 'a b', 'ann@example.com', 'a\n', 'ключ', 'a?b', 7, {}, ['a']])
    refuses(0, 'withdraw', marked({ reference }), 'reference', /1 to 64|string/);
  for (const reference of [OTHER_CARD, '5555-5555-5555-4444', '5555#5555#5555#4444', SEPA_IBAN, `pay/${UA_IBAN}`])
    refuses(0, 'withdraw', marked({ reference }), 'reference', 'a card number or IBAN');
  refuses(0, 'withdraw', marked({ reference: `order${CARD}x` }), 'reference', 'own wallet');
  refuses(0, 'withdraw', { ...OWN_TRON, reference: `to/${TRON}` }, 'reference', 'own wallet');
  for (const reference of ['#N/A', 'null', '-', '12.0'])
    refuses(0, 'withdraw', marked({ reference }), 'reference', /reads as|formula/);
});

describe('metadata', () => {
  const fifteen = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`k${n}`, 'v']));
  accepts(
    0,
    'withdraw',
    ...[{ team: 'Køln / 12' }, fifteen, { ['k'.repeat(40)]: 'v'.repeat(200) }, { a: '😀'.repeat(200) }, {}].map(
      (metadata) => marked({ metadata }),
    ),
    ...['1234-5678-9012-3456', 'of 2026-11-27, 12 500.00 usd', '+43 1 234567', '4111111111111112'].map((note) =>
      marked({ metadata: { note } }),
    ),
  );
  refuses(0, 'withdraw', marked({ metadata: { ...fifteen, k15: 'v' } }), 'metadata', 'at most 15');
  for (const metadata of ['x', ['x'], 5]) refuses(0, 'withdraw', marked({ metadata }), 'metadata', 'record');
  for (const value of ['', 'v'.repeat(201), 'a\nb', 'a\u0000', 'a\u202eb', '\ud800'])
    refuses(0, 'withdraw', marked({ metadata: { note: value } }), 'metadata.note', '1 to 200');
  for (const value of [5, true, {}, ['x']])
    refuses(0, 'withdraw', marked({ metadata: { note: value } }), 'metadata.note', 'string');
  for (const value of [
    OTHER_CARD,
    'card 5555 5555 5555 4444',
    'n:5555-5555-5555-4444',
    'pan5555555555554444',
    SEPA_IBAN,
    'UA21 3223 1300 0002 6007 2335 6600 1',
    'ask ann@example.com',
  ])
    refuses(0, 'withdraw', marked({ metadata: { note: value } }), 'metadata.note', 'must not hold');
  refuses(0, 'withdraw', { ...OWN_TRON, metadata: { note: `it is ${TRON}` } }, 'metadata.note', 'own wallet');
  refuses(0, 'withdraw', marked({ metadata: { 'a b': 'x' } }), 'metadata.a b', '1 to 40');
  refuses(0, 'withdraw', marked({ metadata: { 'k@x.example': 'x' } }), 'metadata.****', '1 to 40');
  refuses(
    0,
    'withdraw',
    marked(JSON.parse('{"metadata":{"__proto__":"x"}}')),
    'metadata.__proto__',
    'meaning of its own',
  );

  test('errors hold no key or value that is a wallet', () => {
    const found = errorsOf('withdraw', {
      ...OWN_TRON,
      metadata: { [TRON]: 'x', [OTHER_CARD]: OTHER_CARD, b: BITCOIN },
    });
    expect(found.length).toBeGreaterThan(0);
    for (const secret of [TRON, OTHER_CARD, BITCOIN]) expect(JSON.stringify(found)).not.toContain(secret);
  });

  test('is shown as it was given, whatever its names', () => {
    const metadata = { wallet: 'cold-1', description: '1234567 apples', client_info: 'x', status: 'a' };
    expect(errorsOf('withdraw', marked({ metadata }))).toEqual([]);
    expect(withoutWallets({ state: { metadata } })).toEqual({ state: { metadata } });
    expect(withoutWallets({ metadata: { wallet: CARD } })).toEqual({ metadata: { wallet: '****1111' } });
  });
});

test('rows of a batch name their reference', () => {
  const rows = [
    { ...REQUESTS.withdraw, reference: 'r-1' },
    { ...REQUESTS.withdraw, order_id: 'w-2', reference: 'a b' },
  ];
  expect(validateBatchInput({ rows, startedBy: 'ann' })).toMatchObject({
    errors: [{ field: 'rows[1].reference', reason: expect.stringContaining('1 to 64') }],
  });
  expect(validateBatchInput({ rows: rows.slice(0, 1), startedBy: 'ann' })).toEqual({
    input: { rows: rows.slice(0, 1), startedBy: 'ann' },
  });
});
