import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { payeeOf, payoutOf } from '../../src/activities/policy/payout.js';
import { shortHash } from '../../src/config/policy.js';
import { Secret } from '../../src/config.js';
import { breachesOf, breachText, type PolicyRule, spendsOf, testRules } from '../../src/contract/policy/rules.js';
import { orderInput } from '../support/inputs.js';

const KEY = '9f2c41d07a6be85310c4fd92ab7e6d1853c0a9f417be62d8';
const POLICY = { payeeKey: new Secret(KEY) };
/** A Friday. */
const AT_MS = Date.parse('2026-11-27T12:00:00Z');

const { order } = orderInput('withdraw', 'a');
const payout = payoutOf(POLICY, 'withdraw', order, { from: '12.50', to: '12.50' });
const breaches = (rule: PolicyRule, of = payout, nowMs = AT_MS) =>
  breachText(testRules([rule], of, [], nowMs).breaches);

describe('an order as rules see it', () => {
  test('names its payee by the hash that openssl makes, and no wallet', () => {
    const hex = createHmac('sha256', KEY).update('card:4111111111111111').digest('hex');
    expect(payout.payees).toEqual([{ payee: shortHash(hex), currency: 'usd', amount: '12.50' }]);
    expect(payeeOf(KEY, 'card', '4111 1111 1111 1111')).toBe(shortHash(hex));
    const payee = (network: string, wallet: string, memo?: string) => payeeOf(KEY, network, wallet, memo);
    // A memo tells payees apart only where a wallet has several.
    expect(payee('card', '4111-1111-1111-1111', 'memo')).toBe(shortHash(hex));
    const hexWallet = '0x52908400098527886E0F7030069857D2E4169EE7';
    expect(payee('ethereum', hexWallet, 'a')).toBe(payee('ethereum', hexWallet.toLowerCase()));
    expect(payee('sepa', 'de89 3704 0044 0532 0130 00')).toBe(payee('sepa', 'DE89370400440532013000'));
    expect(payee('ripple', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh', '1')).not.toBe(
      payee('ripple', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh', '2'),
    );
    expect(JSON.stringify([payout, spendsOf(payout)])).not.toContain('4111');
  });

  test('counts a card that it pays three times as three payouts, whose amounts add up', () => {
    const wallet_details = [1, 2, 3].map(() => ({ amount: '100', wallet: '4111111111111111' }));
    const cards = { ...order, amount: '300', network: 'multiple_cards', wallet: 'several', wallet_details };
    const same = payoutOf(POLICY, 'withdraw', cards, { from: '300', to: '300' });
    const payee = same.payees[0]?.payee;
    expect(spendsOf(same)).toEqual([
      ['usd', '300'],
      [`usd ${payee}`, '300'],
      [`# ${payee}`, '3'],
    ]);
    const rule = (above: string): PolicyRule => ({ rule: 'new-payee', currency: 'usd', above, breach: 'park' });
    const limits = (above: string) => testRules([rule(above)], same, [], AT_MS).limits.map(({ limit }) => limit);
    expect([limits('299'), limits('300')]).toEqual([[{ paid: payee }], []]);
  });

  test('counts what it takes and what it pays, once for each currency and payee', () => {
    const exchanged = payoutOf(POLICY, 'exchange_withdraw', orderInput('exchange_withdraw', 'b').order, {
      from: '100',
      to: '98.5',
    });
    const payee = exchanged.payees[0]?.payee;
    expect(spendsOf(exchanged)).toEqual([
      ['usd', '100'],
      ['usdt', '98.5'],
      [`usdt ${payee}`, '98.5'],
      [`# ${payee}`, '1'],
    ]);
    const deposit = payoutOf(POLICY, 'deposit', orderInput('deposit', 'c').order, { from: '1', to: '1' });
    expect(spendsOf(deposit)).toEqual([]);
  });
});

describe('rules without sums', () => {
  test('a list of payees holds everybody else', () => {
    const payee = payout.payees[0]?.payee ?? '';
    expect(breaches({ rule: 'payees', allowed: [payee], breach: 'park' })).toBe('');
    expect(breaches({ rule: 'payees', allowed: [], breach: 'park' })).toContain('not in the list');
  });

  test('a tier holds what is above it, and what cannot be estimated', () => {
    const tier = (above: string): PolicyRule => ({ rule: 'tier', currency: 'usd', above, approvers: 1 });
    expect(breaches(tier('12.5'))).toBe('');
    expect(breaches(tier('12.49'))).toContain('12.50 usd is above 12.49 usd');
    expect(breaches(tier('99'), { ...payout, amounts: [{ currency: 'usd' }] })).toContain('cannot be estimated');
  });

  test('an approval covers the rule as it was shown, up to the amount that was shown', () => {
    const tier = (approvers: number): PolicyRule => ({ rule: 'tier', currency: 'usd', above: '1', approvers });
    const approved = testRules([tier(1)], payout, [], AT_MS).breaches;
    const left = (rule: PolicyRule, amount?: string) =>
      testRules([rule], { ...payout, amounts: [{ currency: 'usd', amount }] }, approved, AT_MS).breaches.length;
    expect([left(tier(1), '12.5'), left(tier(1), '2'), left(tier(1), '12.51'), left(tier(1))]).toEqual([0, 0, 1, 1]);
    expect([left(tier(2), '12.5')]).toEqual([1]);
    const sum = (max: string, breach: 'park' | 'refuse' = 'park'): PolicyRule => {
      return { rule: 'sum', per: 'day', currency: 'usd', of: 'payee', max, breach };
    };
    const first = testRules([sum('5')], payout, [], AT_MS);
    const shown = breachesOf([sum('5')], first, [{ index: 0, total: '12.5' }]);
    const limits = (rule: PolicyRule) => testRules([rule], payout, shown, AT_MS).limits;
    // Whatever other orders add: each of them passed the rule or was approved itself.
    expect(limits(sum('5'))).toEqual([]);
    for (const rule of [sum('4'), sum('5', 'refuse')])
      expect(limits(rule)).toEqual(testRules([rule], payout, [], AT_MS).limits);
  });

  const hours = (days: 'sat' | 'sun'): PolicyRule => {
    return { rule: 'hours', open: [{ days: [days], from: '00:00', to: '24:00' }], breach: 'park' };
  };
  const payees = (...allowed: string[]): PolicyRule => ({ rule: 'payees', allowed, breach: 'park' });
  test.for<[PolicyRule]>([
    [{ rule: 'sum', per: 'day', currency: 'usd', max: '5', breach: 'park' }],
    [{ rule: 'sum', per: 'day', currency: 'usd', of: 'payee', max: '5', breach: 'park' }],
    [{ rule: 'new-payee', currency: 'usd', above: '5', breach: 'park' }],
    [{ rule: 'count', max: 1, breach: 'park' }],
    [payees('a')],
    [hours('sat')],
  ])('an approval of %j covers no higher amount of the order itself', ([rule]) => {
    const tested = testRules([rule], payout, [], AT_MS);
    const shown = [...tested.breaches, ...breachesOf([rule], tested, [{ index: 0, total: '12.5' }])];
    const left = (amount: string) => {
      const asked = payoutOf(POLICY, 'withdraw', order, { from: amount, to: amount });
      return Object.values(testRules([rule], asked, shown, AT_MS)).flat().length;
    };
    expect([left('12.5'), left('12'), left('12.51')]).toEqual([0, 0, 1]);
  });

  test.for<[PolicyRule, PolicyRule]>([
    [hours('sat'), hours('sun')],
    [payees('a'), payees('b')],
  ])('an approval of %j does not cover %j', ([before, after]) => {
    const shown = testRules([before], payout, [], AT_MS).breaches;
    const left = (rule: PolicyRule) => testRules([rule], payout, shown, AT_MS).breaches.length;
    expect([left(before), left(after)]).toEqual([0, 1]);
  });

  test.for<[string, string]>([
    ['2026-11-27T07:59:59Z', 'hours: it is fri 07:59 UTC'],
    ['2026-11-27T08:00:00Z', ''],
    ['2026-11-27T17:59:59Z', ''],
    ['2026-11-27T18:00:00Z', 'hours: it is fri 18:00 UTC'],
    ['2026-11-28T12:00:00Z', 'hours: it is sat 12:00 UTC'],
  ])('hours at %s: %s', ([at, text]) => {
    const open = [{ days: ['thu' as const, 'fri' as const], from: '08:00', to: '18:00' }];
    expect(breaches({ rule: 'hours', open, breach: 'park' }, payout, Date.parse(at))).toBe(text);
  });
});
