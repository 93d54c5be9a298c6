import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addressRefOf,
  callbackUrl,
  MAX_CALLBACK_PATH_LENGTH,
  verifyCallbackPath,
} from '../../src/contract/callback-url.js';

const KEY = 'first key';
const BASE = 'https://pay.example.com/hooks/';
const pathOf = (url: string) => url.replace('https://pay.example.com/hooks', '');
const path = pathOf(callbackUrl(BASE, KEY, { kind: 'order', account: 'default', orderId: 'pay-1' }));

describe('callback URLs', () => {
  it('stand under the base URL, with one slash between', () => {
    const url = callbackUrl(BASE, KEY, { kind: 'order', account: 'eu', orderId: 'pay-1' });
    expect(url).toMatch(/^https:\/\/pay\.example\.com\/hooks\/callbacks\/eu\/o\.cGF5LTE\.[A-Za-z0-9_-]{43}$/);
  });

  it('give back every order they were made for', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z0-9-]{1,32}$/),
        fc.stringMatching(/^[A-Za-z0-9._:-]{1,126}$/),
        (account, orderId) => {
          const target = { kind: 'order', account, orderId } as const;
          const made = pathOf(callbackUrl(BASE, KEY, target));
          expect(made.length).toBeLessThanOrEqual(MAX_CALLBACK_PATH_LENGTH);
          expect(verifyCallbackPath(made, [KEY])).toEqual(target);
        },
      ),
    );
  });

  it('give back the address they were made for', () => {
    const target = { kind: 'address', account: 'default', ref: 'shop_7-a' } as const;
    expect(verifyCallbackPath(pathOf(callbackUrl(BASE, KEY, target)), [KEY])).toEqual(target);
  });

  it('are verified by every key of the list, made by the first', () => {
    expect(verifyCallbackPath(path, ['new key', KEY])).toMatchObject({ orderId: 'pay-1' });
    expect(verifyCallbackPath(path, ['new key'])).toBeUndefined();
    expect(verifyCallbackPath(path, [])).toBeUndefined();
  });

  const token = path.slice(-43);
  it.each([
    ['of another account', path.replace('/default/', '/other/')],
    ['of another order', path.replace('cGF5LTE', 'cGF5LTI')],
    ['of another kind', path.replace('/o.', '/a.')],
    ['with a changed token', path.replace(token, `${token[0] === 'A' ? 'B' : 'A'}${token.slice(1)}`)],
    ['with a query', `${path}?a=1`],
    ['that is too long', `${path}${'x'.repeat(8192)}`],
  ])('are refused when the path is one %s', (_what, forged) => {
    expect(verifyCallbackPath(forged, [KEY])).toBeUndefined();
  });
});

describe('the reference in the callback URL of an address', () => {
  const made = (key: string, account = 'default') =>
    callbackUrl(BASE, key, { kind: 'address', account, ref: 'shop-7' });
  const url = made(KEY);
  const ofOrder = callbackUrl(BASE, KEY, { kind: 'order', account: 'default', orderId: 'shop-7' });
  const otherMac = (from: string) => `${url.slice(0, -43)}${from.slice(-43)}`;
  const mac = url.slice(-43);

  it.each([
    ['as it was made', url, 'genuine'],
    ['with a query', `${url}?v=1`, 'genuine'],
    ['under a base URL that moved', url.replace(BASE, 'https://old.example/'), 'genuine'],
    ['made by a later key of the list', made('second key'), 'genuine'],
    ['with a masked token', url.replace(mac, '****'), 'unreadable'],
    ['made by a key that is out of force', made('old key'), 'forged'],
    ['with the token of another account', otherMac(made(KEY, 'other')), 'forged'],
    ['with the token of an order', otherMac(ofOrder), 'forged'],
    [
      'with the token of another reference',
      otherMac(url.replace('shop-7', 'shop-8').replace(mac, 'A'.repeat(43))),
      'forged',
    ],
    ['with a token cut short', url.slice(0, -1), 'forged'],
  ] as const)('%s', (_what, shown, token) => {
    expect(addressRefOf(shown, 'default', [KEY, 'second key'])).toEqual({ ref: 'shop-7', token });
  });

  it.each([
    ['of another account', made(KEY, 'other')],
    ['of an order', ofOrder],
    ['of somebody else', 'https://shop.example/paid'],
    ['that is empty', ''],
  ])('is none in a URL %s', (_what, shown) => {
    expect(addressRefOf(shown, 'default', [KEY])).toBeUndefined();
  });

  it('is unreadable without a key', () => {
    expect(addressRefOf(url, 'default', [])).toMatchObject({ token: 'unreadable' });
  });
});
