import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { walletFormatProblem } from '../../src/validation/wallet-formats.js';
import { errorsOf, payout } from './refusals.fixture.js';

/** Published addresses: BIP-173, BIP-350, EIP-55, the documentation of XRP, TRON and CashAddr. */
const VALID: Readonly<Record<string, readonly string[]>> = {
  bitcoin: [
    '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
    '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc',
    'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4',
    'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
  ],
  ethereum: [
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '0xde709f2102306220921060314715629080e2fb77',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  ],
  avalanche: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'X-avax1tnuesf6cqwnjw7fxjyk7lhch0vhf0v95wj5jvy'],
  tron: ['TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
  ripple: ['rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh', 'X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ'],
  litecoin: ['LM2WMpR1Rp6j3Sa59cMXMs1SPzj9eXpGc1', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9'],
  dogecoin: ['DBXu2kgc3xtvCUWFcxFE3r9hEYgmuaaCyD'],
  dash: ['XdAUmwtig27HBG6WfYyHAzP8n6XC9jESEw'],
  bitcoin_cash: [
    '1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu',
    'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a',
    'QPM2QSZNHKS23Z7629MMS6S4CWEF74VCWVY22GDX6A',
  ],
};

const ADDRESSES = Object.entries(VALID).flatMap(([network, list]) => list.map((address) => ({ network, address })));

/** In hex of one case alone nothing can be checked, and other chains of Avalanche have addresses of another kind. */
const CHECKED = ADDRESSES.filter(
  ({ address }) => !address.startsWith('X-') && !/^0x(?:[0-9a-f]+|[0-9A-F]+)$/.test(address),
);

describe('published addresses', () => {
  it.each(ADDRESSES)('$network $address is accepted as it was given', ({ network, address }) => {
    expect(errorsOf('withdraw', payout(network, address))).toEqual([]);
  });

  it.each([
    ['version 1 with the older checksum', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd'],
    ['a witness of version 0 with the newer checksum', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh'],
    ['a character that is not in the alphabet', 'bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4'],
    ['a program of 40 bytes', 'bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y'],
    ['a version that no wallet uses', 'bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs'],
    ['another prefix', 'tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut'],
    ["another network's", 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
  ])('bitcoin: %s is refused', (_, address) => {
    expect(walletFormatProblem('bitcoin', address)).toBeDefined();
  });
});

it('refuses any one changed character of an address with a checksum', () => {
  const change = fc.record({
    from: fc.constantFrom(...CHECKED),
    at: fc.nat(),
    to: fc.constantFrom(...'023456789abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ1'),
  });
  fc.assert(
    fc.property(change, ({ from: { network, address }, at, to }) => {
      const place = at % address.length;
      fc.pre(address[place] !== to);
      const changed = `${address.slice(0, place)}${to}${address.slice(place + 1)}`;
      expect(walletFormatProblem(network, changed), `${address} as ${changed}`).toMatch(/not an address|payment link/);
    }),
    // EIP-55 overlooks one change in some thousands: the changes are the same in every run.
    { numRuns: 5_000, seed: 32 },
  );
});

describe('addresses that nobody holds the key of', () => {
  it.each([
    ['bitcoin', '1BitcoinEaterAddressDontSendf59kuE'],
    ['bsc', '0x000000000000000000000000000000000000dEaD'],
    ['tron', 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb'],
    ['ripple', 'rrrrrrrrrrrrrrrrrrrrBZbvji'],
  ])('%s %s is refused', (network, address) => {
    expect(walletFormatProblem(network, address)).toMatch(/is lost/);
  });
});

describe('payment links are refused with where the tag belongs', () => {
  it.each([
    ['ripple', 'rN7n7otQDd6FczFgLdSqtcsAUxDkw6fzRH?dt=104653012'],
    ['stellar', 'GAAZI4TCR3TY5OJHCTJC2A4QSY6CJWJH5IAJTGKIN2ER7LBNVKOCCWN7?memo=7'],
    ['monero', 'monero:4AdUndXHHZ6cfufTMvppY6JwXNouMBzSkbLYfpAV5Usx'],
  ])('%s %s', (network, address) => {
    expect(walletFormatProblem(network, address)).toMatch(/^\*{4}.*: a payment link, .* wallet_memo$/);
  });
});

describe('networks that are not known here', () => {
  it.each([
    ['kaspa', 'kaspa:qqkqkzjvr7zwxxmjxjkmxxdwju9kjs6e9u82uh59z07vgaks6gg62v8707g73'],
    ['ton', '0:83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8'],
    ['litecoin', `ltcmweb1${'q'.repeat(100)}`],
    ['bank', 'ACCOUNT-1'],
  ])('%s: printable ASCII passes', (network, address) => {
    expect(errorsOf('withdraw', payout(network, address))).toEqual([]);
  });

  it.each([
    ['bank', 'АB12345678', 'U+0410'],
    ['monero', '4AdUndXHHZ6cfufTMvppY6JwXNouMBzSkbLYfpAV5Us×', 'U+00D7'],
    ['bank', 'DE88370400440532013000', 'reads as an IBAN'],
    ['card', '0000000000000000', 'check digit'],
  ])('%s: %s is refused', (network, address, reason) => {
    expect(walletFormatProblem(network, address)).toContain(reason);
  });
});

it('refuses the same for a refund', () => {
  const input = { order: payout('tron', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t').order };
  const revertTo = { network: 'ethereum', wallet: '0x52908400098527886E0F7030069857D2E4169eE7' };
  expect(errorsOf('withdraw', { ...input, revertTo }).find(({ field }) => field === 'revertTo.wallet')?.reason).toMatch(
    /checksum is wrong/,
  );
});
