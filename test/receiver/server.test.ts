import { describe, expect, test } from 'vitest';
import { callbackUrl } from '../../src/contract/callback-url.js';
import type { SignalReceived, SignalResult } from '../../src/receiver/signals.js';
import { MAX_STARTS_PER_MINUTE, SIGNAL_BURST } from '../../src/receiver/spare-temporal.js';
import { ADDRESS, BODY, ORDER, post, runReceiver, TOKEN_KEY } from './receiver.fixture.js';

const HINT = { order_uuid: 'u-1', status: 'completed' };

describe('a genuine callback', () => {
  test('signals the order of its URL and is answered 200', async () => {
    const receiver = await runReceiver();
    const answer = await post(receiver.urlOf(ORDER));
    expect(answer.status).toBe(200);
    expect(receiver.signals).toEqual([{ target: ORDER, hint: HINT }]);
  });

  test('is answered only after the signal was accepted', async () => {
    let accept: (result: SignalResult) => void = () => undefined;
    const accepted = new Promise<SignalResult>((resolve) => {
      accept = resolve;
    });
    const receiver = await runReceiver(() => accepted);
    let answered = false;
    const answer = post(receiver.urlOf(ORDER)).finally(() => {
      answered = true;
    });
    await expect.poll(() => receiver.signals.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(answered).toBe(false);
    accept('delivered');
    expect((await answer).status).toBe(200);
  });

  test.each(['closed', 'unknown'] as const)('for an order that is %s is answered 200 and logged', async (result) => {
    const receiver = await runReceiver(async () => result);
    expect((await post(receiver.urlOf(ORDER))).status).toBe(200);
    expect(receiver.log).toMatchObject([{ account: 'default', orderId: 'invoice-1', result }]);
  });

  test('whose signal Temporal did not accept is answered 503, and the next one is tried again', async () => {
    let reachable = false;
    const receiver = await runReceiver(async () => {
      if (!reachable) throw new Error('14 UNAVAILABLE');
      return 'delivered';
    });
    const refused = await post(receiver.urlOf(ORDER));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect(receiver.log).toMatchObject([{ result: 'unavailable', reason: '14 UNAVAILABLE' }]);
    reachable = true;
    expect((await post(receiver.urlOf(ORDER))).status).toBe(200);
  });

  test('is read with any of the token keys and refused with none of them', async () => {
    const receiver = await runReceiver(undefined, ['new-key-0123456789', TOKEN_KEY]);
    expect((await post(receiver.urlOf(ORDER))).status).toBe(200);
    expect((await post(callbackUrl(receiver.url, 'new-key-0123456789', ORDER))).status).toBe(200);
    expect((await post(callbackUrl(receiver.url, 'other-key-0123456789', ORDER))).status).toBe(404);
  });

  test('is known by its path alone: a query string changes nothing', async () => {
    const receiver = await runReceiver();
    expect((await post(`${receiver.urlOf(ORDER)}?attempt=2`)).status).toBe(200);
  });
});

describe('a genuine callback of a permanent address', () => {
  const withReceipts = (received: SignalReceived) => runReceiver(undefined, undefined, received);

  test('goes to the follower of the order that the body names and is answered 200', async () => {
    const receiver = await runReceiver();
    const answer = await post(receiver.urlOf(ADDRESS));
    expect(answer.status).toBe(200);
    expect(receiver.receipts).toEqual([{ target: ADDRESS, hint: HINT }]);
    expect(receiver.signals).toEqual([]);
    const line = { account: 'default', addressRef: 'shop-7', orderUuid: 'u-1', result: 'delivered' };
    expect(receiver.log).toMatchObject([line]);
  });

  test('is answered only after Temporal accepted it', async () => {
    let accept: () => void = () => undefined;
    const accepted = new Promise<'delivered'>((resolve) => {
      accept = () => resolve('delivered');
    });
    const receiver = await withReceipts(() => accepted);
    let answered = false;
    const answer = post(receiver.urlOf(ADDRESS)).finally(() => {
      answered = true;
    });
    await expect.poll(() => receiver.receipts.length).toBe(1);
    expect(answered).toBe(false);
    accept();
    expect((await answer).status).toBe(200);
  });

  test('about an order that has ended is answered 200', async () => {
    const receiver = await withReceipts(async () => 'closed');
    expect((await post(receiver.urlOf(ADDRESS))).status).toBe(200);
    expect(receiver.log).toMatchObject([{ level: 30, result: 'closed' }]);
  });

  test('that Temporal did not take is answered 503, and the next one is tried again', async () => {
    let reachable = false;
    const receiver = await withReceipts(async () => {
      if (!reachable) throw new Error('14 UNAVAILABLE');
      return 'delivered';
    });
    const refused = await post(receiver.urlOf(ADDRESS));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    reachable = true;
    expect((await post(receiver.urlOf(ADDRESS))).status).toBe(200);
  });

  test.each([
    '{}',
    '{"order_uuid":null}',
    '{"order_uuid":7}',
    '{"order_uuid":"a b"}',
    `{"order_uuid":"${'a'.repeat(65)}"}`,
    '[]',
    '',
  ])('whose body names no order (%s) is answered 400 and starts nothing', async (body) => {
    const receiver = await runReceiver();
    expect((await post(receiver.urlOf(ADDRESS), body)).status).toBe(400);
    expect(receiver.receipts).toEqual([]);
  });

  test('that would start one order too many is answered 429, to come back in a minute', async () => {
    const receiver = await withReceipts(async (_target, _hint, mayStart) => (mayStart() ? 'delivered' : 'crowded'));
    const statuses: number[] = [];
    for (let n = 0; n < MAX_STARTS_PER_MINUTE + 5; n += 1) {
      const answer = await post(receiver.urlOf(ADDRESS), `{"order_uuid":"new-${n}"}`);
      statuses.push(answer.status);
      if (answer.status === 429) expect(answer.headers.get('retry-after')).toBe('60');
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(MAX_STARTS_PER_MINUTE);
    expect(statuses.slice(MAX_STARTS_PER_MINUTE)).toEqual([429, 429, 429, 429, 429]);
    const other = { ...ADDRESS, ref: 'shop-8' };
    expect((await post(receiver.urlOf(other), '{"order_uuid":"new-0"}')).status).toBe(200);
  });
});

describe('duplicates and floods', () => {
  test('duplicates after an acknowledged callback signal again', async () => {
    const receiver = await runReceiver();
    for (let i = 0; i < 3; i += 1) expect((await post(receiver.urlOf(ORDER))).status).toBe(200);
    expect(receiver.signals).toHaveLength(3);
  });

  test('an order signalled too often gets 429, other orders do not', async () => {
    const receiver = await runReceiver();
    const statuses: number[] = [];
    for (let i = 0; i < SIGNAL_BURST + 5; i += 1) statuses.push((await post(receiver.urlOf(ORDER))).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(SIGNAL_BURST);
    expect(statuses.slice(SIGNAL_BURST)).toEqual([429, 429, 429, 429, 429]);
    expect(receiver.signals).toHaveLength(SIGNAL_BURST);
    expect((await post(receiver.urlOf({ ...ORDER, orderId: 'invoice-2' }))).status).toBe(200);
  });
});

describe('everything without a genuine path', () => {
  async function fingerprint(url: string, init: RequestInit = {}): Promise<unknown> {
    const answer = await fetch(url, { method: 'POST', body: BODY, ...init });
    const headers = [...answer.headers].filter(([name]) => name !== 'date');
    return { status: answer.status, headers, body: await answer.text() };
  }

  test('gets the same 404, without a signal', async () => {
    const receiver = await runReceiver();
    const genuine = receiver.pathOf(ORDER);
    const of2 = receiver.pathOf({ ...ORDER, orderId: 'invoice-2' });
    const [, , , token = ''] = genuine.split('/');
    const [, id, mac = ''] = token.split('.');
    const expected = await fingerprint(`${receiver.url}/`);
    expect(expected).toMatchObject({ status: 404, body: '{"result":"not found"}' });
    const wrong = [
      `/callbacks/default/o.${id}.${mac.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))}`,
      `/callbacks/default/o.${of2.split('.')[1]}.${mac}`,
      `/callbacks/other/${token}`,
      `/callbacks/default/a.${id}.${mac}`,
      `/callbacks/default/o.${id}`,
      `/callbacks/default/o.${id}.`,
      '/callbacks/',
      '/callbacks',
      '/CALLBACKS/default/x',
      genuine.replace('/callbacks/', '//callbacks/'),
      genuine.replace('/default/', '//default//'),
      `${genuine}/`,
      `${genuine}.`,
      `${genuine}%00`,
      `${genuine}%zz`,
      genuine.replace('default', '%64efault'),
      `/callbacks/default/${'x'.repeat(8_192)}`,
      '/healthz',
    ];
    for (const path of wrong) expect(await fingerprint(receiver.url + path), path).toEqual(expected);
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      expect(await fingerprint(receiver.url + genuine, { method }), method).toEqual(expected);
    expect(await fingerprint(receiver.url + genuine, { method: 'GET', body: undefined }), 'GET').toEqual(expected);
    expect((await fetch(receiver.url + genuine, { method: 'HEAD' })).status).toBe(404);
    expect(receiver.signals).toEqual([]);
  });

  test('is counted in one log line instead of one each', async () => {
    const receiver = await runReceiver();
    for (let i = 0; i < 6; i += 1) await post(`${receiver.url}/callbacks/default/o.x.y`);
    await post(receiver.urlOf(ORDER), BODY.padEnd(100_000));
    await receiver.close();
    expect(receiver.log).toMatchObject([{ level: 40, refused: 7, reasons: { notFound: 6, tooLarge: 1 } }]);
  });
});

test('what a genuine URL is misused for is counted in one log line as well, by reason', async () => {
  const receiver = await runReceiver(undefined, undefined, async (_target, _hint, mayStart) =>
    mayStart() ? 'delivered' : 'crowded',
  );
  const of = (n: number) => `{"order_uuid":"new-${n}"}`;
  for (let n = 0; n < MAX_STARTS_PER_MINUTE + 4; n += 1) await post(receiver.urlOf(ADDRESS), of(n));
  for (let n = 0; n < SIGNAL_BURST + 3; n += 1) await post(receiver.urlOf(ORDER));
  for (let n = 0; n < 2; n += 1) await post(receiver.urlOf({ ...ORDER, orderId: 'invoice-2' }), 'broken');
  await receiver.close();
  const [counts, ...others] = receiver.log.toReversed();
  expect(counts).toMatchObject({ level: 40, refused: 9, reasons: { crowded: 4, limited: 3, malformed: 2 } });
  expect(others.map(({ result }) => result)).toEqual(
    Array.from({ length: MAX_STARTS_PER_MINUTE + SIGNAL_BURST }, () => 'delivered'),
  );
});

test('GET /healthz is answered 200 without asking Temporal', async () => {
  const receiver = await runReceiver(() => Promise.reject(new Error('unreachable')));
  expect((await fetch(`${receiver.url}/healthz`)).status).toBe(200);
  expect(receiver.signals).toEqual([]);
});

test('the log holds no body, token or query string', async () => {
  const receiver = await runReceiver(async () => {
    if (receiver.signals.length > 1) throw new Error('14 UNAVAILABLE');
    return 'delivered';
  });
  const secret = JSON.stringify({ order_uuid: 'u-secret', status: 'completed', wallet_to: '4111111111111111' });
  const token = receiver.urlOf(ORDER).split('.').at(-1) ?? '';
  await post(`${receiver.urlOf(ORDER)}?email=a@example.org`, secret);
  await post(receiver.urlOf(ORDER), secret);
  await post(receiver.urlOf(ORDER), 'broken 4111111111111111');
  await post(`${receiver.urlOf(ORDER)}x`, secret);
  await post(receiver.urlOf(ORDER), secret.padEnd(100_000));
  await receiver.close();
  expect(receiver.log.map((line) => line.result ?? line.refused)).toEqual(['delivered', 'unavailable', 3]);
  for (const part of [token, 'u-secret', '4111', 'example.org', 'callbacks/'])
    expect(receiver.logText()).not.toContain(part);
});
