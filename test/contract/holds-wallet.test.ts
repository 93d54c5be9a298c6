import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { holdsWallet, maskWallets } from '../../src/contract/wallets.js';

const HELD = [
  ...['-', '_', '.', ':', '--', '/', '\u00a0'].map((gap) => ['4111', '1111', '1111', '1111'].join(gap)),
  '4111111111111111',
  'order-4111111111111111',
  '3782-822463-10005',
  'DE89370400440532013000',
  'pay-DE89-3704-0044-0532-0130-00',
  'UA213223130000026007233566001',
  '4111-1111-1111-1111-12',
  '2026-4111-1111-1111-1111',
  '411111-1111111111',
  '41-11-11-11-11-11-11-11',
  '4111111111111111:5555555555554444',
  'gb82-west-1234-5698-7654-32',
  '2026-11-27_4111111111111111',
];

const FREE = [
  'order-1',
  'payroll-20261127103004',
  '4111111111111112',
  '20261122165959123456',
  '1795366799123',
  '2026-11-22-0001',
  // A card number with `d` between its last groups.
  '172a70fa-5487-4499-9629-3183d2d33680',
  'DE89370400440532013001',
  'NO2026112200012345',
  // A customer's number and a time in seconds, whose check digit fits.
  '400001-1795366797',
  '4711-20261122-0001',
  'at20-2026-1122-0001-0002',
];

describe('a name', () => {
  test.for(HELD)('holds a card number or an IBAN: %s', (name) => {
    expect(holdsWallet(name)).toBe(true);
    expect(maskWallets(`no order ${name} here`)).not.toContain(name);
  });

  test.for(FREE)('holds none: %s', (name) => {
    expect(holdsWallet(name)).toBe(false);
    expect(maskWallets(name)).toBe(name);
  });

  test('with an e-mail is masked', () => {
    expect(maskWallets('no order ann@example.com in Temporal')).toBe('no order **** in Temporal');
  });
});

/** Share of `make`'s names that are refused, in a hundred. */
const refused = (make: () => string, count = 50_000): number =>
  (Array.from({ length: count }, make).filter(holdsWallet).length / count) * 100;

const digits = (length: number) => () => Array.from({ length }, () => randomInt(10)).join('');

describe('ids that programs make up', () => {
  test.for<[string, () => string]>([
    ['with a letter before the digits', () => `o${digits(16)()}`],
    ['of a time in milliseconds', () => String(1_700_000_000_000 + randomInt(200_000_000_000))],
    ['of a date and a number', () => `20261122${digits(8)()}`],
    ['that are UUIDs', randomUUID],
    ['of a date and a number in groups', () => `2026-11-22-${digits(4)()}-${digits(5)()}`],
    ['of a number and a time in seconds', () => `${digits(6)()}-${1_700_000_000 + randomInt(200_000_000)}`],
    ['that are hashes', () => createHash('sha256').update(randomBytes(8)).digest('hex')],
  ])('%s are never refused', ([, make]) => {
    expect(refused(make)).toBe(0);
  });
});
