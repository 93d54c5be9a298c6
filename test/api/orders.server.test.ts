import { beforeAll, describe, expect, test } from 'vitest';
import { orderInput } from '../support/inputs.js';
import { newOrderId, useLab } from '../support/lab.js';
import { apiKey, runApi } from './api.fixture.js';

const lab = useLab({ callbacks: false });
let api: Awaited<ReturnType<typeof runApi>>;

beforeAll(async () => {
  api = await runApi(lab.orders, {
    keys: [
      apiKey('all', { name: 'Back Office' }),
      apiKey('starter', { verbs: ['start'] }),
      apiKey('other', { accounts: ['other'] }),
      apiKey('small', { maxAmount: { usd: '12' } }),
      apiKey('usd', { maxAmount: { usd: '120' } }),
      apiKey('both', { maxAmount: { usd: '120', usdt: '120' } }),
      apiKey('rich', { maxAmount: { usd: '120', usdt: '20000' } }),
    ],
  });
});

const start = (body: object, query = '?wait=60', key = 'all') => api.call('POST', `/v1/orders${query}`, body, key);
const get = (path: string, key = 'all') => api.call('GET', `/v1/orders${path}`, undefined, key);
const withdraw = (orderId: string, marker?: string, options: object = {}) => ({
  order_type: 'withdraw',
  ...orderInput('withdraw', orderId, { ...(marker && { marker }), ...options }),
});

describe('a start', () => {
  test('is answered 201, then 200, then 409 for another input, and is executed once', async () => {
    const id = newOrderId('api-start');
    const first = await start(withdraw(id));
    expect(first).toMatchObject({ status: 201, body: { orderId: id, account: 'default', attached: false } });
    expect(first.body.order).toMatchObject({ user_order_id: id, wallet_to: '****1111', expected_amount_to: '12.5' });
    expect(first.headers.get('location')).toBe(`/v1/orders/${id}`);
    expect(await start(withdraw(id))).toMatchObject({ status: 200, body: { attached: true } });
    const body = { ...withdraw(id), compensation: 'finish' };
    const other = await start({ ...body, order: { ...body.order, amount: '13' } });
    expect(other).toMatchObject({ status: 409, body: { code: 'conflict' } });
    const names = other.body.fields.map(({ field }: { field: string }) => field);
    expect(names.toSorted()).toEqual(['compensation', 'order.amount']);
    expect(lab.requestsOf(id).filter((path) => path === '/v2/order/withdraw')).toHaveLength(1);
  });

  test('of bad input names the fields and starts nothing', async () => {
    const body = withdraw(newOrderId('api-bad'));
    const bad = await start({ ...body, order: { ...body.order, amount: 12.5, network: '' }, recovered: {} });
    expect(bad).toMatchObject({ status: 422, body: { code: 'invalidInput' } });
    expect(bad.body.fields.map(({ field }: { field: string }) => field)).toEqual(['order.amount', 'recovered']);
    const again = await start({ ...body, again: 'yes', order: { ...body.order, network: '' } });
    expect(again.body.fields.map(({ field }: { field: string }) => field)).toEqual(['again', 'order.network']);
    expect(await get(`/${body.order.order_id}`)).toMatchObject({ status: 404, body: { code: 'unknown' } });
  });

  test('that the service rejects is answered 422 with its code, and may be started again', async () => {
    const id = newOrderId('api-rejected');
    expect(await start(withdraw(id, 'create=400'))).toMatchObject({ status: 422, body: { code: 'OrderRejected' } });
    await expect
      .poll(() => get(`/${id}`), { timeout: 60_000 })
      .toMatchObject({ status: 200, body: { failure: { code: 'OrderRejected' } } });
    expect(await start({ ...withdraw(id, 'create=400'), again: true })).toMatchObject({ status: 201 });
  });

  test('without a wait is answered 202, and the order goes on', async () => {
    const id = newOrderId('api-no-wait');
    const answer = await start(withdraw(id), '?wait=0');
    expect(answer).toMatchObject({ status: 202, body: { orderId: id, type: 'withdraw', attached: false } });
    await expect.poll(() => get(`/${id}`), { timeout: 60_000 }).toMatchObject({ body: { outcome: 'completed' } });
  });

  test('for an account that no worker serves is answered 503, and waits', async () => {
    const id = newOrderId('api-unserved');
    const answer = await start({ ...withdraw(id), account: 'other' }, '?wait=12', 'other');
    expect(answer).toMatchObject({ status: 503, body: { code: 'noWorker' } });
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(answer.body.detail).toContain('Repeat the same request, which is safe');
    expect(await get(`/${id}?account=other`, 'other')).toMatchObject({ status: 200, body: { status: 'open' } });
  });
});

