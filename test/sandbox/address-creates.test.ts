import { expect, test } from 'vitest';
import type { DepositAddress, Sandbox } from '../../sandbox/index.js';
import { call, start, until } from './sandbox.fixture.js';

const BTC = { currency: 'btc', network: 'bitcoin', callback_url: 'http://127.0.0.1:9/a' };

const send = (sandbox: Sandbox, words?: string, changes: object = {}) =>
  call<DepositAddress>(sandbox, 'deposit_address/create', {
    ...BTC,
    ...(words && { address_title: `[sandbox ${words}]` }),
    ...changes,
  });

test.each([
  ['500', 500, 1],
  ['502-after', 502, 1],
  ['503-before', 503, 0],
  ['400-after', 400, 1],
  ['429', 429, 0],
])(
  'a title with create=%s answers %d having created %d addresses; the next request passes',
  async (fault, status, created) => {
    const sandbox = await start();
    expect((await send(sandbox, `create=${fault}`)).status).toBe(status);
    expect(sandbox.addresses()).toHaveLength(created);
    expect((await send(sandbox, `create=${fault}`)).status).toBe(200);
    expect(sandbox.addresses()).toHaveLength(created + 1);
    expect(sandbox.stats()).toMatchObject({ createsByOrderId: {}, executedByOrderId: {} });
  },
);

test.each([
  ['reset', 1],
  ['reset-before', 0],
  ['cut', 1],
])('create=%s gives no answer having created %d', async (fault, created) => {
  const sandbox = await start();
  await expect(send(sandbox, `create=${fault}`)).rejects.toThrow();
  expect(sandbox.addresses()).toHaveLength(created);
});

test('create=504-later creates the address only after later_ms', async () => {
  const sandbox = await start();
  expect((await send(sandbox, 'create=504-later later_ms=100')).status).toBe(504);
  expect(sandbox.addresses()).toEqual([]);
  const [address] = await until(
    () => sandbox.addresses(),
    (all) => all.length === 1,
  );
  expect(address?.callback_url).toBe(BTC.callback_url);
});

test('a repeated request makes a second address with the same callback URL, as does create=twice at once', async () => {
  const sandbox = await start();
  await send(sandbox);
  await send(sandbox);
  await send(sandbox, 'create=twice', { callback_url: 'http://127.0.0.1:9/b' });
  const urls = sandbox.addresses().map(({ callback_url }) => callback_url?.at(-1));
  expect(urls).toEqual(['a', 'a', 'b', 'b']);
  expect(new Set(sandbox.addresses().map(({ address }) => address)).size).toBe(4);
});

test.each(['create=lost', 'create=crossed', 'create=reset-unread'])('a title with %s is refused', async (words) => {
  const sandbox = await start();
  const { status, body } = await send(sandbox, words);
  expect(status).toBe(400);
  expect(body.errors).toHaveProperty('address_title');
});
