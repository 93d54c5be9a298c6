import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SecretScanner } from '../../chaos/evidence/secrets.js';
import { PERSONAL_DATA } from '../../chaos/inputs.js';

const SECRETS = {
  apiKeys: ['the-key-of-the-run', 'the-other-key'],
  apiSecret: 'the-secret-of-the-run',
  tokenKey: 'the-token-key',
};
const scanner = new SecretScanner(SECRETS, ['order-1'], ['uuid-1']);
const CARD = PERSONAL_DATA[0] ?? '';
const bytes = (text: string) => new TextEncoder().encode(text);

const signed = (body: object) => createHmac('sha256', SECRETS.apiSecret).update(JSON.stringify(body)).digest('hex');

async function fileWith(content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'chaos-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'file'), content);
  return join(folder, 'file');
}

test.each([
  ['an API key', 'the-key-of-the-run'],
  ['an API key', 'the-other-key'],
  ['the API secret', SECRETS.apiSecret],
  ['CALLBACK_TOKEN_KEY', SECRETS.tokenKey],
  ['a signature', signed({ order_ids: ['order-1'] })],
  ['a signature', signed({ order_id: 'order-1' })],
  ['a signature', signed({ order_uuid: 'uuid-1' })],
  ['a signature', signed({})],
])('%s is found in a payload, in a log and in a database', async (what, secret) => {
  const history = { events: [{ attributes: { input: { payloads: [{ data: bytes(`{"x":"${secret}"}`) }] } } }] };
  expect(scanner.leaksOf('w', history)).toEqual([{ place: 'the history of w', what }]);
  const file = await fileWith(`\u0000binary ${secret} rest`);
  expect(await scanner.leaksOfFile(file, 'log')).toEqual([{ place: file, what }]);
  expect(await scanner.leaksOfFile(file, 'database')).toEqual([{ place: file, what }]);
});

test('other hashes of 64 hex digits are no signatures', () => {
  expect(scanner.secretsIn(createHmac('sha256', 'other').update('{}').digest('hex'))).toEqual([]);
});

test('a secret that lies across two pieces of a large file is found', async () => {
  const file = await fileWith(`${'.'.repeat(8 * 1024 * 1024 - 5)}the-key-of-the-run`);
  expect(await scanner.leaksOfFile(file, 'database')).toHaveLength(1);
});

test('personal data is a leak in logs, and none in the database, which holds the orders', async () => {
  const file = await fileWith(`payout to ${CARD}`);
  expect(await scanner.leaksOfFile(file, 'log')).toEqual([{ place: file, what: 'personal data' }]);
  expect(await scanner.leaksOfFile(file, 'database')).toEqual([]);
});

test.each([
  ['a search attribute', { attributes: { searchAttributes: { indexedFields: { Some: { data: bytes(CARD) } } } } }],
  ['a summary or the details', { userMetadata: { summary: { data: bytes(`withdraw to ${CARD}`) } } }],
  ['a failure message', { attributes: { failure: { message: `bad wallet ${CARD}` } } }],
  ['a failure message', { attributes: { failure: { cause: { stackTrace: `at ${CARD}` } } } }],
])('personal data in %s of a history is a leak', (place, event) => {
  expect(scanner.leaksOf('w', { events: [event] })).toEqual([{ place: `${place} of w`, what: 'personal data' }]);
});

test('personal data in a workflow id is a leak, in an input it is none', () => {
  expect(scanner.leaksOf(`order:default:${CARD}`, {})).toHaveLength(1);
  const input = { attributes: { input: { payloads: [{ data: bytes(`{"wallet":"${CARD}"}`) }] } } };
  expect(scanner.leaksOf('w', { events: [input] })).toEqual([]);
});