describe('a dry run', () => {
  const check = (body: object | string, key = 'all') => api.call('POST', '/v1/orders:check', body, key);

  test('says that an order would be sent, starts nothing, and its start follows as if it had not been', async () => {
    const id = newOrderId('api-check');
    const body = withdraw(id);
    expect(await check(body)).toMatchObject({
      status: 200,
      body: { orderId: id, account: 'default', wouldBeSent: true, reasons: [], id: { state: 'free' } },
    });
    expect(await get(`/${id}`)).toMatchObject({ status: 404 });
    expect(lab.requestsOf(id)).toEqual(['/v2/order/status']);
    expect(await start(body)).toMatchObject({ status: 201, body: { attached: false } });
    expect(await check(body)).toMatchObject({ body: { wouldBeSent: false, atService: { state: 'same' } } });
  });

  test('finds bad fields and an amount above the limit, and refuses another account', async () => {
    const body = withdraw(newOrderId('api-check'));
    const bad = await check({ ...body, again: 'yes', order: { ...body.order, amount: 12.5, network: '' } });
    expect(bad).toMatchObject({ status: 200, body: { orderId: body.order.order_id, wouldBeSent: false } });
    const names = bad.body.fields.map(({ field }: { field: string }) => field);
    expect(names).toEqual(['order.amount', 'again', 'order.network']);
    expect(await check(body, 'small')).toMatchObject({
      status: 200,
      body: {
        wouldBeSent: false,
        reasons: ['Key "small" may move at most 12 usd at once'],
        leaves: [{ amount: '14' }],
      },
    });
    expect(await check({ ...body, account: 'default' }, 'other')).toMatchObject({ status: 403 });
    expect(await check('{"order": ')).toMatchObject({ status: 400 });
  });
});

