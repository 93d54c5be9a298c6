import { describe, expect, test } from 'vitest';
import { elsewhere, type SentTo } from '../../../src/contract/order/sent-to.js';

const ONE = 'https://pay.example/one';
const PINNED: SentTo = { endpoint: ONE, wallets: ['w-1', 'w-2'], key: 'aaaa' };
const WITHOUT_WALLETS: SentTo = { endpoint: ONE, key: 'aaaa' };

/** Judges a place; `shown`: every wallet its balances show, undefined where they cannot be read. */
const judge = (sentTo: SentTo, here: Partial<SentTo>, shown?: string[]) =>
  elsewhere(sentTo, { endpoint: ONE, key: 'aaaa', ...here }, shown, 'eu');

describe('is the same account', () => {
  test.for<[string, SentTo, Partial<SentTo>, string[] | undefined]>([
    ['all wallets, the same key', PINNED, {}, ['w-1', 'w-2']],
    ['more wallets than then', PINNED, {}, ['w-3', 'w-2', 'w-1']],
    ['all wallets under a rotated key', PINNED, { key: 'bbbb' }, ['w-1', 'w-2']],
    ['the same key where no wallets were pinned', WITHOUT_WALLETS, {}, undefined],
    ['the same key, and wallets are shown by now', WITHOUT_WALLETS, {}, ['w-1']],
    ['an empty list of pinned wallets counts as none', { ...PINNED, wallets: [] }, {}, undefined],
  ])('%s', ([, sentTo, here, shown]) => {
    expect(judge(sentTo, here, shown)).toBeUndefined();
  });
});

const TWO = { endpoint: 'https://pay.example/two' };

describe('a person may say that it is the same account', () => {
  test.for<[string, SentTo, Partial<SentTo>, string[] | undefined, RegExp]>([
    [
      'another URL shows all wallets',
      PINNED,
      TWO,
      ['w-1', 'w-2'],
      /sent to \S+\/one, but .* asks \S+\/two, .* approve/,
    ],
    ['another key, no wallets pinned', WITHOUT_WALLETS, { key: 'bbbb' }, undefined, /set the key back, or approve/],
    ['another key, wallets shown by now', WITHOUT_WALLETS, { key: 'bbbb' }, ['w-1'], /set the key back, or approve/],
  ])('%s', ([, sentTo, here, shown, why]) => {
    expect(judge(sentTo, here, shown)).toMatchObject({ confirmable: true, why: expect.stringMatching(why) });
  });
});

describe('has to be set back, and nothing else helps', () => {
  test.for<[string, SentTo, Partial<SentTo>, string[] | undefined, RegExp]>([
    ['a wallet is missing', PINNED, {}, ['w-1'], /wallets of the order are missing\. Set the key of account eu back/],
    ['no wallet is shown', PINNED, {}, [], /are missing/],
    ['a wallet is missing elsewhere', PINNED, TWO, ['w-1'], /set base URL and key of account eu back/],
    ['another key, balances unread', PINNED, { key: 'bbbb' }, undefined, /cannot be read with its present key/],
    ['another URL, balances unread', PINNED, TWO, undefined, /cannot be read there: set the base URL back/],
    ['another URL, no wallets pinned', WITHOUT_WALLETS, TWO, ['w-1'], /set the base URL of account eu back/],
    [
      'another URL and key',
      WITHOUT_WALLETS,
      { ...TWO, key: 'bbbb' },
      ['w-1'],
      /set base URL and key of account eu back/,
    ],
  ])('%s', ([, sentTo, here, shown, why]) => {
    const found = judge(sentTo, here, shown);
    expect(found).toMatchObject({ confirmable: false, why: expect.stringMatching(why) });
    expect(found?.why).not.toMatch(/aaaa|bbbb|w-1/);
  });
});
