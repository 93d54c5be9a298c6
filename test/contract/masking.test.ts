import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  holdsNumber,
  maskName,
  maskWallet,
  maskWords,
  passesMod97,
  SEPA_IBAN_LENGTHS,
  UA_IBAN_LENGTHS,
} from '../../src/contract/masking.js';
import { maskWallets } from '../../src/contract/wallets.js';
import { cpuMs } from '../support/cpu-ms.js';
import { BITCOIN, CARD, SEPA_IBAN } from './inputs.fixture.js';

describe('maskWallet', () => {
  it.each([
    [CARD, '****1111'],
    [BITCOIN, '****5mdq'],
    ['short', '****'],
    [`${CARD}123`, '****'],
    [`${CARD}=1225`, '****'],
    ['4111 1111 1111 1111', '****1111'],
  ])('shows %j as %s', (wallet, shown) => {
    expect(maskWallet(wallet)).toBe(shown);
  });
});

describe('maskName', () => {
  it.each(['order.wallet_details[3].amount', 'order.client_info.client_email', 'usdt_ethereum-usd_multiple_cards'])(
    'leaves %s as it is',
    (name) => {
      expect(maskName(name)).toBe(name);
    },
  );

  it.each([
    [`order.${CARD}`, 'order.****'],
    [`order.${SEPA_IBAN}`, 'order.****'],
    [`order.${BITCOIN}`, 'order.****'],
    ['order.jane.doe@example.com', 'order.jane.****'],
    ['a\u001b[2J\n', 'a?[2J?'],
  ])('masks %j', (name, shown) => {
    expect(maskName(name)).toBe(shown);
  });

  it('cuts long names', () => {
    expect(maskName('x '.repeat(500))).toHaveLength(121);
  });
});

