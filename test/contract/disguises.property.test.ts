import { randomInt, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { passesLuhn } from '../../src/contract/masking.js';
import { holdsPrivate, holdsWallet, maskWallets } from '../../src/contract/wallets.js';
import { cardNumber } from '../support/batch-files.js';
import { SEPA_IBAN, UA_IBAN } from './inputs.fixture.js';

const wide = (text: string) => text.replace(/[!-~]/g, (one) => String.fromCodePoint(one.charCodeAt(0) + 0xfee0));
const digitsFrom = (zero: number) => (text: string) =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
const inFours = (gap: string) => (text: string) => (text.match(/.{1,4}/g) ?? []).join(gap);

const cards = fc.integer({ min: 0, max: 9_999_999 }).map(cardNumber);
const ibans = fc.constantFrom(SEPA_IBAN, UA_IBAN);
const forms = fc.constantFrom(
  ...[(text: string) => text, wide, digitsFrom(0x660), digitsFrom(0x966)],
  ...['-', '_', '.', ' ', ':', '/'].map(inFours),
);
const disguised = fc.oneof(
  fc.tuple(cards, forms).map(([card, form]) => form(card)),
  fc.tuple(cards, fc.constantFrom('x', 'a', 'XX')).map(([card, gap]) => inFours(gap)(card)),
  fc.tuple(ibans, forms).map(([iban, form]) => form(iban)),
  fc.tuple(ibans, fc.constantFrom('IBAN', 'to', 'x')).map(([iban, word]) => word + iban),
  ibans.map((iban) => `${iban.slice(0, 4)}:${iban.slice(4)}`),
  fc.constantFrom('joe@example.com', 'joe＠example.com', 'joe﹫example.com', wide('joe@example.com')),
);

test('disguised cards, IBANs and e-mails are found, and masked in logs', () => {
  fc.assert(
    fc.property(disguised, (text) => {
      expect(holdsPrivate(text)).toBe(true);
      const shown = maskWallets(`no order ${text} here`);
      expect(shown).not.toContain(text);
      expect(shown.replace(/[^\p{Nd}]/gu, '').length).toBeLessThanOrEqual(4);
      if (!text.normalize('NFKC').includes('@')) expect(holdsWallet(text)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

const digits = (length: number): string => Array.from({ length }, () => randomInt(10)).join('');
function unlucky(length: number): string {
  for (;;) {
    const made = digits(length);
    if (!passesLuhn(made)) return made;
  }
}

describe('ordinary references', () => {
  test.each<[string, () => string]>([
    ['invoices', () => `INV-2026-${digits(6)}`],
    ['UUIDs', randomUUID],
    ['order numbers', () => unlucky(randomInt(12, 15))],
    ['dates', () => `2026-11-${randomInt(10, 31)}`],
    ['times', () => `2026-11-27T${randomInt(10, 24)}:30:15Z`],
    ['sizes', () => `${digits(4)}x${digits(4)}`],
  ])('%s are accepted', (_, make) => {
    for (const text of Array.from({ length: 10_000 }, make)) {
      expect([text, holdsWallet(text), maskWallets(text)]).toEqual([text, false, text]);
    }
  });
});
