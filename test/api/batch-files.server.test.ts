import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { storePart } from '../../src/batch-files/upload.js';
import { PART_BYTES } from '../../src/contract/batch/files.js';
import { cardNumber } from '../support/batch-files.js';
import { newOrderId } from '../support/lab.js';
import { csvOf, executedOf, testRows, useBatchLab } from '../workflows/batch/batches.fixture.js';
import { apiKey, runApi } from './api.fixture.js';

const lab = useBatchLab({ workflowThread: false });
let api: Awaited<ReturnType<typeof runApi>>;
beforeAll(async () => {
  const keys = [
    apiKey('ann-key', { name: 'ann' }),
    apiKey('eu-key', { accounts: ['eu'] }),
    apiKey('default-key', { accounts: ['default'] }),
    apiKey('reader', { verbs: ['read'] }),
  ];
  api = await runApi(lab.orders, { keys });
});

const get = (path: string, key = 'ann-key') => api.call('GET', `/v1/batches/${path}`, undefined, key);

interface Part {
  sha256: string;
  part: number;
  parts: number;
  key?: string;
  type?: string;
  query?: string;
}

async function put(bytes: Buffer, { sha256, part, parts, key = 'ann-key', type = 'text/csv', query = '' }: Part) {
  const response = await fetch(`${api.url}/v1/batch-files/${sha256}/${part}?parts=${parts}${query}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': type },
    body: new Uint8Array(bytes),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const withLog = () => api.lines.join('\n');

test('a CSV file is uploaded in parts, started, listed, and its report is that of the worker', async () => {
  const rows = testRows('api-file', 2);
  const bytes = Buffer.from(csvOf(rows));
  const [sha256, half] = [hash('sha256', bytes), Math.floor(bytes.length / 2)];
  const about = { sha256, parts: 2 };
  const second = await put(bytes.subarray(half), { ...about, part: 2 });
  expect(second).toEqual({ status: 200, body: { missing: [1] } });
  const file = { path: `uploads/default/${sha256}.csv`, sha256 };
  expect(await put(bytes.subarray(0, half), { ...about, part: 1 })).toEqual({
    status: 200,
    body: { missing: [], file },
  });
  expect(await put(bytes.subarray(0, half), { ...about, part: 1 })).toEqual({
    status: 200,
    body: { missing: [], file },
  });
  const batchId = newOrderId('api-file');
  const started = await api.call('POST', '/v1/batches', { batchId, file }, 'ann-key');
  expect(started).toMatchObject({ status: 201 });
  expect(started.headers.get('location')).toBe(`/v1/batches/${batchId}`);
  const early = await get(`${batchId}/report`);
  if (early.status !== 200) expect(early).toMatchObject({ status: 503, body: { code: 'notDecidedYet' } });
  const result = await lab.orders.batches.handle(batchId).result();
  expect(executedOf(lab, rows)).toBe(2);
  const report = await get(`${batchId}/report`, 'reader');
  expect(report).toMatchObject({
    status: 200,
    body: await readFile(join(lab.folder, result.report?.path ?? ''), 'utf8'),
  });
  expect(report.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(await get(`${batchId}/rejected`)).toMatchObject({ status: 404, body: { code: 'unknown' } });
  // Rejected rows hold wallets.
  expect(await get(`${batchId}/rejected`, 'reader')).toMatchObject({ status: 403 });
  const states = async () => (await get(`${batchId}/rows?limit=1`)).body;
  await expect.poll(states, { timeout: 60_000 }).toMatchObject({
    rows: [{ row: 1, orderId: rows[0]?.id, state: 'completed' }],
    cursor: '1',
  });
  const last = await get(`${batchId}/rows?limit=1&cursor=1`);
  expect(last.body).toMatchObject({ rows: [{ row: 2, orderId: rows[1]?.id }] });
  expect(last.body).not.toHaveProperty('cursor');
  expect(withLog()).not.toContain(cardNumber(1));
});

test('a report, and rows, whose file was removed or replaced are 404, and say what that means', async () => {
  const rows = testRows('api-gone', 1);
  const bytes = Buffer.from(csvOf(rows));
  const { body } = await put(bytes, { sha256: hash('sha256', bytes), part: 1, parts: 1 });
  const file = body.file as { path: string };
  const batchId = newOrderId('api-gone');
  await api.call('POST', '/v1/batches', { batchId, file }, 'ann-key');
  const { report } = await lab.orders.batches.handle(batchId).result();
  const gone = {
    status: 404,
    body: { code: 'BatchFileUnusable', detail: expect.stringContaining('orders are as they were') },
  };
  await writeFile(join(lab.folder, report?.path ?? ''), 'another');
  expect(await get(`${batchId}/report`)).toMatchObject(gone);
  await rm(join(lab.folder, report?.path ?? ''));
  expect(await get(`${batchId}/report`)).toMatchObject(gone);
  expect(await get(`${batchId}/rows`)).toMatchObject({ status: 200 });
  await rm(join(lab.folder, file.path));
  expect(await get(`${batchId}/rows`)).toMatchObject(gone);
});

test('a batch that ended without sending has no report, and nobody has one of an unknown batch', async () => {
  const batchId = newOrderId('api-failed');
  const file = { path: 'never-there.csv', sha256: 'ab'.repeat(32) };
  await api.call('POST', '/v1/batches', { batchId, file }, 'ann-key');
  await expect(lab.orders.batches.handle(batchId).result()).rejects.toMatchObject({ type: 'BatchFileUnusable' });
  for (const path of ['report', 'rejected']) {
    const none = { code: 'unknown', detail: expect.stringContaining('ended as BatchFileUnusable') };
    expect(await get(`${batchId}/${path}`)).toMatchObject({ status: 404, body: none });
    expect(await get(`never-seen/${path}`)).toMatchObject({ status: 404, body: { code: 'unknown' } });
  }
});

test('rows of a stopped batch come back as they were sent', async () => {
  const rows = testRows('api-rejected', 3, (row) => (row === 1 ? 'after_ms=3000' : ''));
  const bytes = Buffer.from(csvOf(rows));
  const sha256 = hash('sha256', bytes);
  const { body } = await put(bytes, { sha256, part: 1, parts: 1 });
  const batchId = newOrderId('api-rejected');
  await api.call('POST', '/v1/batches', { batchId, file: body.file, maxInFlight: 1 }, 'ann-key');
  const batch = lab.orders.batches.handle(batchId);
  await expect.poll(async () => (await batch.state()).progress.started, { timeout: 60_000 }).toBeGreaterThan(0);
  await api.call('POST', `/v1/batches/${batchId}/stop`, { reason: 'enough' }, 'ann-key');
  await batch.result();
  const rejected = await get(`${batchId}/rejected`);
  expect(rejected).toMatchObject({ status: 200, body: expect.stringContaining(cardNumber(3)) });
  expect(rejected.body.split('\n')[0]).toBe(csvOf([]).split('\n')[0]);
});

test('wrong parts are refused, each by its field', async () => {
  const bytes = Buffer.from(csvOf(testRows('api-wrong', 1)));
  const sha256 = hash('sha256', bytes);
  const about = { sha256, part: 1, parts: 1 };
  const wrong = await put(Buffer.from('other bytes'), about);
  expect(wrong).toMatchObject({ status: 422, body: { fields: [{ field: 'sha256' }] } });
  expect(await put(bytes, { ...about, part: 3, parts: 2 })).toMatchObject({
    status: 422,
    body: { fields: [{ field: 'part' }] },
  });
  expect(await put(Buffer.of(), about)).toMatchObject({ status: 422, body: { fields: [{ field: 'part' }] } });
  expect(await put(bytes, { ...about, sha256: 'ABC' })).toMatchObject({ status: 422 });
  expect(await put(bytes, { ...about, parts: 33 })).toMatchObject({ status: 422 });
  expect(await put(bytes, { ...about, type: 'application/json' })).toMatchObject({ status: 415 });
  expect(await put(Buffer.alloc(PART_BYTES + 1), about)).toMatchObject({ status: 413 });
  expect(await put(bytes, about)).toMatchObject({ status: 200, body: { missing: [] } });
});

test('a key uploads only for its accounts', async () => {
  const bytes = Buffer.from(csvOf(testRows('api-account', 1)));
  const about = { sha256: hash('sha256', bytes), part: 1, parts: 1, key: 'eu-key' };
  expect(await put(bytes, about)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  expect(await put(bytes, { ...about, query: '&account=default' })).toMatchObject({ status: 403 });
  expect(await put(bytes, { ...about, key: 'reader' })).toMatchObject({ status: 403 });
  expect(await put(bytes, { ...about, key: 'nobody' })).toMatchObject({ status: 401 });
  expect(await readdir(join(lab.folder, 'uploads', 'default'))).not.toContain(`${about.sha256}.csv`);
});

test('a file that another account uploaded is refused to every reader, and its own account may plan it', async () => {
  const bytes = Buffer.from(csvOf(testRows('api-other-upload', 1)));
  const about = { sha256: hash('sha256', bytes), part: 1, parts: 1 };
  // No worker of this lab serves eu.
  const ofEu = { account: 'eu', sha256: about.sha256, format: 'csv', parts: 1 } as const;
  const { file } = await storePart(lab.folder, ofEu, { part: 1, bytes });
  expect(file).toEqual({ path: `uploads/eu/${about.sha256}.csv`, sha256: about.sha256 });
  const batchId = newOrderId('api-other-upload');
  const bad = { code: 'InvalidInput', fields: [{ field: 'file.path' }] };
  const post = (path: string, given: object) => api.call('POST', `/v1${path}`, given, 'ann-key');
  expect(await post('/batches:plan', { file })).toMatchObject({ status: 422, body: bad });
  // A pinned file is not planned before the start.
  expect(await post('/batches', { batchId, file })).toMatchObject({ status: 201 });
  await expect(lab.orders.batches.handle(batchId).result()).rejects.toMatchObject({ type: 'InvalidInput' });
  expect(await get(`${batchId}/rows`)).toMatchObject({ status: 422, body: { fields: [{ field: 'file.path' }] } });
  const own = await put(bytes, about);
  expect(await post('/batches:plan', { file: own.body.file })).toMatchObject({ status: 200, body: { rows: 1 } });
});

test('a key for some accounts names only files that were uploaded for the account of the batch', async () => {
  const bytes = Buffer.from(csvOf(testRows('api-own-file', 1)));
  const about = { sha256: hash('sha256', bytes), part: 1, parts: 1 };
  const theirs = `uploads/eu/${about.sha256}.csv`;
  await mkdir(join(lab.folder, 'uploads', 'eu'), { recursive: true });
  await writeFile(join(lab.folder, theirs), bytes);
  await writeFile(join(lab.folder, 'payroll.csv'), bytes);
  const plan = (path: string, key = 'default-key') => api.call('POST', '/v1/batches:plan', { file: { path } }, key);
  expect(await plan(`uploads/default/../eu/${about.sha256}.csv`)).toMatchObject({ status: 422 });
  for (const path of [theirs, 'payroll.csv', 'uploads/default/payroll.csv']) {
    const expected = {
      status: 422,
      body: {
        code: 'invalidInput',
        fields: [{ field: 'file.path', reason: expect.stringContaining('PUT /v1/batch-files/{sha256}/{part}') }],
      },
    };
    expect(await plan(path)).toMatchObject(expected);
    const batchId = newOrderId('api-own-file');
    expect(await api.call('POST', '/v1/batches', { batchId, file: { path } }, 'default-key')).toMatchObject(expected);
    expect(await get(batchId)).toMatchObject({ status: 404 });
  }
  expect(await plan('payroll.csv', 'ann-key')).toMatchObject({ status: 200 });
  const { body } = await put(bytes, { ...about, key: 'default-key' });
  expect(await plan((body.file as { path: string }).path)).toMatchObject({ status: 200, body: { rows: 1 } });
});

test('a body beyond 128 KiB is refused by the name of the route for files; a smaller one is uploaded', async () => {
  const rowsOf = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      ...{ order_id: newOrderId('api-many'), currency: 'usd', network: 'card', amount: '12.50' },
      wallet: cardNumber(index + 1),
    }));
  const start = (count: number) => ({ batchId: newOrderId('api-many'), approval: 'required', rows: rowsOf(count) });
  expect(await api.call('POST', '/v1/batches', start(1_500), 'ann-key')).toMatchObject({
    status: 413,
    body: { detail: expect.stringContaining('PUT /v1/batch-files/{sha256}/{part}') },
  });
  const input = start(300);
  expect(await api.call('POST', '/v1/batches', input, 'ann-key')).toMatchObject({ status: 201 });
  expect(await api.call('POST', '/v1/batches', input, 'ann-key')).toMatchObject({ status: 200 });
  const bad = { ...start(300), rows: rowsOf(300).map((row, at) => (at === 250 ? { ...row, amount: 12.5 } : row)) };
  expect(await api.call('POST', '/v1/batches', bad, 'ann-key')).toMatchObject({
    status: 422,
    body: { fields: [{ field: 'rows[250].amount' }] },
  });
});
