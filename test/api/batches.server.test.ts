import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { newOrderId } from '../support/lab.js';
import { csvOf, executedOf, testRows, useBatchLab } from '../workflows/batch/batches.fixture.js';
import { apiKey, runApi } from './api.fixture.js';

const lab = useBatchLab({ workflowThread: false });
let api: Awaited<ReturnType<typeof runApi>>;
beforeAll(async () => {
  const keys = [
    apiKey('ann-key', { name: 'ann' }),
    apiKey('bob-key', { name: 'bob' }),
    apiKey('small', { maxAmount: { usd: '20' } }),
    apiKey('blind', { verbs: ['start'] }),
  ];
  api = await runApi(lab.orders, { keys });
});

const post = (path: string, body: unknown, key = 'ann-key') => api.call('POST', `/v1${path}`, body, key);
const get = (path: string, key = 'ann-key') => api.call('GET', `/v1${path}`, undefined, key);

async function fileOf(label: string, count = 2) {
  const rows = testRows(label, count);
  const path = `${newOrderId(label)}.csv`;
  await writeFile(join(lab.folder, path), csvOf(rows));
  return { rows, path };
}

test('a batch from a file is planned, started, approved by another key, and paid once', async () => {
  const { rows, path } = await fileOf('api-batch');
  const batchId = newOrderId('api-batch');
  const body = { batchId, file: { path }, approval: 'required' };
  const plan = await post('/batches:plan', body);
  expect(plan).toMatchObject({ status: 200, body: { rows: 2, currencies: [{ currency: 'usd', total: '25' }] } });
  expect(await post('/batches', { ...body, startedBy: 'bob' })).toMatchObject({
    status: 422,
    body: { fields: [{ field: 'startedBy' }] },
  });
  expect(await post('/batches', body)).toMatchObject({ status: 201, body: { batchId, attached: false } });
  expect(await post('/batches', body)).toMatchObject({ status: 200, body: { attached: true } });
  const other = await post('/batches', { ...body, compensation: 'finish' });
  expect(other).toMatchObject({ status: 409, body: { code: 'conflict', fields: [{ field: 'compensation' }] } });
  const state = () => get(`/batches/${batchId}`);
  await expect.poll(state, { timeout: 60_000 }).toMatchObject({ body: { state: { phase: 'awaitingApproval' } } });
  const { digest } = (await state()).body.state.plan;
  expect(await post(`/batches/${batchId}/approve`, { digest })).toMatchObject({
    status: 409,
    body: { code: 'refused' },
  });
  expect(await post(`/batches/${batchId}/approve`, { digest }, 'small')).toMatchObject({ status: 403 });
  expect(await post(`/batches/${batchId}/approve`, { digest }, 'bob-key')).toMatchObject({ status: 200 });
  await expect.poll(state, { timeout: 120_000 }).toMatchObject({ body: { state: { phase: 'done' } } });
  expect((await state()).body.state).toMatchObject({ startedBy: 'ann', approvedBy: 'bob' });
  expect(executedOf(lab, rows)).toBe(2);
  expect(await post(`/batches/${batchId}/stop`, { reason: 'too late' })).toMatchObject({ status: 409 });
});

test('a key that may not read gets no balance: not in a plan, a check, nor the state after an instruction', async () => {
  const { path } = await fileOf('api-blind');
  const batchId = newOrderId('api-blind');
  const body = { batchId, file: { path }, approval: 'required' };
  const order = { order_id: newOrderId('api-blind'), currency: 'usd', network: 'card', amount: '999999999' };
  const check = { order_type: 'withdraw', order: { ...order, wallet: '4111111111111111' } };
  const balances = /"balance(Before|After)":"|"shortfall"|[0-9] usd (are missing|is less than)/;
  const texts = async (key: string) => {
    const [plan, checked] = [await post('/batches:plan', body, key), await post('/orders:check', check, key)];
    expect([plan.status, checked.status]).toEqual([200, 200]);
    return [JSON.stringify(plan.body), JSON.stringify(checked.body)];
  };
  for (const text of await texts('ann-key')) expect(text).toMatch(balances);
  for (const text of await texts('blind')) {
    expect(text).not.toMatch(balances);
    expect(text).toContain('"balanceBefore":null');
  }
  expect(await post('/batches', body, 'blind')).toMatchObject({ status: 201 });
  const phase = async () => (await get(`/batches/${batchId}`)).body.state.phase;
  await expect.poll(phase, { timeout: 60_000 }).toBe('awaitingApproval');
  const stopped = await post(`/batches/${batchId}/stop`, { reason: 'enough' }, 'blind');
  expect(stopped.body.state.plan.currencies).toMatchObject([{ total: '25', balanceBefore: null }]);
});