describe('an order', () => {
  test('shows its state while it waits for a person, and takes one decision in the name of the key', async () => {
    const id = newOrderId('api-parked');
    await start(withdraw(id, 'outcome=completed_partially fraction=0.4', { compensation: 'ask' }));
    const parked = () => get(`/${id}`);
    await expect.poll(parked, { timeout: 60_000 }).toMatchObject({ body: { status: 'parked', needsAttention: true } });
    const { body } = await parked();
    expect(body.state.attention.allowed).toContain('accept');
    const { revision, runId } = body.state;
    expect(body.state.decisions.every(({ decision }: { decision: object }) => !('by' in decision))).toBe(true);
    const decide = (decision: object, key = 'all') => api.call('POST', `/v1/orders/${id}/decisions`, decision, key);
    const decision = { action: 'accept', reason: 'agreed with the client', revision, runId };
    expect(await decide({ ...decision, action: 'finish' }, 'small')).toMatchObject({ status: 403 });
    expect(await decide({ ...decision, by: 'Somebody' })).toMatchObject({
      status: 422,
      body: { fields: [{ field: 'by' }] },
    });
    expect(await decide({ ...decision, revision: revision + 9 })).toMatchObject({ status: 409 });
    expect(await decide(decision)).toMatchObject({ status: 200 });
    await expect.poll(parked, { timeout: 60_000 }).toMatchObject({
      body: { outcome: 'completed_partially', result: { decisions: [{ action: 'accept', by: 'Back Office' }] } },
    });
    expect(await decide(decision)).toMatchObject({ status: 409, body: { code: 'refused' } });
  });

  test('of which a client paid too much is decided only within what the decision moves', async () => {
    const id = newOrderId('api-overpaid');
    const marker = 'outcome=completed_partially left=unpaid paid=50 pay_ms=200 after_ms=400';
    const body = (compensation: string) => ({
      order_type: 'deposit_exchange_withdraw',
      ...orderInput('deposit_exchange_withdraw', id, { marker }),
      compensation,
    });
    for (const policy of ['finish', 'revert']) {
      const own = policy === 'revert' ? { revertTo: { network: 'card', wallet: '4111111111111111' } } : {};
      const refused = await start({ ...body(policy), ...own }, '?wait=60', 'both');
      expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      expect(refused.body.detail).toContain('compensation ask is possible');
      const checked = await api.call('POST', '/v1/orders:check', { ...body(policy), ...own }, 'both');
      expect(checked).toMatchObject({ body: { wouldBeSent: false, reasons: [expect.stringContaining('ask')] } });
    }
    expect(await start(body('ask'), '?wait=60', 'both')).toMatchObject({ status: 201 });
    await expect
      .poll(() => get(`/${id}`), { timeout: 60_000 })
      .toMatchObject({ body: { status: 'parked', state: { attention: { code: 'remainder' } } } });
    const { state } = (await get(`/${id}`)).body;
    const [{ decision, ...offer }] = state.decisions.filter((one: { does: string }) => one.does.startsWith('pays'));
    expect(offer).toMatchObject({ currency: 'usdt' });
    expect(Number(offer.amount)).toBeGreaterThan(120);
    const decide = async (key: string, changes: object = {}) => {
      const made = { ...decision, reason: 'the client agreed', ...changes };
      const { status, body } = await api.call('POST', `/v1/orders/${id}/decisions`, made, key);
      return `${status} ${body.detail ?? ''}`;
    };
    expect(await decide('both')).toContain('403 Key "both" may move at most 120 usdt at once');
    expect(await decide('both', { kind: undefined, as: undefined })).toContain('403 ');
    expect(await decide('usd')).toContain('403 Key "usd" has no maxAmount for this currency');
    expect(await decide('rich', { revision: decision.revision + 1 })).toContain('409 ');
    expect(lab.sandbox.orders().filter(({ order }) => order.user_order_id === `${id}.r1`)).toEqual([]);
    expect(await decide('rich')).toBe('200 ');
  });

  test('that is held stays held if a key that may only start cancels it and starts it again', async () => {
    const id = newOrderId('api-held');
    const why = { by: 'Ann Smith', reason: 'is the payee right?' };
    const creates = () => lab.requestsOf(id).filter((path) => path === '/v2/order/withdraw').length;
    const shows = (state: object) =>
      expect.poll(() => get(`/${id}`), { timeout: 60_000 }).toMatchObject({ status: 200, body: state });
    const HELD = { state: { attention: { code: 'held', reason: 'held by Back Office: is the payee right?' } } };
    await lab.orders.accounts.stop('default', why);
    await start(withdraw(id), '?wait=0');
    expect(await api.call('POST', `/v1/orders/${id}/hold`, { reason: why.reason }, 'all')).toMatchObject({
      status: 200,
    });
    await lab.orders.accounts.resume('default', why);
    await shows(HELD);
    expect(await api.call('POST', `/v1/orders/${id}/cancel`, undefined, 'starter')).toMatchObject({ status: 202 });
    await shows({ failure: { code: 'OrderCancelled' } });
    expect(await start({ ...withdraw(id), again: true }, '?wait=0', 'starter')).toMatchObject({ status: 202 });
    await shows(HELD);
    expect(creates()).toBe(0);
    const { revision, runId } = (await get(`/${id}`)).body.state;
    const release = { action: 'release', reason: 'asked the payee', revision, runId };
    expect(await api.call('POST', `/v1/orders/${id}/decisions`, release, 'all')).toMatchObject({ status: 200 });
    // A later order shows that the earlier run sent nothing.
    expect(await start(withdraw(newOrderId('api-later')))).toMatchObject({ status: 201 });
    await shows({ outcome: 'completed' });
    expect(creates()).toBe(1);
  });

  test('that ended cannot be cancelled, and an unknown one is 404', async () => {
    const id = newOrderId('api-cancel');
    await start(withdraw(id));
    await lab.orders.order(id).result();
    const cancel = (one: string) => api.call('POST', `/v1/orders/${one}/cancel`, undefined, 'all');
    expect(await cancel(id)).toMatchObject({ status: 409, body: { code: 'refused' } });
    const unknown = { status: 404, body: { code: 'unknown' } };
    expect(await cancel('never-seen')).toMatchObject(unknown);
    const decision = { action: 'finish', reason: 'wanted', revision: 1 };
    for (const key of ['all', 'small']) {
      expect(await get('/never-seen', key)).toMatchObject(unknown);
      expect(await api.call('POST', '/v1/orders/never-seen/decisions', decision, key)).toMatchObject(unknown);
    }
  });

  test('of another account is refused like one that does not exist', async () => {
    const id = newOrderId('api-foreign');
    await start(withdraw(id));
    const [seen, unseen] = [await get(`/${id}`, 'other'), await get('/never-seen', 'other')];
    expect(seen.status).toBe(403);
    expect({ ...seen.body, requestId: '' }).toEqual({ ...unseen.body, requestId: '' });
  });
});