describe('maskWords', () => {
  const typed = [
    ...[' ', '-', '.', '/', ' - ', '--', '_', ':', '\n'].map((gap) => ['4111', '1111', '1111', '1111'].join(gap)),
    '41 11 11 11 11 11 11 11',
    '4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1',
    '4111 111 1111 11111',
    'Visa4111 1111 1111 1111',
    '４１１１ １１１１ １１１１ １１１１',
    '٤١١١ ١١١١ ١١١١ ١١١١',
    '4111 1111 1111 1111 737',
    '3782 822463 10005',
    // The check digit is wrong: somebody mistyped it.
    '4111 1111 1111 1112',
    'DE89 3704 0044 0532 0130 00',
    'de89-3704-0044-0532-0130-00',
    'DE893 70400 44053 20130 00',
    'GB82 WEST 1234 5698 7654 32',
    'FR14 2004 1010 0505 0001 3M02 606',
    'UA21 3223 1300 0002 6007 2335 6600 1',
  ];
  it.each(typed)('hides what somebody typed as %j', (number) => {
    const shown = maskWords(`pay ${number}, then go`);
    expect(shown).toMatch(/^pay \S*\*{4}[ *\d-]*, then go$/);
    expect(shown.replace(/[^\p{Nd}]/gu, '').length).toBeLessThanOrEqual(4);
    expect(shown).not.toMatch(/1111|WEST|2004|5390|8601|3223/);
  });

  const separators = [
    ...",'’·•\uff0c\u3001|;*#=~+\u007f\u0000\u001b\u200b\u2060\u0301\u2800\u3164\u{e0020}\u00a0\u2009\u2011\u2013\u00ad",
    ...[', ', ' | ', '","', "', '", '", "', ' + '],
  ];
  const GROUPED = [
    ...['4111 1111 1111 1111', '3782 822463 10005', '41 11 11 11 11 11 11 11', '411 111 111 111 111 1'],
    ...['DE89 3704 0044 0532 0130 00', 'GB82 WEST 1234 5698 7654 32'],
  ];
  it.each(separators)('hides numbers with %j between their groups', (separator) => {
    for (const printed of GROUPED) {
      const number = printed.replaceAll(' ', separator);
      expect(maskWords(`pay ${number}, then go`)).toBe('pay ****, then go');
      expect(maskName(`order.${number}`)).toBe('order.****');
    }
  });

  it.each([...SEPA_IBAN_LENGTHS, ...UA_IBAN_LENGTHS])('finds an IBAN of %s in any groups', (country, length) => {
    const rest = 'A1'.repeat(length).slice(0, length - 4);
    const checks = Array.from({ length: 97 }, (_, n) => String(n + 2).padStart(2, '0'));
    const iban = checks.map((check) => `${country}${check}${rest}`).find(passesMod97) ?? '';
    for (const typed of [
      iban,
      iban.toLowerCase(),
      iban.replace(/.{4}(?=.)/g, '$& '),
      country + [...iban.slice(2)].join(' - '),
    ]) {
      expect(holdsNumber(`pay ${typed}, then go`), typed).toBe(true);
    }
    expect(holdsNumber(`pay ${iban.replace(/1$|A$/, '2')}, then go`)).toBe(false);
  });

  it.each(['\uff20', '\ufe6b'])('hides an e-mail with %j', (at) => {
    expect(maskWords(`ask jane${at}example.org now`)).toBe('ask **** now');
  });

  const harmless = [
    'paid 45 000.00 / 32 000.00 usd, 12 500.00 and 1 234 567 890.12',
    'from 2026-11-22 10:30 - 2026-11-23 11:00, 2026-11-22T10:30:15.123Z',
    '2026-11-22 2026-11-23 2027-01-02; 22.11.2026 23.11.2026 24.12.2026; 2024 2025 2026',
    'call +43 660 123 4567, 0043-660-1234-567 or (01) 512 34 56',
    '10.00, 20.00, 4500.00, 3200.50; 4500.00,3200.50,2100.00,1000.00; 12,500, 13,400, 25,900',
    '45,10 / 32,20 / 4500,00; 1.12.2026, 2.12.2026, 3.12.2026; 22.11.26, 23.11.26, 24.12.26; 09:00, 10:30, 11:45',
    '+43 660 123 4567, +43 660 765 4321, +49 30 123 4567; rates 0.9836, 0.9841, 3.1415, 4.2512',
  ];
  it.each(harmless)('leaves %j as it is', (words) => {
    expect(maskWords(words)).toBe(words);
  });

  // What a workflow does takes no seconds, or its task fails.
  const parts = [
    ...['111 ', '1 ', '1111 ', '4111-', 'DE89 ', 'a1', '12.', '12:', '12.11.'],
    ...['1,234', ',', ', ', '1, ', 'DE89,', '1', ' ', '@a', '\uff20'],
  ];
  it.each(parts)('is quick with many %j', (part) => {
    const words = part.repeat(200_000 / part.length);
    const work = () => [maskWords(words), maskWallets(words)];
    expect(cpuMs(work)).toBeLessThan(20_000);
  });

  const digits = (length: number) => Array.from({ length }, () => randomInt(10)).join('');
  const two = () => digits(2);
  /** Nothing with a check digit that fits by chance in one of ten may be among them. */
  it.each<[string, () => string]>([
    ['lists of amounts', () => [1, 2, 3, 4, 5].map(() => `${randomInt(1, 9_999)}.${two()}`).join(', ')],
    ['lists of dates', () => [1, 2, 3, 4].map(() => `${randomInt(1, 29)}.${randomInt(1, 13)}.20${two()}`).join(', ')],
    ['amounts', () => `${randomInt(1, 999)} ${digits(3)}.${two()} ${randomInt(1, 999)} ${digits(3)}.${two()}`],
    ['times', () => `20${two()}-${two()}-${two()} ${two()}:${two()} 20${two()}-${two()}-${two()} ${two()}:${two()}`],
    ['addresses', () => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}:${randomInt(65_536)}`],
    ['phone numbers', () => `+43 660 ${digits(3)} ${digits(4)}`],
    ['dates with a number', () => `p-20${two()}-${two()}-${two()}-${digits(5)}`],
  ])('leaves %s as they are', (_, make) => {
    for (const words of Array.from({ length: 5_000 }, make)) {
      if (!/\d{6}/.test(words)) expect(maskWords(words)).toBe(words);
    }
  });
});
