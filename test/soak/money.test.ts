import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Books } from '../../soak/books.js';
import { EventReceiver } from '../../soak/event-receiver.js';
import { eventHeaders, eventKeyOf } from '../../src/contract/event-signature.js';
import { newFolder } from '../support/batch-files.js';

const folder = newFolder(afterAll);
let book: object[] = [];
let status = 200;
const asked: string[] = [];
const api = createServer((request, response) => {
  asked.push(request.url ?? '');
  response.statusCode = status;
  response.end(book.map((line) => `${JSON.stringify(line)}\n`).join(''));
});
const apiUrl = () => `http://127.0.0.1:${(api.address() as { port: number }).port}`;

beforeAll(() => new Promise<void>((listening) => void api.listen(0, '127.0.0.1', listening)));
afterAll(() => void api.close());

const sum = (total: string, difference = '0') => ({ kind: 'sum', currency: 'btc', total, difference });
const END = { kind: 'end' };

test('books follow each other without a gap, and their sums must make the ledger to the last digit', async () => {
  const books = new Books(apiUrl(), join(folder, 'books'), { btc: '1' });
  book = [sum('-0.25'), END];
  await books.export();
  book = [sum('0.00000001'), END];
  await books.close({ btc: '0.75000001' });
  expect(books.findings).toEqual([]);
  const [first, last] = asked.map((url) => new URL(url, apiUrl()).searchParams);
  expect(last?.get('from')).toBe(first?.get('to'));
  expect(last?.has('to')).toBe(false);
  expect(await readdir(join(folder, 'books'))).toEqual(['book-1.ndjson', 'book-2.ndjson']);
});

test('a book that the API refuses is a finding, and the next one has its time', async () => {
  const books = new Books(apiUrl(), join(folder, 'refused'), { btc: '1' });
  status = 503;
  await books.export();
  status = 200;
  book = [sum('-0.25'), END];
  await books.close({ btc: '0.75' });
  expect(books.findings.map(({ text }) => text)).toEqual([expect.stringMatching(/^no book from /)]);
  const [refused, next] = asked.slice(-2).map((url) => new URL(url, apiUrl()).searchParams.get('from'));
  expect(next).toBe(refused);
});

test('a digit too much, a missing order, a difference and a cut book are findings', async () => {
  const books = new Books(apiUrl(), join(folder, 'other'), { btc: '1' });
  book = [{ kind: 'missing', order_id: 'a', reason: 'is not shown' }, sum('-0.25', '0.1')];
  await books.close({ btc: '0.75000001' });
  expect(books.findings.map(({ text }) => text.replace(/\d{4}-.*? on/, '… on'))).toEqual([
    'the book from … on: a is not shown',
    'the book from … on is off by 0.1 btc',
    'the book from … on has no end',
    'btc: the ledger is off by 0.00000001 against the books',
  ]);
});

test('the receiver of events counts ends, and names forged events and gaps', async () => {
  const receiver = await EventReceiver.open();
  const [{ url }] = JSON.parse(receiver.file);
  const post = async (id: string, data: object, secret = receiver.secret) => {
    const body = Buffer.from(JSON.stringify({ type: 'order.ended', data }));
    const headers = eventHeaders(id, body, [eventKeyOf(secret) ?? Buffer.alloc(0)], Date.now());
    return (await fetch(url, { method: 'POST', body, headers })).status;
  };
  try {
    expect(await post('run-1.1', { order_id: 'a' })).toBe(204);
    expect(await post('run-1.1', { order_id: 'a' })).toBe(204);
    expect(receiver.problems).toEqual([]);
    expect(await post('run-1.3', { order_id: 'b' })).toBe(204);
    expect(await post('run-1.4', { order_id: 'c' }, `whsec_${Buffer.alloc(32, 7).toString('base64')}`)).toBe(400);
    expect([...receiver.ended]).toEqual(['a', 'b']);
    expect(receiver.problems).toEqual([
      'event 3 of run run-1 came after 1',
      'no signature fits a secret and this body',
    ]);
  } finally {
    await receiver.stop();
  }
});