test('a list with a cursor misses nothing while orders end, and shows nothing twice afterwards', async () => {
  const ids = Array.from({ length: 7 }, () => newOrderId('api-list'));
  const batchId = newOrderId('api-list-batch');
  const filter = `batch=${batchId}&limit=3`;
  const listed = async (): Promise<{ orderId: string; closedAt?: string }[]> => {
    const found = [];
    let path = `?${filter}`;
    for (let pages = 0; pages < 6 && path !== ''; pages += 1) {
      const { status, body } = await get(path);
      expect(status).toBe(200);
      found.push(...body.orders);
      path = body.cursor ? `?${filter}&cursor=${body.cursor}` : '';
    }
    expect(path).toBe('');
    return found;
  };
  const idsOf = (found: { orderId: string }[]) => found.map(({ orderId }) => orderId);
  await Promise.all(ids.map((id) => start({ ...withdraw(id), batchId })));
  await expect
    .poll(async () => new Set(idsOf((await get(`?batch=${batchId}`)).body.orders)).size, { timeout: 60_000 })
    .toBe(7);
  expect([...new Set(idsOf(await listed()))].toSorted()).toEqual(ids.toSorted());
  const allEnded = async () => (await listed()).filter(({ closedAt }) => closedAt).length;
  await expect.poll(allEnded, { timeout: 60_000 }).toBe(7);
  expect(idsOf(await listed()).toSorted()).toEqual(ids.toSorted());
  const { cursor } = (await get(`?${filter}`)).body;
  for (const bad of [`batch=other&cursor=${cursor}`, `${filter}&cursor=x`, `${filter}&cursor=${cursor.slice(0, 15)}`])
    expect(await get(`?${bad}`)).toMatchObject({ status: 422, body: { fields: [{ field: 'cursor' }] } });
  const ofOther = await get('', 'other');
  expect(ofOther).toMatchObject({ status: 200 });
  expect(ofOther.body.orders.every(({ account }: { account: string }) => account === 'other')).toBe(true);
  expect((await get(`?batch=${batchId}&endedAfter=2999-01-01T00:00:00Z`)).body).toEqual({ orders: [] });
});

test('a reference and metadata are taken, shown, and found by the reference', async () => {
  const id = newOrderId('api-marks');
  const marks = { reference: `shop/${id}`, metadata: { wallet: 'cold', note: 'Køln' } };
  expect(await start(withdraw(id, undefined, marks))).toMatchObject({ status: 201 });
  await expect
    .poll(() => get(`/${id}`), { timeout: 60_000 })
    .toMatchObject({ body: { reference: marks.reference, result: marks } });
  const found = () => get(`?reference=${encodeURIComponent(marks.reference)}`);
  await expect
    .poll(async () => (await found()).body.orders, { timeout: 60_000 })
    .toEqual([expect.objectContaining({ orderId: id, reference: marks.reference })]);
  expect((await get('?reference=shop')).body.orders).toEqual([]);
  const other = await start(withdraw(id, undefined, { ...marks, reference: 'other' }));
  expect(other).toMatchObject({ status: 409, body: { fields: [{ field: 'reference' }] } });
  const bad = await start(withdraw(newOrderId('api-marks'), undefined, { reference: 'a b', metadata: { 'k k': '' } }));
  expect(bad.status).toBe(422);
  expect(bad.body.fields.map(({ field }: { field: string }) => field)).toEqual(
    expect.arrayContaining(['reference', 'metadata.k k']),
  );
});
