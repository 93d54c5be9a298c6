import { describe, expect, test } from 'vitest';
import { addressRefOf, shownRefOf, withoutToken } from '../../src/contract/callback-url.js';
import { excerptOf } from '../../src/payment-service/excerpt.js';
import { readObject, readPage } from '../../src/payment-service/responses.js';
import { orderListItemSchema, ratesSchema } from '../../src/payment-service/schemas.js';
import { parseJson } from '../../src/payment-service/wire.js';
import { orderObject } from './objects.fixture.js';
import { answer, clientFor, startServer } from './server.fixture.js';

const MB = 1024 * 1024;

const success = (items: string) => `{"status":"success","data":[${items}]}`;
const repeated = (item: string, bytes: number) => `${`${item},`.repeat(Math.floor(bytes / (item.length + 1)))}${item}`;

/** A client whose every question is answered with the same body. */
async function answeredWith(body: string) {
  const { baseUrl } = await startServer((response) => answer(response, body));
  return clientFor(baseUrl, { requestTimeoutMs: 30_000 });
}

/** The time in ms that `run` takes. */
function msOf(run: () => unknown): number {
  const from = performance.now();
  run();
  return performance.now() - from;
}

describe('an answer of too many values is refused before it is parsed', () => {
  test.each([
    ['objects', '{"a":1}'],
    ['numbers', '1'],
    ['lists', '[]'],
    ['texts', '""'],
  ])('of %s, within 10 s', async (_, item) => {
    const client = await answeredWith(success(repeated(item, 30 * MB)));
    const from = performance.now();
    await expect(client.orders().page({ limit: 1000 })).rejects.toThrow(/body: more than 1000000 values/);
    expect(performance.now() - from).toBeLessThan(10_000);
  });

  test('inside of one item, and in rates', async () => {
    const inside = success(`{"x":[${repeated('{"a":1}', 30 * MB)}]}`);
    await expect((await answeredWith(inside)).orders().page({ limit: 1000 })).rejects.toThrow(
      /more than 1000000 values/,
    );
    const rates = Buffer.from(`{"status":"success","data":{"withdraw":[${repeated('{"a":1}', 30 * MB)}]}}`);
    expect(() => readObject(ratesSchema, rates)).toThrow(/more than 1000000 values/);
  });

  test('but not because of what stands in its texts', () => {
    const text = `[{,"\\`.repeat(300_000);
    expect(parseJson(Buffer.from(JSON.stringify({ text })))).toEqual({ text });
  });
});

describe('a page', () => {
  const page = (count: number) =>
    success(repeated(JSON.stringify(orderObject()), 0).concat(`,{"a":1}`.repeat(count - 1)));

  test('of more items than asked for is refused', async () => {
    const client = await answeredWith(page(6));
    await expect(client.orders().page({ limit: 5 })).rejects.toThrow(/data: more items than the 5 asked for/);
    await expect(client.addresses().page({ limit: 5 })).rejects.toThrow(/more items than the 5 asked for/);
    expect(await client.orders().page({ limit: 6 })).toMatchObject({ total: 6 });
  });

  test('without a limit has 100 items at most, the documented default', async () => {
    const client = await answeredWith(page(101));
    await expect(client.orders().page({ order_ids: ['w-1'] })).rejects.toThrow(/more items than the 100 asked for/);
  });

  test('is as large as the orders asked for may be, and no larger', async () => {
    const large = orderObject({ description: 'x'.repeat(2 * MB) });
    const client = await answeredWith(success(JSON.stringify(large)));
    await expect(client.orders().page({ limit: 1 })).rejects.toThrow(/response_too_large/);
    await expect(client.orders().page({ limit: 100 })).resolves.toMatchObject({ total: 1 });
  });

  test('of 1000 orders with 20 cards each is read', () => {
    const cards = Array.from({ length: 20 }, () => ({ amount: 1.5, wallet: '4111111111111111' }));
    const one = JSON.stringify(orderObject({ wallet_to_details: cards, wallet_to_transactions: cards }));
    const items = Array.from({ length: 1000 }, () => one).join(',');
    expect(readPage(orderListItemSchema, Buffer.from(success(items))).items).toHaveLength(1000);
  });
});

describe('every pattern takes linear time', () => {
  const many = (text: string) => text.repeat(Math.ceil(MB / text.length));

  test.each([
    ['that begins again and again', many('/callbacks/d/a.r.t?')],
    ['with a line end', `${many('/callbacks/d/a.r.t?')}\n`],
    ['of points', `${many('/callbacks/.')}!`],
    ['of references', `${many('/a.b.c')}/`],
    ['of one long token', `/callbacks/d/a.r.${'t'.repeat(MB)}!`],
  ])('on a callback URL %s', (_, url) => {
    expect(msOf(() => [addressRefOf(url, 'd', []), withoutToken(url), shownRefOf(url)])).toBeLessThan(500);
  });

  test.each([['<'], ['&'], ['%'], ['\\u'], ['1 '], ['a@'], ['http:'], ['"error":'], ['{"error":']])(
    'on what an answer says, of %j',
    (text) => {
      const body = Buffer.from(`{"status":"error","data":${JSON.stringify(many(text))}}`);
      expect(msOf(() => excerptOf(body, { order_id: 'w-1' }))).toBeLessThan(500);
    },
  );
});

describe('a callback URL', () => {
  const url = 'https://pay.example.com/x/callbacks/eu/a.shop-1.abc_DEF-123';

  test.each([
    ['', url],
    ['a masked token', url.replace('abc_DEF-123', 'abc****')],
    ['a slash', `${url}/`],
    ['a query', `${url}?from=/callbacks/x/a.b.c`],
    ['the name of its path in its base', url.replace('/x/', '/callbacks/x/')],
  ])('says its reference and hides its token, with %s', (_, shown) => {
    expect(addressRefOf(shown, 'eu', [])?.ref).toBe('shop-1');
    expect(addressRefOf(shown, 'us', [])).toBeUndefined();
    expect(withoutToken(shown)).not.toMatch(/abc|DEF|123/);
    expect(shownRefOf(withoutToken(shown))).toBe('shop-1');
  });

  test.each([null, '', 'https://shop.example.com/hook.php', 'https://shop.example.com/a.b'])(
    'of others, %j, stays as it is',
    (other) => {
      expect([addressRefOf(other, 'eu', []), withoutToken(other), shownRefOf(other)]).toEqual([undefined, other, '']);
    },
  );
});
