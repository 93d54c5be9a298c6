import { expect, test } from 'vitest';
import { payeeOf, sumsId } from '../../src/activities/policy/payout.js';
import { type Policy, Secret } from '../../src/config.js';
import { payeeText } from '../../src/validation/payee-text.js';

const KEY = '9f2c41d07a6be85310c4fd92ab7e6d1853c0a9f417be62d8';
const TON = 'EQBvW8Z5huBkMJYdnfAEM5JqTNkuWX3diqYENkWsIL0XggGG';
const XRP = 'rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf';

/** The first spelling is the one that an entry of `allowed` hashes. */
test.for<[network: string, spellings: string[]]>([
  [
    'bitcoin_cash',
    [
      'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a',
      'qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a',
      'QPM2QSZNHKS23Z7629MMS6S4CWEF74VCWVY22GDX6A',
      'BITCOINCASH:QPM2QSZNHKS23Z7629MMS6S4CWEF74VCWVY22GDX6A',
      '1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu',
    ],
  ],
  ['bitcoincash', ['bitcoincash:ppm2qsznhks23z7629mms6s4cwef74vcwvn0h829pq', '3CWFddi6m4ndiGyKqzYvsFYagqDLPVMTzC']],
  ['bitcoin', ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4']],
  ['litecoin', ['ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', 'LTC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KGMN4N9']],
  ['litecoin', ['M8BEKTV1zo4YLsG7Gb2HTJd695mcbkACUr', '31y61a543gD7YMzDAi2wdfNgpPBAdtF3xm']],
  [
    'ton',
    [
      '0:6f5bc67986e06430961d9df00433926a4cd92e597ddd8aa6043645ac20bd1782',
      '0:6F5BC67986E06430961D9DF00433926A4CD92E597DDD8AA6043645AC20BD1782',
      TON,
      'UQBvW8Z5huBkMJYdnfAEM5JqTNkuWX3diqYENkWsIL0Xgl3D',
      Buffer.from(TON, 'base64url').toString('base64'),
    ],
  ],
  ['xrp', [XRP, 'XVLhHMPHU98es4dbozjVtdWzVrDjtV5fdx1mHp98tDMoQXb']],
  // A network that is not known here, with bech32.
  ['injective', ['a12uel5l', 'A12UEL5L']],
])('%s: all spellings of an address are one payee', ([network, spellings]) => {
  const texts = spellings.map((wallet) => payeeText(network, wallet));
  expect(new Set(texts)).toEqual(new Set([`${network}:${spellings[0]}`]));
  expect(payeeOf(KEY, network, spellings.at(-1) ?? '')).toBe(payeeOf(KEY, network, spellings[0] ?? ''));
});

test.for([
  ['bitcoin_cash', '1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu'],
  ['solana', '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q'],
  ['base', '0X52908400098527886E0F7030069857D2E4169EE7'],
  ['tron', 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC'],
])('%s: a memo makes no other payee where the network ignores it', ([network = '', wallet = '']) => {
  expect(payeeText(network, wallet, 'a')).toBe(payeeText(network, wallet));
});

test('a memo tells payees apart where exchanges share an address', () => {
  const xrp = (wallet: string, memo?: string) => payeeText('ripple', wallet, memo);
  expect(xrp(XRP, '1')).toBe(`ripple:${XRP}:1`);
  expect(new Set([xrp(XRP), xrp(XRP, '1'), xrp(XRP, '2')]).size).toBe(3);
  expect(xrp(XRP, ' 007')).toBe(xrp(XRP, '7'));
  // The X… form holds the tag.
  const tagged = 'XVLhHMPHU98es4dbozjVtdWzVrDjtV8AqEL4xcZj5whKbmc';
  expect([xrp(tagged), xrp(tagged, '0')]).toEqual([xrp(XRP, '0'), xrp(XRP, '0')]);
  expect(payeeText('ton', TON, 'a')).not.toBe(payeeText('ton', TON, 'b'));
});

test('the bank is part of the payee, and names of persons are not', () => {
  const bank = (bank_code?: string) => payeeText('bank', 'ACCOUNT-1', undefined, bank_code && { bank_code });
  expect([bank(), bank('111'), bank('999')]).toEqual(['bank:ACCOUNT-1', 'bank:ACCOUNT-1:111', 'bank:ACCOUNT-1:999']);
  const details = { recipient_name: 'Ann', recipient_email: 'a@example.com' };
  expect(payeeText('sepa', 'DE89370400440532013000', undefined, details)).toBe('sepa:DE89370400440532013000');
  // On a network that is not known here, any detail may choose the payee.
  expect(payeeText('pix', 'x', undefined, { kind: 'phone', bank: 7 })).toBe('pix:x:7:phone');
});

test.for(['', 'x', '1', '31y61a543gD7YMzDAi2wdfNgpPBAdtF3xn', 'bitcoincash:q', 'rrr'])(
  '%j stays as it is',
  (wallet) => {
    for (const network of ['bitcoin_cash', 'litecoin', 'ripple', 'ton', 'other'])
      expect(payeeText(network, wallet)).toBe(`${network}:${wallet}`);
  },
);

test('sums are other ones by another account or key, or once payouts are compared, and by no other rule', () => {
  const rules: Policy['rules'] = [{ rule: 'count', max: 9, breach: 'park' }];
  const policy = { rules, payeeKey: new Secret(KEY) };
  const others = [
    sumsId('a', policy),
    sumsId('b', policy),
    sumsId('a', { rules }),
    sumsId('a', { ...policy, payeeKey: new Secret([...KEY].reverse().join('')) }),
    sumsId('a', { ...policy, rules: [...rules, { rule: 'paid-before', days: 7, breach: 'warn' }] }),
  ];
  expect(new Set(others).size).toBe(others.length);
  expect(sumsId('a', { ...policy, rules: [{ rule: 'count', max: 8, breach: 'park' }] })).toBe(others[0]);
  expect(others.join()).not.toContain(KEY.slice(0, 8));
});
