import { ApplicationFailureCategory } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { type CallbackTarget, callbackUrl, verifyCallbackPath } from '../../../src/contract/callback-url.js';
import { addressObject } from '../../payment-service/objects.fixture.js';
import { answer, startOneList, startServer } from '../../payment-service/server.fixture.js';
import { call } from '../../sandbox/sandbox.fixture.js';
import {
  activitiesFor,
  CALLBACK,
  failureOf,
  isAskedAgain,
  openActivities,
  UNCLEAR_FAULTS,
} from '../activity-lab.fixture.js';

const ADDRESS = { currency: 'usdt', network: 'tron' };
const macOf = (target: CallbackTarget, key = CALLBACK.tokenKeys[0] ?? '') => callbackUrl('', key, target).slice(-43);
const inputOf = (ref = 'client-7', address: object = ADDRESS) => ({ account: 'default', input: { ref, address } });

/** A service whose address list is empty and whose create is answered with a status. */
async function serviceAnswering(status: number, data: unknown = 'no') {
  const { baseUrl, received } = await startServer((response, { path }) =>
    path.endsWith('/list') ? answer(response, []) : answer(response, data, status),
  );
  const run = await activitiesFor({ baseUrl }, { callback: CALLBACK });
  return { run, paths: () => received.map(({ path }) => path.split('/').at(-1)) };
}

describe('createAddress', () => {
  test('creates an address whose callback URL carries the reference', async () => {
    const { sandbox, run } = await openActivities({}, { callback: CALLBACK });
    expect(await run('createAddress', inputOf())).toMatchObject({ kind: 'created', address: ADDRESS });
    const url = sandbox.addresses()[0]?.callback_url;
    const target = { kind: 'address', account: 'default', ref: 'client-7' };
    expect(verifyCallbackPath(new URL(url ?? '').pathname, CALLBACK.tokenKeys)).toEqual(target);
  });

  test('shows callers no token, with which they could post callbacks', async () => {
    const { run } = await openActivities({}, { callback: CALLBACK });
    const created = await run('createAddress', inputOf());
    const found = await run('findAddress', inputOf());
    const listed = await run('readService', { account: 'default', read: 'addressList' });
    for (const shown of [created, found, { address: (listed as unknown[])[0] }]) {
      const url = `${CALLBACK.baseUrl}/callbacks/default/a.client-7.****`;
      expect(shown).toMatchObject({ address: { callback_url: url } });
    }
  });

  test('creates one address for a reference, and another for another', async () => {
    const { run } = await openActivities({}, { callback: CALLBACK });
    const first = await run('createAddress', inputOf());
    const again = await run('createAddress', inputOf());
    expect(again).toEqual({ ...first, kind: 'found' });
    expect(await run('createAddress', inputOf('client-8'))).toMatchObject({ kind: 'created' });
    // A reference that is the beginning of another one is not mistaken for it.
    expect(await run('createAddress', inputOf('client'))).toMatchObject({ kind: 'created' });
    expect(await run('readService', { account: 'default', read: 'addressList' })).toHaveLength(3);
  });

  test.for([
    ['a forged token', 'A'.repeat(43)],
    ['the token of another account', macOf({ kind: 'address', account: 'other', ref: 'client-7' })],
    ['the token of an order', macOf({ kind: 'order', account: 'default', orderId: 'client-7' })],
    ['a token of a key that is out of force', macOf({ kind: 'address', account: 'default', ref: 'client-7' }, 'old')],
  ])('does not take an address with %s for ours', async ([, token]) => {
    const { sandbox, run } = await openActivities({}, { callback: CALLBACK });
    const callback_url = `https://shop.example/callbacks/default/a.client-7.${token}`;
    await call(sandbox, 'deposit_address/create', { ...ADDRESS, callback_url });
    expect(await run('findAddress', inputOf())).toBeNull();
    expect(await run('createAddress', inputOf())).toMatchObject({ kind: 'created' });
    expect(await run('findAddress', inputOf())).not.toHaveProperty('others');
  });

  test.for([1, 2])('creates one address for each reference if the service shows %i on a page', async (listAtMost) => {
    const { sandbox, run } = await openActivities({ listAtMost }, { callback: CALLBACK });
    const refs = Array.from({ length: 5 }, (_, n) => `client-${n}`);
    for (const ref of refs) expect(await run('createAddress', inputOf(ref))).toMatchObject({ kind: 'created' });
    for (const ref of refs) expect(await run('createAddress', inputOf(ref))).toMatchObject({ kind: 'found' });
    expect(sandbox.addresses()).toHaveLength(5);
  });

  test('needs callbacks to be configured', async () => {
    const { sandbox, run } = await openActivities();
    const failure = await failureOf(run('createAddress', inputOf()));
    expect(failure).toMatchObject({ type: 'InvalidInput', message: expect.stringContaining('CALLBACK_BASE_URL') });
    expect(sandbox.requests()).toEqual([]);
  });

  test.for<[input: unknown, field: string]>([
    [{ ref: 'a b', address: ADDRESS }, 'ref'],
    [{ ref: 'r', address: { currency: 'usdt' } }, 'address.network'],
    [{ ref: 'r', address: { ...ADDRESS, callback_url: 'http://127.0.0.1/' } }, 'address.callback_url'],
    [{ ref: 'r', address: ADDRESS, note: 1 }, 'note'],
    [null, 'input'],
  ])('%j: names %s and asks nothing', async ([input, field]) => {
    const { sandbox, run } = await openActivities({}, { callback: CALLBACK });
    const failure = await failureOf(run('createAddress', { account: 'default', input }));
    expect(failure).toMatchObject({ type: 'InvalidInput', nonRetryable: true, details: [[{ field }]] });
    expect(sandbox.requests()).toEqual([]);
  });

  test.for([...UNCLEAR_FAULTS, '400', '429'])('a search that answers %s: nothing is sent', async (fault) => {
    const { sandbox, run } = await openActivities({ faults: { [`address.${fault}`]: 1 } }, { callback: CALLBACK });
    expect(await run('createAddress', inputOf())).toMatchObject({ kind: 'notSent' });
    expect(sandbox.requests()).toHaveLength(1);
  });

  const OTHER = addressObject({ callback_url: 'http://127.0.0.1/callbacks/other' });
  test.for<[what: string, status: number, data: unknown, answer: object]>([
    ['400', 400, 'no', { kind: 'rejected' }],
    ['401', 401, 'no', { kind: 'uncertain' }],
    ['500', 500, 'no', { kind: 'uncertain' }],
    ['302', 302, 'no', { kind: 'uncertain' }],
    ['429, which is not sent again before the service says', 429, 'no', { kind: 'uncertain', retryAfterMs: 5_000 }],
    ['200 and no address', 200, { status: 'new' }, { kind: 'uncertain' }],
    ['the address of another reference', 200, OTHER, { kind: 'uncertain' }],
  ])('a create answered with %s is sent once', async ([, status, data, wanted]) => {
    const { run, paths } = await serviceAnswering(status, data);
    expect(await run('createAddress', inputOf())).toMatchObject(wanted);
    expect(paths()).toEqual(['list', 'create']);
  });

  test('an attempt that the server has given up is not sent', async () => {
    const { baseUrl, received } = await startServer((response) => answer(response, []));
    const run = await activitiesFor({ baseUrl }, { callback: CALLBACK });
    const onHeartbeat = () => {
      throw new Error('no such activity any more');
    };
    expect(await run('createAddress', inputOf(), { onHeartbeat })).toMatchObject({ kind: 'notSent' });
    expect(received.map(({ path }) => path.split('/').at(-1))).toEqual(['list']);
  });
});