test('a batch is paused, resumed and stopped in the name of the key', async () => {
  const { path } = await fileOf('api-paused', 3);
  const batchId = newOrderId('api-paused');
  await post('/batches', { batchId, file: { path }, approval: 'required' });
  const halt = (verb: string, body: object = { reason: 'asking' }) => post(`/batches/${batchId}/${verb}`, body);
  expect(await halt('pause', {})).toMatchObject({ status: 422, body: { fields: [{ field: 'reason' }] } });
  expect(await halt('pause')).toMatchObject({
    status: 200,
    body: { state: { paused: { by: 'ann', reason: 'asking' } } },
  });
  const resumed = await halt('resume');
  expect(resumed.status).toBe(200);
  expect(resumed.body.state).not.toHaveProperty('paused');
  expect(await halt('stop')).toMatchObject({ status: 200, body: { state: { stopped: { by: 'ann' } } } });
  const unknown = { status: 404, body: { code: 'unknown' } };
  for (const key of ['ann-key', 'small']) {
    expect(await get('/batches/never-seen', key)).toMatchObject(unknown);
    expect(await get('/batches/never-seen/rows', key)).toMatchObject(unknown);
    for (const verb of ['approve', 'pause', 'resume', 'stop']) {
      const body = verb === 'approve' ? { digest: 'ab'.repeat(32) } : { reason: 'asking' };
      expect(await post(`/batches/never-seen/${verb}`, body, key)).toMatchObject(unknown);
    }
  }
});

test('inline rows are named by their paths, and a key with a limit is held to their sum', async () => {
  const wallets = ['4111111111111111', '5555555555554444'];
  const rows = wallets.map((wallet) => ({
    ...{ order_id: newOrderId('api-row'), currency: 'usd', network: 'card', amount: '12.50', wallet },
  }));
  const bad = await post('/batches', { batchId: newOrderId('bad'), rows: [rows[0], { ...rows[1], amount: 12.5 }] });
  expect(bad).toMatchObject({ status: 422, body: { fields: [{ field: 'rows[1].amount' }] } });
  const batchId = newOrderId('api-rows');
  expect(await post('/batches', { batchId, rows }, 'small')).toMatchObject({
    status: 403,
    body: { code: 'forbidden' },
  });
  expect(await get(`/batches/${batchId}`)).toMatchObject({ status: 404 });
  expect(await post('/batches', { batchId, rows: rows.slice(0, 1) }, 'small')).toMatchObject({ status: 201 });
});

test('rates, balances and permanent addresses are those of the service', async () => {
  const rates = await get('/rates?order_type=withdraw');
  expect(rates.status).toBe(200);
  expect(Object.keys(rates.body)).toEqual(['withdraw']);
  expect(await get('/balances')).toMatchObject({ status: 200, body: { usd: expect.anything() } });
  const ref = newOrderId('api-ref');
  const body = { ref, address: { currency: 'usdt', network: 'tron' } };
  const made = await post('/addresses', body);
  expect(made).toMatchObject({ status: 200, body: { address: { currency: 'usdt', address: expect.any(String) } } });
  expect(await post('/addresses', body)).toMatchObject({ status: 200, body: { address: made.body.address } });
  expect(await post('/addresses', { ...body, address: { currency: 'btc', network: 'bitcoin' } })).toMatchObject({
    status: 422,
    body: { fields: [{ field: 'ref' }] },
  });
  const listed = await get('/addresses?currency=usdt&limit=10');
  expect(listed.body.addresses).toContainEqual(expect.objectContaining({ address: made.body.address.address }));
});

test('a batch that failed says so, and why, in its state', async () => {
  const missing = newOrderId('api-missing');
  const file = { path: 'nowhere.csv', sha256: '0'.repeat(64) };
  expect(await post('/batches', { batchId: missing, file })).toMatchObject({ status: 201 });
  await lab.orders.batches
    .handle(missing)
    .result()
    .catch(() => undefined);
  const { state } = (await get(`/batches/${missing}`)).body;
  expect(state).toMatchObject({
    phase: 'failed',
    failure: { code: 'BatchFileUnusable', detail: expect.stringContaining('no such file below BATCH_DIR') },
    choices: [],
  });
  expect(state.progress).not.toHaveProperty('outcomes');

  const { path } = await fileOf('api-ended');
  const ended = newOrderId('api-ended');
  await post('/batches', { batchId: ended, file: { path }, approval: 'required' });
  const phase = async () => (await get(`/batches/${ended}`)).body.state?.phase;
  await expect.poll(phase, { timeout: 60_000 }).toBe('awaitingApproval');
  await lab.temporal.client.workflow.getHandle(`bulk:default:${ended}`).terminate('by the test');
  expect((await get(`/batches/${ended}`)).body.state).toMatchObject({
    phase: 'failed',
    failure: { code: 'BatchUnresolved', detail: expect.stringContaining('never pay them in another way') },
  });
});

test('a start with planOnly is refused, and its id stays free', async () => {
  const { path } = await fileOf('api-plan-only');
  const body = { batchId: newOrderId('api-plan-only'), file: { path } };
  for (const route of ['/batches', '/batches:plan']) {
    expect(await post(route, { ...body, planOnly: true })).toMatchObject({
      status: 422,
      body: { fields: [{ field: 'planOnly', reason: expect.stringContaining('/v1/batches:plan') }] },
    });
  }
  expect(await post('/batches', body)).toMatchObject({ status: 201, body: { attached: false } });
});
