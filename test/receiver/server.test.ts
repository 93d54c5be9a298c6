import { describe, expect, test } from 'vitest';
import { callbackUrl } from '../../src/contract/callback-url.js';
import { SIGNAL_BURST, STARTS } from '../../src/receiver/spare-temporal.js';
import { ADDRESS, BODY, ORDER, post, runReceiver, TOKEN_KEY } from './receiver.fixture.js';

const HINT = { order_uuid: 'u-1', status: 'completed' };

/** Both kinds of callbacks: what they are about, and a receiver whose Temporal does with them as `answer` says. */
const KINDS = [
  {
    kind: 'an order',
    target: ORDER,
    subject: { account: 'default', orderId: 'invoice-1' },
    run: (answer: () => Promise<'delivered' | 'closed'>) => runReceiver(answer),
  },
  {
    kind: 'a permanent address',
    target: ADDRESS,
    subject: { account: 'default', addressRef: 'shop-7', orderUuid: 'u-1' },
    run: (answer: () => Promise<'delivered' | 'closed'>) => runReceiver(undefined, undefined, answer),
  },
] as const;

describe.each(KINDS)('a genuine callback of $kind', ({ target, subject, run }) => {
  test('goes to the workflow that it is about and is answered 200', async () => {
    const receiver = await run(async () => 'delivered');
    expect((await post(receiver.urlOf(target))).status).toBe(200);
    expect([...receiver.signals, ...receiver.receipts]).toEqual([{ target, hint: HINT }]);
    expect(receiver.log).toMatchObject([{ ...subject, result: 'delivered' }]);
  });

  test('is answered only after the signal was accepted', async () => {
    let accept: () => void = () => undefined;
    const accepted = new Promise<'delivered'>((resolve) => {
      accept = () => resolve('delivered');
    });
    const receiver = await run(() => accepted);
    let answered = false;
    const answer = post(receiver.urlOf(target)).finally(() => {
      answered = true;
    });
    await expect.poll(() => receiver.signals.length + receiver.receipts.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(answered).toBe(false);
    accept();
    expect((await answer).status).toBe(200);
  });

  test('that has ended is answered 200 and logged', async () => {
    const receiver = await run(async () => 'closed');
    expect((await post(receiver.urlOf(target))).status).toBe(200);
    expect(receiver.log).toMatchObject([{ ...subject, level: 30, result: 'closed' }]);
  });

  test('whose signal Temporal did not accept is answered 503, and the next one is tried again', async () => {
    let reachable = false;
    const receiver = await run(async () => {
      if (!reachable) throw new Error('14 UNAVAILABLE');
      return 'delivered';
    });
    const refused = await post(receiver.urlOf(target));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect(receiver.log).toMatchObject([{ result: 'unavailable', reason: '14 UNAVAILABLE' }]);
    reachable = true;
    expect((await post(receiver.urlOf(target))).status).toBe(200);
  });
});

test('a callback is read with any of the token keys and refused with none of them; a query string changes nothing', async () => {
  const receiver = await runReceiver(undefined, ['new-key-0123456789', TOKEN_KEY]);
  expect((await post(`${receiver.urlOf(ORDER)}?attempt=2`)).status).toBe(200);
  expect((await post(callbackUrl(receiver.url, 'new-key-0123456789', ORDER))).status).toBe(200);
  expect((await post(callbackUrl(receiver.url, 'other-key-0123456789', ORDER))).status).toBe(404);
});

test.each(['{}', '[]', ''])(
  'a callback of a permanent address whose body names no order (%s) is answered 400 and starts nothing',
  async (body) => {
    const receiver = await runReceiver();
    expect((await post(receiver.urlOf(ADDRESS), body)).status).toBe(400);
    expect(receiver.receipts).toEqual([]);
  },
);

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
      '/healthz',
    ];
    for (const path of wrong) expect(await fingerprint(receiver.url + path), path).toEqual(expected);
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      expect(await fingerprint(receiver.url + genuine, { method }), method).toEqual(expected);
    expect(await fingerprint(receiver.url + genuine, { method: 'GET', body: undefined }), 'GET').toEqual(expected);
    expect((await fetch(receiver.url + genuine, { method: 'HEAD' })).status).toBe(404);
    expect(receiver.signals).toEqual([]);
  });
});

test('an order signalled too often gets 429 and other orders do not; what is refused is counted and not logged', async () => {
  const receiver = await runReceiver(undefined, undefined, async (_target, _hint, mayStart) =>
    mayStart() ? 'delivered' : 'crowded',
  );
  const statusesOf = async (count: number, send: (n: number) => Promise<Response>): Promise<number[]> => {
    const statuses: number[] = [];
    for (let n = 0; n < count; n += 1) statuses.push((await send(n)).status);
    return statuses;
  };
  const expected = (passed: number, refused: number) => [...Array(passed).fill(200), ...Array(refused).fill(429)];
  const started = await statusesOf(STARTS.burst + 4, (n) => post(receiver.urlOf(ADDRESS), `{"order_uuid":"new-${n}"}`));
  expect(started).toEqual(expected(STARTS.burst, 4));
  const signalled = await statusesOf(SIGNAL_BURST + 3, () => post(receiver.urlOf(ORDER)));
  expect(signalled).toEqual(expected(SIGNAL_BURST, 3));
  expect(receiver.signals).toHaveLength(SIGNAL_BURST);
  const other = receiver.urlOf({ ...ORDER, orderId: 'invoice-2' });
  expect(await statusesOf(2, () => post(other, 'broken'))).toEqual([400, 400]);
  expect((await post(other)).status).toBe(200);
  expect((await post(other, BODY.padEnd(100_000))).status).toBe(413);
  await post(`${receiver.url}/callbacks/default/o.x.y`);
  expect(receiver.counts).toMatchObject({ crowded: 4, limited: 3, malformed: 2, tooLarge: 1, notFound: 1 });
  expect(new Set(receiver.log.map(({ result }) => result))).toEqual(new Set(['delivered']));
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
  expect(receiver.log.map(({ result }) => result)).toEqual(['delivered', 'unavailable']);
  for (const part of [token, 'u-secret', '4111', 'example.org', 'callbacks/'])
    expect(receiver.logText()).not.toContain(part);
});