describe('findAddress', () => {
  test('finds the address of a reference, and null for one that has none', async () => {
    const { run } = await openActivities({}, { callback: CALLBACK });
    const created = await run('createAddress', inputOf());
    const address = 'address' in created ? created.address : undefined;
    expect(await run('findAddress', inputOf())).toEqual({ address });
    expect(await run('findAddress', inputOf('client-8'))).toBeNull();
  });

  test('of several addresses takes the oldest, wherever it stands in the list, and names the others', async () => {
    const target = { kind: 'address', account: 'default', ref: 'client-7' } as const;
    const callback_url = callbackUrl('https://b.example', CALLBACK.tokenKeys[0] ?? '', target);
    const [young, old, alike] = [
      addressObject({ uuid: 'a-3', callback_url, created_at: '2026-01-03 00:00:00' }),
      addressObject({ uuid: 'a-2', callback_url, created_at: '2026-01-02 00:00:00' }),
      addressObject({ uuid: 'a-1', callback_url, created_at: '2026-01-03 00:00:00' }),
    ];
    const { baseUrl } = await startOneList(young, old, alike);
    const run = await activitiesFor({ baseUrl }, { callback: CALLBACK });
    const found = { address: { uuid: 'a-2' }, others: ['a-1', 'a-3'] };
    expect(await run('findAddress', inputOf())).toMatchObject(found);
    expect(await run('createAddress', inputOf())).toMatchObject({ kind: 'found', ...found });
  });

  test('with a delay asks nothing at its first attempt', async () => {
    const { sandbox, run } = await openActivities({}, { callback: CALLBACK });
    const failure = await failureOf(run('findAddress', { ...inputOf(), delayMs: 7_500 }));
    expect(failure).toMatchObject({ nextRetryDelay: 7_500, category: ApplicationFailureCategory.BENIGN });
    expect(sandbox.requests()).toEqual([]);
    expect(await run('findAddress', { ...inputOf(), delayMs: 7_500 }, { attempt: 2 })).toBeNull();
  });

  test.for(UNCLEAR_FAULTS)('answered with %s is repeated', async (fault) => {
    const { run } = await openActivities({ faults: { [`address.${fault}`]: 1 } }, { callback: CALLBACK });
    expect(isAskedAgain(await failureOf(run('findAddress', inputOf())))).toBe(true);
  });

  test('with an entry that cannot be read is no reading: it might be the one', async () => {
    const { baseUrl } = await startOneList(addressObject({ uuid: 7 }));
    const run = await activitiesFor({ baseUrl }, { callback: CALLBACK });
    expect(await failureOf(run('findAddress', inputOf()))).toMatchObject({ type: 'NoReading' });
  });
});
